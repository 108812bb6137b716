import { HEADERS } from "@oaas/contracts/rest";
import { conflict, Fault, hashJson, type Ambient } from "@oaas/foundation";
import { Collection, conflictOf, type CollectionDefinition, type KeyValueStore, type Stored } from "@oaas/storage";
import type { HttpReply } from "./handler.ts";
import { RefusedRequest } from "./read-request.ts";

/** What is kept of a request with an idempotency key. */
interface KeptRequest {
  readonly request: string;
  /** Somebody carries it out until then; after that it may be taken up again. */
  readonly runningUntil?: number;
  readonly reply?: HttpReply;
}

const REQUESTS = {
  name: "idempotency",
  codec: { version: 1, decode: (json: unknown) => json as KeptRequest },
} satisfies CollectionDefinition<KeptRequest>;

const KEEP_MS = 24 * 3_600_000;
const RUNNING_MS = 60_000;
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
 * *Guarantees*: the key is recorded before the work begins. A request that failed is forgotten, so that it can be tried again;
 * one whose process died is taken up again after a minute, which is safe because every write of ours is idempotent itself.
 */
export class Idempotency {
  readonly #store: KeyValueStore;
  readonly #requests: Collection<KeptRequest>;
  readonly #ambient: Ambient;

  constructor(store: KeyValueStore, ambient: Ambient) {
    this.#store = store;
    this.#requests = new Collection(store, REQUESTS);
    this.#ambient = ambient;
  }

  async once(asked: KeyedRequest, work: () => Promise<HttpReply> | HttpReply): Promise<HttpReply> {
    const { key, caller, operation, url } = asked;
    if (key.length > MAX_KEY)
      throw new Fault(
        {
          kind: "invalid-argument",
          violations: [{ path: "$.Idempotency-Key", message: `is longer than ${MAX_KEY} characters` }],
        },
        `The idempotency key is longer than ${MAX_KEY} characters`,
      );
    const request = hashJson([operation, url, Buffer.from(asked.body).toString("base64")]);
    const id = `${caller}/${key}`;
    const begun = await this.#begin(id, request);
    if ("reply" in begun)
      return { ...begun.reply, headers: { ...begun.reply.headers, [HEADERS.idempotencyReplayed]: "true" } };
    try {
      const reply = await work();
      await this.#requests.update(begun.stored, { request, reply }).catch(() => undefined);
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
    const running = { request, runningUntil: now + RUNNING_MS };
    const kept = await this.#requests.get(id);
    if (!kept) return { stored: await this.#create(id, running) };
    if (kept.record.request !== request) throw keyOfAnother(id);
    if (kept.record.reply) return { reply: kept.record.reply };
    if ((kept.record.runningUntil ?? 0) > now) throw stillRunning(id);
    return { stored: await this.#requests.update(kept, running) };
  }

  async #create(id: string, record: KeptRequest): Promise<Stored<KeptRequest>> {
    const lease = await this.#store.grantLease({ ttlMs: KEEP_MS, keepAlive: false });
    try {
      await this.#store.commit(this.#requests.stageCreate(id, record, lease.id));
    } catch (thrown) {
      await lease.revoke().catch(() => undefined);
      throw conflictOf(thrown) ? stillRunning(id) : thrown;
    }
    return (await this.#requests.get(id)) as Stored<KeptRequest>;
  }
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
