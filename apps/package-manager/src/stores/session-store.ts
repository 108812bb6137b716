import { resourceExhausted, type Ambient } from "@oaas/foundation";
import { Collection, type CollectionDefinition, type KeyValueStore } from "@oaas/storage";

/** A session of a browser. It has either the digest of a token of the token file, or the identity of a JWT. */
export interface SessionRecord {
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Looked up in each request, so that removing a token from the file ends its sessions. */
  readonly tokenDigest?: string;
  readonly identity?: {
    readonly name: string;
    readonly role: string;
    readonly issuer: string;
    readonly subject: string;
  };
}

/** By the digest of the secret in the cookie: who reads the store cannot use the sessions in it. */
const SESSIONS = {
  name: "sessions",
  codec: { version: 1, decode: sessionRecord },
} satisfies CollectionDefinition<SessionRecord>;

const MAX_SESSIONS = 10_000;
const SWEEP_INTERVAL_MS = 60_000;

/**
 * The sessions of all processes on the store.
 *
 * *Guarantees*: bounded in number; an expired session is never returned, and is deleted after a later sign-in. Not on leases, because
 * an embedded store ends leases with the process.
 */
export class SessionStore {
  readonly #sessions: Collection<SessionRecord>;
  readonly #ambient: Ambient;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(store: KeyValueStore, ambient: Ambient) {
    this.#sessions = new Collection(store, SESSIONS);
    this.#ambient = ambient;
  }

  async create(id: string, record: SessionRecord): Promise<void> {
    await this.#sweep();
    await this.#sessions.create(id, record);
  }

  async get(id: string): Promise<SessionRecord | undefined> {
    const record = (await this.#sessions.get(id))?.record;
    return record !== undefined && record.expiresAt > this.#ambient.clock.now() ? record : undefined;
  }

  /** Deletes a session, if there is one. */
  async delete(id: string): Promise<void> {
    const stored = await this.#sessions.get(id);
    if (stored !== undefined) await this.#sessions.delete(stored);
  }

  /** Deletes expired sessions from time to time. Throws resource-exhausted when there are too many others. */
  async #sweep(): Promise<void> {
    const { clock } = this.#ambient;
    if (clock.monotonic() - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    let count = 0;
    let after: string | undefined;
    do {
      const page = await this.#sessions.list({ limit: 500, ...(after === undefined ? {} : { after }) });
      const expired = page.records.filter(({ record }) => record.expiresAt <= clock.now());
      // Another process may have deleted it.
      for (const stored of expired) await this.#sessions.delete(stored).catch(() => undefined);
      count += page.records.length - expired.length;
      after = page.next;
    } while (after !== undefined);
    if (count >= MAX_SESSIONS) throw resourceExhausted("sessions", `${count} sessions are open; sign out elsewhere`);
    this.#sweptAt = clock.monotonic();
  }
}

function sessionRecord(json: unknown): SessionRecord {
  const record = json as Partial<SessionRecord> | null;
  if (typeof record?.expiresAt !== "number") throw new TypeError("not a session record");
  return record as SessionRecord;
}
