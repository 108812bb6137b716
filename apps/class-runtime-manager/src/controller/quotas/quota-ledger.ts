import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { equalJson, type Violation } from "@oaas/foundation";
import {
  addDemand,
  checkQuotas,
  fitsQuota,
  isWithin,
  limitsOf,
  NO_DEMAND,
  subtractDemand,
  type Demand,
  type Limits,
} from "../../templates/index.ts";

/** The quota request of one class. */
export interface Claim {
  /** Unique among all classes. */
  readonly id: string;
  /** Sort key: the lowest is admitted first. */
  readonly order: string;
  readonly requested: Demand;
}

/** An environment: its key in the ledger, its display name and its quotas. */
export interface Account {
  readonly key: string;
  readonly name: string;
  readonly quotas: EnvironmentConfigSpec["quotas"];
}

/** Looks up classes that have not claimed quota yet. */
export interface ClassSource {
  /** The classes of an environment. */
  classesOf(account: string): Iterable<Pick<Claim, "id" | "order">>;
  /** The resources that a class uses in the cluster. */
  usageOf(id: string): Demand;
  /** Renders the claim of a class; undefined when it cannot be rendered. */
  renderClaim(id: string): { readonly account: Account; readonly claim: Claim } | undefined;
}

interface Entry extends Omit<Claim, "requested"> {
  requested: Demand;
  granted: Demand;
}

/** Receives decisions that are made without a call. */
export interface LedgerObserver {
  /** Waiting classes were admitted because quota became free. */
  admitted(ids: readonly string[]): void;
  /** The usage of an environment changed. */
  changed?(account: string): void;
}

interface AccountBook {
  readonly key: string;
  readonly entries: Map<string, Entry>;
  /** Classes whose claim exceeded a quota. */
  readonly waiting: Map<string, Entry>;
  /**
   * New classes without a claim, in their order. Classes that claimed meanwhile are skipped when they reach the front.
   */
  readonly pending: Pick<Claim, "id" | "order">[];
  quotas: Account["quotas"];
  limits: Limits;
  /** The sum of all grants. */
  usage: Demand;
}

/**
 * Tracks how much of the quotas of each environment every class uses.
 *
 * Guarantees: a grant is never revoked, neither by a new class nor by a lower quota; claims are decided in the order of
 * the classes, not in the order of the calls; when quota becomes free, all waiting classes that fit are admitted in
 * their order and the observer is notified. The cost of a claim does not depend on the number of classes; freeing quota
 * visits the waiting classes.
 */
export class QuotaLedger {
  readonly #books = new Map<string, AccountBook>();
  readonly #bookOf = new Map<string, AccountBook>();
  readonly #classes: ClassSource;
  readonly #observer: LedgerObserver;

  constructor(classes: ClassSource, observer: LedgerObserver) {
    this.#classes = classes;
    this.#observer = observer;
  }

  /** Registers a new class, so that no later class is admitted before it. */
  registerPending({ id, order }: Pick<Claim, "id" | "order">, account: string): void {
    const pending = this.#books.get(account)?.pending;
    if (pending === undefined || this.#bookOf.has(id)) return;
    const index = pending.findLastIndex((one) => one.order <= order);
    pending.splice(index + 1, 0, { id, order });
  }

  /** Grants the claim, or returns the quotas it would exceed. */
  admit(account: Account, claim: Claim): readonly Violation[] {
    const book = this.#open(account);
    this.#admitPendingBefore(book, claim);
    return this.#decide(book, account, claim);
  }

  /** Returns the quotas that a claim would exceed, without granting it. */
  check(account: Account, { id, requested }: Pick<Claim, "id" | "requested">): readonly Violation[] {
    const book = this.#open(account);
    this.#admitPendingBefore(book, undefined);
    const granted = book.entries.get(id)?.granted ?? NO_DEMAND;
    return checkQuotas(account.name, account.quotas, { used: book.usage, held: granted, requested });
  }

  /** Removes a class that was deleted or left its environment. */
  release(id: string): void {
    const book = this.#bookOf.get(id);
    const entry = book?.entries.get(id);
    if (book === undefined || entry === undefined) return;
    this.#bookOf.delete(id);
    book.entries.delete(id);
    book.waiting.delete(id);
    this.#setUsage(book, subtractDemand(book.usage, entry.granted));
    this.#admitWaiting(book);
  }

  /** Clears the ledger. The next call reads the cluster again. */
  clear(): void {
    this.#books.clear();
    this.#bookOf.clear();
  }

  /** The total usage of an environment; undefined before the first claim. */
  usage(account: string): Demand | undefined {
    return this.#books.get(account)?.usage;
  }

  /**
   * Returns the book of an environment. A new book starts with the classes that already use resources; the others are
   * pending.
   */
  #open({ key, quotas }: Account): AccountBook {
    const existing = this.#books.get(key);
    if (existing !== undefined) {
      if (!equalJson(existing.quotas, quotas)) {
        existing.quotas = quotas;
        existing.limits = limitsOf(quotas);
        this.#admitWaiting(existing);
      }
      return existing;
    }
    const limits = limitsOf(quotas);
    const book: AccountBook = {
      key,
      entries: new Map(),
      waiting: new Map(),
      pending: [],
      quotas,
      limits,
      usage: NO_DEMAND,
    };
    this.#books.set(key, book);
    for (const { id, order } of this.#classes.classesOf(key)) {
      if (this.#bookOf.has(id)) continue;
      const used = this.#classes.usageOf(id);
      if (used.classes > 0) this.#addEntry(book, { id, order, requested: used }, used);
      else book.pending.push({ id, order });
    }
    book.pending.sort(byOrder);
    return book;
  }

  #admitPendingBefore(book: AccountBook, claim: Claim | undefined): void {
    const { pending } = book;
    for (let first = pending[0]; first; first = pending[0]) {
      if (claim !== undefined && byOrder(first, claim) >= 0) return;
      pending.shift();
      const rendered = this.#bookOf.has(first.id) ? undefined : this.#classes.renderClaim(first.id);
      if (rendered !== undefined) this.#decide(this.#open(rendered.account), rendered.account, rendered.claim);
    }
  }

  #decide(book: AccountBook, { name, quotas }: Account, claim: Claim): readonly Violation[] {
    const entry = book.entries.get(claim.id) ?? this.#addEntry(book, claim, this.#currentUsage(claim.id));
    entry.requested = claim.requested;
    const exceeded = checkQuotas(name, quotas, { used: book.usage, held: entry.granted, requested: entry.requested });
    if (exceeded.length > 0) {
      book.waiting.set(entry.id, entry);
      return exceeded;
    }
    const freesQuota = !isWithin(entry.granted, entry.requested);
    this.#grant(book, entry);
    if (freesQuota) this.#admitWaiting(book);
    return [];
  }

  /** The usage of a class that moves here from another environment, or is new. */
  #currentUsage(id: string): Demand {
    const granted = this.#bookOf.get(id)?.entries.get(id)?.granted;
    if (granted !== undefined) this.release(id);
    return granted ?? this.#classes.usageOf(id);
  }

  #addEntry(book: AccountBook, { id, order, requested }: Claim, granted: Demand): Entry {
    const entry = { id, order, requested, granted };
    this.#bookOf.set(id, book);
    book.entries.set(id, entry);
    this.#setUsage(book, addDemand(book.usage, granted));
    return entry;
  }

  #admitWaiting(book: AccountBook): void {
    const admitted: string[] = [];
    for (const entry of [...book.waiting.values()].sort(byOrder)) {
      if (!fitsQuota(book.limits, { used: book.usage, held: entry.granted, requested: entry.requested })) continue;
      this.#grant(book, entry);
      admitted.push(entry.id);
    }
    if (admitted.length > 0) this.#observer.admitted(admitted);
  }

  #grant(book: AccountBook, entry: Entry): void {
    this.#setUsage(book, addDemand(subtractDemand(book.usage, entry.granted), entry.requested));
    entry.granted = entry.requested;
    book.waiting.delete(entry.id);
  }

  #setUsage(book: AccountBook, usage: Demand): void {
    const isSame = isWithin(usage, book.usage) && isWithin(book.usage, usage);
    book.usage = usage;
    if (!isSame) this.#observer.changed?.(book.key);
  }
}

function byOrder(a: Pick<Claim, "order">, b: Pick<Claim, "order">): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0;
}
