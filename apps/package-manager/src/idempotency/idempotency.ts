import { HEADERS, HttpError } from "@oaas/contracts/rest";
import { Fault, invalidArgument, isFault, type Ambient } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import {
  Collection,
  conflictOf,
  sameIncarnation,
  type CollectionDefinition,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { IdempotencyRecord } from "../use-cases.ts";

/** A reply that can be stored and sent again. */
export interface StoredReply {
  readonly headers?: Readonly<Record<string, string>>;
}

/** The record of a request with an idempotency key. */
interface RequestRecord<Reply> {
  readonly request: string;
  /** Until then the owner serves it; after that another process may take it over. */
  readonly runningUntil?: number;
  /** The store key of the owner's lease. */
  readonly owner?: string;
  /** Set in the transaction of the effect: what the reply needs to know of it. */
  readonly note?: object;
  readonly reply?: Reply;
  /** When the record expires; records of earlier releases hang on a lease instead. */
  readonly keptUntil?: number;
}

const KEEP_MS = 24 * 3_600_000;
const RUNNING_MS = 60_000;
const SWEEP_INTERVAL_MS = 3_600_000;
const SWEEP_PAGE = 500;
const MAX_KEY = 255;

/** The parts of a request that its key stands for. */
export interface KeyedRequest {
  readonly key: string;
  readonly caller: string;
  readonly operation: string;
  readonly url: string;
  readonly body: Uint8Array;
}

/**
 * Serves a request with an idempotency key once: the same key and request get the same reply for a day.
 *
 * ```
 *   recorded ─▶ effect and note, in one transaction ─▶ reply stored
 *      └─▶ taken over: the owner's lease ended, or a minute has passed
 * ```
 *
 * *Guarantees*: the key is recorded before the work begins. The record has no lease, because an embedded store ends leases with the
 * process, and clients retry after the process has died. Every effect is committed together with a note in the record: a process that
 * finds the note sends its response and does nothing, and the commit of a process that lost the request is rejected. The record of a
 * failed request is deleted, so that it can be retried.
 */
export class Idempotency<Reply extends StoredReply> {
  readonly #store: KeyValueStore;
  readonly #requests: Collection<RequestRecord<Reply>>;
  readonly #ambient: Ambient;
  readonly #leaseKey: () => string | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `leaseKey` is the store key of this process's lease, if it has one. */
  constructor(store: KeyValueStore, ambient: Ambient, leaseKey: () => string | undefined) {
    const definition: CollectionDefinition<RequestRecord<Reply>> = {
      name: "idempotency",
      codec: { version: 1, decode: (json) => json as RequestRecord<Reply> },
    };
    this.#store = store;
    this.#requests = new Collection(store, definition);
    this.#ambient = ambient;
    this.#leaseKey = leaseKey;
  }

  async once(keyed: KeyedRequest, work: (once: IdempotencyRecord) => Promise<Reply>): Promise<Reply> {
    const { key, caller, operation, url } = keyed;
    assertKey(key);
    const request = hashJson([operation, url, Buffer.from(keyed.body).toString("base64")]);
    const id = `${caller}/${key}`;
    this.#sweepExpired(this.#ambient.clock.now());
    const begun = await retryOnConflict(() => this.#begin(id, request));
    if ("reply" in begun)
      return { ...begun.reply, headers: { ...begun.reply.headers, [HEADERS.idempotencyReplayed]: "true" } };
    const once = this.#onceOf(begun.stored);
    try {
      const reply = await work(once);
      await this.#storeReply(begun.stored, reply).catch(() => undefined);
      return reply;
    } catch (thrown) {
      await this.#deleteFailed(begun.stored, thrown).catch(() => undefined);
      throw conflictOf(thrown)?.key === once.key ? stillRunning(id) : thrown;
    }
  }

  async #begin(
    id: string,
    request: string,
  ): Promise<{ readonly stored: Stored<RequestRecord<Reply>> } | { readonly reply: Reply }> {
    const now = this.#ambient.clock.now();
    const owner = this.#leaseKey();
    const running: RequestRecord<Reply> = {
      request,
      runningUntil: now + RUNNING_MS,
      keptUntil: now + KEEP_MS,
      ...(owner === undefined ? {} : { owner }),
    };
    const kept = await this.#requests.get(id);
    if (!kept) return { stored: await this.#put(this.#requests.stageCreate(id, running)) };
    if (!isExpired(kept.record, now)) {
      if (kept.record.request !== request) throw keyReused(id);
      if (kept.record.reply) return { reply: kept.record.reply };
      if (kept.record.note) return { stored: kept };
      if (await this.#isRunning(kept.record, now)) throw stillRunning(id);
    }
    return { stored: await this.#put(this.#requests.stageUpdate(kept, running), kept) };
  }

  async #isRunning({ runningUntil = 0, owner }: RequestRecord<Reply>, now: number): Promise<boolean> {
    return runningUntil > now && (owner === undefined || (await this.#store.get(owner)) !== undefined);
  }

  #onceOf(stored: Stored<RequestRecord<Reply>>): IdempotencyRecord {
    const { record, revision } = stored;
    return {
      key: stored.source.entry.key,
      committed: record.note && { note: record.note, revision },
      stage: (note) => this.#requests.stageUpdate(stored, { ...record, note }),
    };
  }

  /** One write, whether or not the note was written since. A reply that another process stored first stays. */
  async #storeReply(begun: Stored<RequestRecord<Reply>>, reply: Reply): Promise<void> {
    const { runningUntil: _, owner: __, note: ___, ...kept } = begun.record;
    const { key, createRevision } = begun.source.entry;
    const { writes } = this.#requests.stageUpdate(begun, { ...kept, reply });
    await this.#store.commit({ conditions: [sameIncarnation(key, createRevision)], writes });
  }

  /** Deletes the record of a request without an effect, or whose effect failed as a whole, if it is still ours. */
  async #deleteFailed(begun: Stored<RequestRecord<Reply>>, thrown: unknown): Promise<void> {
    const hasNote =
      begun.record.note !== undefined ||
      (await this.#requests.delete(begun).then(
        () => false,
        () => true,
      ));
    if (!hasNote || !(isFault(thrown, "partial-failure") || isFault(thrown, "cancelled"))) return;
    const current = await this.#requests.get(begun.id);
    if (current && current.record.runningUntil === begun.record.runningUntil) await this.#requests.delete(current);
  }

  async #put(staged: Transaction, before?: Stored<RequestRecord<Reply>>): Promise<Stored<RequestRecord<Reply>>> {
    const { revision } = await this.#store.commit(staged);
    return this.#requests.committed(staged, revision, before);
  }

  /** Runs in the background; a failed sweep is repeated after the interval. */
  #sweepExpired(now: number): void {
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    this.#sweptAt = now;
    void this.#sweep(now).catch(() => undefined);
  }

  async #sweep(now: number): Promise<void> {
    let after: string | undefined;
    do {
      const page = await this.#requests.list({ limit: SWEEP_PAGE, ...(after === undefined ? {} : { after }) });
      const expired = page.records.filter(({ record }) => isExpired(record, now));
      // A record that was just reused has changed and stays.
      for (const stored of expired) await this.#requests.delete(stored).catch(() => undefined);
      after = page.next;
    } while (after !== undefined);
  }
}

function isExpired({ keptUntil }: { readonly keptUntil?: number }, now: number): boolean {
  return keptUntil !== undefined && keptUntil <= now;
}

/** Rejects an empty key, such as of an unset variable: it would make all requests one. */
function assertKey(key: string): void {
  if (key !== "" && key.length <= MAX_KEY) return;
  const message = key === "" ? "is empty" : `is longer than ${MAX_KEY} characters`;
  const fix = `use 1 to ${MAX_KEY} characters, different for each request`;
  throw invalidArgument("the request", [{ path: "$.Idempotency-Key", message, fix }]);
}

function stillRunning(id: string): Fault {
  return new Fault(
    { kind: "conflict", resource: "request", name: id },
    "A request with this idempotency key is still running; retry in a moment to get its response.",
    { code: "OAAS_REQUEST_RUNNING" },
  );
}

function keyReused(id: string): HttpError {
  const fix = "use a new key for a new request";
  const violation = { path: "$.Idempotency-Key", message: `was used for another request (${id})`, fix };
  const message = "The idempotency key was used for another request; use a new key for a new request.";
  return new HttpError(
    new Fault({ kind: "invalid-argument", violations: [violation] }, message),
    "unprocessable-content",
  );
}
