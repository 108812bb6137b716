import { HEADERS } from "@oaas/contracts/rest";
import { conflict, Fault, hashJson, invalidArgument, type Ambient } from "@oaas/foundation";
import {
  Collection,
  type CollectionDefinition,
  type KeyValueStore,
  type StagedRecord,
  type Stored,
} from "@oaas/storage";
import { decided } from "../decided.ts";
import type { HttpReply } from "./handler.ts";
import { RefusedRequest } from "./read-request.ts";

/** What is kept of a request with an idempotency key. */
interface KeptRequest {
  readonly request: string;
  /** Somebody carries it out until then; after that it may be taken up again. */
  readonly runningUntil?: number;
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
 * *Guarantees*: the key is recorded before the work begins, and outlives this process: not on a lease, which an embedded store ends with
 * it, while a client tries again exactly when the one it asked has died. A request that failed is forgotten, so that it can be tried again;
 * one whose process died is taken up again after a minute, which is safe because every write of ours is idempotent itself.
 */
export class Idempotency {
  readonly #store: KeyValueStore;
  readonly #requests: Collection<KeptRequest>;
  readonly #ambient: Ambient;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(store: KeyValueStore, ambient: Ambient) {
    this.#store = store;
    this.#requests = new Collection(store, REQUESTS);
    this.#ambient = ambient;
  }

  async once(asked: KeyedRequest, work: () => Promise<HttpReply> | HttpReply): Promise<HttpReply> {
    const { key, caller, operation, url } = asked;
    assertKey(key);
    const request = hashJson([operation, url, Buffer.from(asked.body).toString("base64")]);
    const id = `${caller}/${key}`;
    this.#sweepAt(this.#ambient.clock.now());
    const begun = await decided(() => this.#begin(id, request));
    if ("reply" in begun)
      return { ...begun.reply, headers: { ...begun.reply.headers, [HEADERS.idempotencyReplayed]: "true" } };
    try {
      const reply = await work();
      const { runningUntil: _, ...kept } = begun.stored.record;
      await this.#requests.update(begun.stored, { ...kept, reply }).catch(() => undefined);
      return reply;
    } catch (thrown) {
      await this.#requests.delete(begun.stored).catch(() => undefined);
      throw thrown;
    }
  }

  async #begin(
    id: string,
    request: string,
  ): Promise<{ readonly stored: Stored<KeptRequest> } | { readonly reply: HttpReply }> {
    const now = this.#ambient.clock.now();
    const running = { request, runningUntil: now + RUNNING_MS, keptUntil: now + KEEP_MS };
    const kept = await this.#requests.get(id);
    if (!kept) return { stored: await this.#put(this.#requests.stageCreate(id, running)) };
    if (!isOver(kept.record, now)) {
      if (kept.record.request !== request) throw keyOfAnother(id);
      if (kept.record.reply) return { reply: kept.record.reply };
      if ((kept.record.runningUntil ?? 0) > now) throw stillRunning(id);
    }
    return { stored: await this.#put(this.#requests.stageUpdate(kept, running), kept) };
  }

  async #put(staged: StagedRecord<KeptRequest>, before?: Stored<KeptRequest>): Promise<Stored<KeptRequest>> {
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
    conflict("request", id).detail,
    "A request with this idempotency key is being carried out; ask again in a moment to get its answer.",
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
