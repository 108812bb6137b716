import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { ROLES, type Role } from "@oaas/contracts/rest";
import type { Clock } from "@oaas/foundation";
import type { SessionRecord, SessionStore } from "../../stores/session-store.ts";
import { unauthenticated, type Caller } from "../caller.ts";
import type { TokenTable } from "../token-file.ts";

export interface SessionsOptions {
  readonly store: Pick<SessionStore, "create" | "get" | "delete">;
  readonly clock: Clock;
  readonly maxAgeMs: number;
  readonly tokens: () => TokenTable | undefined;
  /** A secret that cannot be guessed, of 43 URL-safe characters. */
  readonly newSecret: () => string;
}

/** A session that was opened or found. */
export interface Session {
  readonly caller: Caller;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** The form of a secret: other values of the cookie are not looked up. */
const SECRET = /^[\w-]{43}$/;

/**
 * Sessions of browsers that have signed in with a token or over OIDC.
 *
 * ```
 *   cookie (secret) ─SHA-256─▶ record in the store ─▶ digest of a token ─▶ token file, as it is now ─▶ caller
 *                                                └─▶ identity of a JWT ─▶ caller
 * ```
 *
 * *Guarantees*: a session ends after `maxAgeMs`, when it is signed out, when its token leaves the token file, and with the JWT it was
 * opened with. It works in every process on the store, and across restarts if the store is durable.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Opens a session for a caller, which sent `token` or was identified by an issuer. Returns the secret for the cookie. */
  async open(caller: Caller, token?: string): Promise<Session & { readonly secret: string }> {
    const { store, clock, maxAgeMs, newSecret } = this.#options;
    const secret = newSecret();
    const createdAt = clock.now();
    const expiresAt = Math.min(createdAt + maxAgeMs, caller.expiresAtMs ?? Number.POSITIVE_INFINITY);
    await store.create(digestOf(secret), { createdAt, expiresAt, ...originOf(caller, token) });
    return { caller, expiresAt, secret };
  }

  /** The session of a secret; throws unauthenticated when there is none. */
  async find(secret: string): Promise<Session> {
    const record = SECRET.test(secret) ? await this.#options.store.get(digestOf(secret)) : undefined;
    const caller = record && this.#callerOf(record);
    if (record === undefined || caller === undefined)
      throw unauthenticated("The session has expired or was signed out: sign in again");
    return { caller, expiresAt: record.expiresAt };
  }

  /** Ends a session. Repeatable. */
  async close(secret: string): Promise<void> {
    if (SECRET.test(secret)) await this.#options.store.delete(digestOf(secret));
  }

  #callerOf({ tokenDigest, identity }: SessionRecord): Caller | undefined {
    if (tokenDigest !== undefined) return this.#options.tokens()?.callerOfDigest(tokenDigest);
    const role = ROLES.find((each) => each === identity?.role);
    if (identity === undefined || role === undefined) return undefined;
    const { name, issuer, subject } = identity;
    return { name, role: role satisfies Role, oidc: { issuer, subject } };
  }
}

/** The CSRF token of a session: pages of this origin can read it, and the cookie does not reveal it to others. */
export function csrfTokenOf(secret: string): string {
  return createHmac("sha256", secret).update("csrf").digest("base64url");
}

/** Compares without revealing by its time where two texts differ. */
export function equalTexts(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(left as Buffer, right as Buffer);
}

function originOf({ name, role, oidc }: Caller, token: string | undefined): Partial<SessionRecord> {
  if (oidc !== undefined) return { identity: { name, role, ...oidc } };
  return token === undefined ? {} : { tokenDigest: createHash("sha256").update(token).digest("hex") };
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
