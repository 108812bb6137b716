import { HEADERS } from "@oaas/contracts/rest";
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
import { retryOnConflict } from "../../concurrency.ts";
import type { IdempotencyRecord } from "../../use-cases.ts";
import type { HttpReply } from "../handler.ts";
import { RefusedRequest } from "./read-request.ts";

/** What is kept of a request with an idempotency key. */
interface KeptRequest {
  readonly request: string;
  /** Somebody carries it out until then, unless they die before; after that it may be taken up again. */
  readonly runningUntil?: number;
  /** The key of the store that is there as long as they live. */
  readonly owner?: string;
  /** Its effect is there since this revision of the record; what the answer needs to know of it. */
  readonly note?: object;
  readonly reply?: HttpReply;
  /** Forgotten then; not there of those of earlier releases, which the store forgets by itself. */
  readonly keptUntil?: number;
}

const REQUESTS = {
  name: "idempotency",
  codec: { version: 1, decode: (json: unknown) => json as KeptRequest },
} satisfies CollectionDefinition<KeptRequest>;

const KEEP_MS = 24 * 3_600_000;
const RUNNING_MS = 60_000;
/** So often those past their day are removed, as long as new ones come. */
const SWEEP_MS = 3_600_000;
const SWEPT_AT_ONCE = 500;
const MAX_KEY = 255;

/** One request, as far as its key is concerned. */
export interface KeyedRequest {
  readonly key: string;
  readonly caller: string;
  readonly operation: string;
  readonly url: string;
  readonly body: Uint8Array;
}

/**
 * Carries out a request with an idempotency key once: the same key and request again get the same answer, for a day.
 *
 * ```
 *   recorded ─▶ effect and its mark, in one transaction ─▶ answer kept
 *      └─▶ taken up again: the owner died, or a minute has passed
 * ```
 *
 * *Guarantees*: the key is recorded before the work begins, and outlives this process: not on a lease, which an embedded store ends with
 * it, while a client tries again exactly when the one it asked has died. There is no effect without its mark: whoever finds the mark
 * answers and does nothing; whoever takes up a request without one has it alone, for the mark of those before is refused. A request that
 * failed is forgotten, so that it can be tried again.
 */
export class Idempotency {
  readonly #store: KeyValueStore;
  readonly #requests: Collection<KeptRequest>;
  readonly #ambient: Ambient;
  readonly #life: () => string | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `life` is a key of the store that is there as long as this process lives, where there is one. */
  constructor(store: KeyValueStore, ambient: Ambient, life: () => string | undefined) {
    this.#store = store;
    this.#requests = new Collection(store, REQUESTS);
    this.#ambient = ambient;
    this.#life = life;
  }

  async once(asked: KeyedRequest, work: (once: IdempotencyRecord) => Promise<HttpReply>): Promise<HttpReply> {
    const { key, caller, operation, url } = asked;
    assertKey(key);
    const request = hashJson([operation, url, Buffer.from(asked.body).toString("base64")]);
    const id = `${caller}/${key}`;
    this.#sweepAt(this.#ambient.clock.now());
    const begun = await retryOnConflict(() => this.#begin(id, request));
    if ("reply" in begun)
      return { ...begun.reply, headers: { ...begun.reply.headers, [HEADERS.idempotencyReplayed]: "true" } };
    const once = this.#onceOf(begun.stored);
    try {
      const reply = await work(once);
      await this.#keep(begun.stored, reply).catch(() => undefined);
      return reply;
    } catch (thrown) {
      await this.#forget(begun.stored, thrown).catch(() => undefined);
      throw conflictOf(thrown)?.key === once.key ? stillRunning(id) : thrown;
    }
  }

  async #begin(
    id: string,
    request: string,
  ): Promise<{ readonly stored: Stored<KeptRequest> } | { readonly reply: HttpReply }> {
    const now = this.#ambient.clock.now();
    const owner = this.#life();
    const running = {
      request,
      runningUntil: now + RUNNING_MS,
      keptUntil: now + KEEP_MS,
      ...(owner === undefined ? {} : { owner }),
    };
    const kept = await this.#requests.get(id);
    if (!kept) return { stored: await this.#put(this.#requests.stageCreate(id, running)) };
    if (!isOver(kept.record, now)) {
      if (kept.record.request !== request) throw keyOfAnother(id);
      if (kept.record.reply) return { reply: kept.record.reply };
      if (kept.record.note) return { stored: kept };
      if (await this.#isRunning(kept.record, now)) throw stillRunning(id);
    }
    return { stored: await this.#put(this.#requests.stageUpdate(kept, running), kept) };
  }

  async #isRunning({ runningUntil = 0, owner }: KeptRequest, now: number): Promise<boolean> {
    return runningUntil > now && (owner === undefined || (await this.#store.get(owner)) !== undefined);
  }

  #onceOf(stored: Stored<KeptRequest>): IdempotencyRecord {
    const { record, revision } = stored;
    return {
      key: stored.source.entry.key,
      committed: record.note && { note: record.note, revision },
      stage: (note) => this.#requests.stageUpdate(stored, { ...record, note }),
    };
  }

  /** In one write, whether or not the mark was written since; an answer of whoever was first is as good. */
  async #keep(begun: Stored<KeptRequest>, reply: HttpReply): Promise<void> {
    const { runningUntil: _, owner: __, note: ___, ...kept } = begun.record;
    const { key, createRevision } = begun.source.entry;
    const { writes } = this.#requests.stageUpdate(begun, { ...kept, reply });
    await this.#store.commit({ conditions: [sameIncarnation(key, createRevision)], writes });
  }

  /** What has no effect, or whose effect came to nothing, and is still ours: asked again, it is carried out again. */
  async #forget(begun: Stored<KeptRequest>, thrown: unknown): Promise<void> {
    const isMarked =
      begun.record.note !== undefined ||
      (await this.#requests.delete(begun).then(
        () => false,
        () => true,
      ));
    if (!isMarked || !(isFault(thrown, "partial-failure") || isFault(thrown, "cancelled"))) return;
    const now = await this.#requests.get(begun.id);
    if (now && now.record.runningUntil === begun.record.runningUntil) await this.#requests.delete(now);
  }

  async #put(staged: Transaction, before?: Stored<KeptRequest>): Promise<Stored<KeptRequest>> {
    const { revision } = await this.#store.commit(staged);
    return this.#requests.committed(staged, revision, before);
  }

  /** Not waited for: no answer hangs on it, and what it leaves is removed the next time. */
  #sweepAt(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    void this.#sweep(now).catch(() => undefined);
  }

  async #sweep(now: number): Promise<void> {
    let after: string | undefined;
    do {
      const page = await this.#requests.list({ limit: SWEPT_AT_ONCE, ...(after === undefined ? {} : { after }) });
      const over = page.records.filter(({ record }) => isOver(record, now));
      // One that is used anew just now stays.
      for (const stored of over) await this.#requests.delete(stored).catch(() => undefined);
      after = page.next;
    } while (after !== undefined);
  }
}

function isOver({ keptUntil }: KeptRequest, now: number): boolean {
  return keptUntil !== undefined && keptUntil <= now;
}

/** An empty one, such as of a variable that is not set, would make all requests one. */
function assertKey(key: string): void {
  if (key !== "" && key.length <= MAX_KEY) return;
  const message = key === "" ? "is empty" : `is longer than ${MAX_KEY} characters`;
  const fix = `use 1 to ${MAX_KEY} characters, other ones for each request`;
  throw invalidArgument("the request", [{ path: "$.Idempotency-Key", message, fix }]);
}

function stillRunning(id: string): Fault {
  return new Fault(
    { kind: "conflict", resource: "request", name: id },
    "A request with this idempotency key is being carried out; ask again in a moment to get its answer.",
    { code: "OAAS_REQUEST_RUNNING" },
  );
}

function keyOfAnother(id: string): RefusedRequest {
  return new RefusedRequest(
    new Fault(
      {
        kind: "invalid-argument",
        violations: [
          {
            path: "$.Idempotency-Key",
            message: `was used for another request (${id})`,
            fix: "use a new key for a new request",
          },
        ],
      },
      "The idempotency key was used for another request; use a new key for a new request.",
    ),
    "unprocessable-content",
  );
}
