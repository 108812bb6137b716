import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { equalJson, type Violation } from "@oaas/foundation";
import {
  addDemand,
  checkQuotas,
  hasRoom,
  isWithin,
  limitsOf,
  NO_DEMAND,
  subtractDemand,
  type Demand,
  type Limits,
} from "../../templates/index.ts";

/** One class as it speaks to the ledger. */
export interface Claim {
  /** Differs between all classes. */
  readonly id: string;
  /** Whose turn it is: the lower text goes first. */
  readonly order: string;
  readonly asked: Demand;
}

/** An environment: its key in the ledger, its name for people, its limits. */
export interface Account {
  readonly key: string;
  readonly name: string;
  readonly quotas: EnvironmentConfigSpec["quotas"];
}

/** What the ledger looks up about classes that have not spoken yet. */
export interface ClassWorld {
  /** Those that belong to an environment. */
  classesOf(account: string): Iterable<Pick<Claim, "id" | "order">>;
  /** What a class has in the cluster. */
  heldBy(id: string): Demand;
  /** Makes a class speak; undefined when it cannot be understood. */
  hear(id: string): { readonly account: Account; readonly claim: Claim } | undefined;
}

interface Entry extends Omit<Claim, "asked"> {
  asked: Demand;
  held: Demand;
}

/** Told of what the ledger decides by itself. */
export interface LedgerObserver {
  /** These waited, and were let in now that there is room. */
  admitted(ids: readonly string[]): void;
  /** The classes of an environment hold more or less than before. */
  changed?(account: string): void;
}

interface Book {
  readonly key: string;
  readonly entries: Map<string, Entry>;
  /** Those whose demand did not fit. */
  readonly waiting: Map<string, Entry>;
  /** Newcomers that have not spoken yet, in the order of their turns; those that have are taken out when they come to the front. */
  readonly unheard: Pick<Claim, "id" | "order">[];
  quotas: Account["quotas"];
  limits: Limits;
  /** The sum of what all hold. */
  taken: Demand;
}

/**
 * Who holds how much of each environment's quotas.
 *
 * *Guarantees*: what a class holds is never taken from it, by a newcomer or by a lowered quota; of those that ask for more, the one whose turn is
 * earlier is asked first, whoever comes to the ledger first; when room is made, all that fit then are let in, in their order, and the observer
 * is told. A claim costs the same with many classes as with few; making room costs a look at those that wait.
 */
export class QuotaLedger {
  readonly #books = new Map<string, Book>();
  readonly #bookOf = new Map<string, Book>();
  readonly #world: ClassWorld;
  readonly #observer: LedgerObserver;

  constructor(world: ClassWorld, observer: LedgerObserver) {
    this.#world = world;
    this.#observer = observer;
  }

  /** Notes that a class has come to be, so that nobody whose turn is later goes before it. */
  expect({ id, order }: Pick<Claim, "id" | "order">, account: string): void {
    const unheard = this.#books.get(account)?.unheard;
    if (unheard === undefined || this.#bookOf.has(id)) return;
    const place = unheard.findLastIndex((one) => one.order <= order);
    unheard.splice(place + 1, 0, { id, order });
  }

  /** Lets the class in, or says what its demand would break. One that is let in holds what it asked for. */
  settle(account: Account, claim: Claim): readonly Violation[] {
    const book = this.#open(account);
    this.#hearBefore(book, claim);
    return this.#settle(book, account, claim);
  }

  /** What `settle` would say to it, or to a newcomer, without noting anything. */
  check(account: Account, { id, asked }: Pick<Claim, "id" | "asked">): readonly Violation[] {
    const book = this.#open(account);
    this.#hearBefore(book, undefined);
    const held = book.entries.get(id)?.held ?? NO_DEMAND;
    return checkQuotas(account.name, account.quotas, { taken: book.taken, held, asked });
  }

  /** Forgets a class that is gone, or belongs to no environment any more. */
  release(id: string): void {
    const book = this.#bookOf.get(id);
    const entry = book?.entries.get(id);
    if (book === undefined || entry === undefined) return;
    this.#bookOf.delete(id);
    book.entries.delete(id);
    book.waiting.delete(id);
    this.#take(book, subtractDemand(book.taken, entry.held));
    this.#admitWaiting(book);
  }

  /** Forgets everything: the next question looks at the cluster anew. */
  clear(): void {
    this.#books.clear();
    this.#bookOf.clear();
  }

  /** What the classes of an environment hold; undefined before anyone has asked for it. */
  taken(account: string): Demand | undefined {
    return this.#books.get(account)?.taken;
  }

  /** The book of an environment. A new one begins with those that live there already, and knows of the others. */
  #open({ key, quotas }: Account): Book {
    const present = this.#books.get(key);
    if (present !== undefined) {
      if (!equalJson(present.quotas, quotas)) {
        present.quotas = quotas;
        present.limits = limitsOf(quotas);
        this.#admitWaiting(present);
      }
      return present;
    }
    const limits = limitsOf(quotas);
    const book: Book = { key, entries: new Map(), waiting: new Map(), unheard: [], quotas, limits, taken: NO_DEMAND };
    this.#books.set(key, book);
    for (const { id, order } of this.#world.classesOf(key)) {
      if (this.#bookOf.has(id)) continue;
      const held = this.#world.heldBy(id);
      if (held.classes > 0) this.#enter(book, { id, order, asked: held }, held);
      else book.unheard.push({ id, order });
    }
    book.unheard.sort(byOrder);
    return book;
  }

  #hearBefore(book: Book, claim: Claim | undefined): void {
    const { unheard } = book;
    for (let first = unheard[0]; first; first = unheard[0]) {
      if (claim !== undefined && byOrder(first, claim) >= 0) return;
      unheard.shift();
      const heard = this.#bookOf.has(first.id) ? undefined : this.#world.hear(first.id);
      if (heard !== undefined) this.#settle(this.#open(heard.account), heard.account, heard.claim);
    }
  }

  #settle(book: Book, { name, quotas }: Account, claim: Claim): readonly Violation[] {
    const entry = book.entries.get(claim.id) ?? this.#enter(book, claim, this.#heldElsewhere(claim.id));
    entry.asked = claim.asked;
    const broken = checkQuotas(name, quotas, { taken: book.taken, held: entry.held, asked: entry.asked });
    if (broken.length > 0) {
      book.waiting.set(entry.id, entry);
      return broken;
    }
    const makesRoom = !isWithin(entry.held, entry.asked);
    this.#admit(book, entry);
    if (makesRoom) this.#admitWaiting(book);
    return [];
  }

  /** What a class holds that moves here from another environment, or has just come. */
  #heldElsewhere(id: string): Demand {
    const before = this.#bookOf.get(id)?.entries.get(id)?.held;
    if (before !== undefined) this.release(id);
    return before ?? this.#world.heldBy(id);
  }

  #enter(book: Book, { id, order, asked }: Claim, held: Demand): Entry {
    const entry = { id, order, asked, held };
    this.#bookOf.set(id, book);
    book.entries.set(id, entry);
    this.#take(book, addDemand(book.taken, held));
    return entry;
  }

  #admitWaiting(book: Book): void {
    const admitted: string[] = [];
    for (const entry of [...book.waiting.values()].sort(byOrder)) {
      if (!hasRoom(book.limits, { taken: book.taken, held: entry.held, asked: entry.asked })) continue;
      this.#admit(book, entry);
      admitted.push(entry.id);
    }
    if (admitted.length > 0) this.#observer.admitted(admitted);
  }

  #admit(book: Book, entry: Entry): void {
    this.#take(book, addDemand(subtractDemand(book.taken, entry.held), entry.asked));
    entry.held = entry.asked;
    book.waiting.delete(entry.id);
  }

  #take(book: Book, taken: Demand): void {
    const same = isWithin(taken, book.taken) && isWithin(book.taken, taken);
    book.taken = taken;
    if (!same) this.#observer.changed?.(book.key);
  }
}

function byOrder(a: Pick<Claim, "order">, b: Pick<Claim, "order">): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0;
}
