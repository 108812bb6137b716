import { createHash, createHmac } from "node:crypto";
import { Fault, unavailable, type Clock } from "@oaas/foundation";
import { unauthenticated, type Caller } from "../caller.ts";
import type { FetchJson, OidcCallers } from "../oidc.ts";
import { equalTexts } from "./sessions.ts";

export interface OidcLoginOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client: PKCE protects the code. */
  readonly clientSecret: string | undefined;
  /** The address of the callback, as it is registered with the issuer. */
  readonly redirectUrl: string;
  readonly scopes: readonly string[];
  /** Verifies the ID tokens of this client. */
  readonly callers: Pick<OidcCallers, "callerOfIdToken">;
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
}

/** The query of the callback. */
export interface CallbackQuery {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}

/** Why a sign-in at the issuer failed, for the page that people see. */
export type LoginError = "denied" | "expired" | "rejected" | "no_role" | "unavailable" | "rate_limited";

/** A failed sign-in, with the fault for programs. */
export class LoginFailed extends Error {
  readonly reason: LoginError;
  readonly fault: Fault;

  constructor(reason: LoginError, fault: Fault) {
    super(fault.message);
    this.reason = reason;
    this.fault = fault;
  }
}

interface Endpoints {
  readonly authorize: string;
  readonly token: string;
}

const ENDPOINTS_MAX_AGE_MS = 3_600_000;

/**
 * Sign-in at an OIDC issuer: authorization code flow with PKCE (RFC 7636), state and nonce.
 *
 * ```
 *   login ─▶ cookie with a secret; state, nonce and code verifier are derived from it ─▶ issuer ─▶ callback ─▶ token endpoint ─▶ ID token
 * ```
 *
 * *Guarantees*: nothing is stored for a login that has begun, so that anonymous clients use no memory and any process can finish it;
 * a code works only in the browser that asked for it, once, and only together with the verifier.
 */
export class OidcLogin {
  readonly #options: OidcLoginOptions;
  #endpoints: (Endpoints & { readonly fetchedAtMs: number }) | undefined;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
  }

  /** The address of the issuer that a browser is sent to. */
  async authorizationUrl(secret: string): Promise<string> {
    const { clientId, redirectUrl, scopes } = this.#options;
    const url = new URL((await this.#discover()).authorize);
    const parameters = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUrl,
      scope: scopes.join(" "),
      state: derived(secret, "state"),
      nonce: derived(secret, "nonce"),
      code_challenge: createHash("sha256").update(derived(secret, "verifier")).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** The caller that the issuer sent back. `secret` is that of the login cookie. Throws LoginFailed. */
  async callerOf(secret: string | undefined, query: CallbackQuery): Promise<Caller> {
    const { issuer } = this.#options;
    if (secret === undefined || query.state === undefined || !equalTexts(query.state, derived(secret, "state")))
      throw failed("expired", "The sign-in was started in another browser, or too long ago: start again");
    // RFC 9207: the answer of another issuer.
    if (query.iss !== undefined && query.iss !== issuer) throw failed("rejected", "The answer is of another issuer");
    if (query.error !== undefined) {
      const reason = query.error === "access_denied" ? "denied" : "rejected";
      throw failed(reason, `The issuer refused the sign-in (${query.error.slice(0, 100)})`);
    }
    if (query.code === undefined) throw failed("rejected", "The answer of the issuer has no code");
    const caller = await this.#exchange(query.code, secret);
    if (caller.role !== "public") return caller;
    const message = `${caller.name} has no role, because ${caller.withoutRole ?? "none is mapped"}`;
    throw new LoginFailed("no_role", new Fault({ kind: "permission-denied", action: "sign in" }, message));
  }

  async #exchange(code: string, secret: string): Promise<Caller> {
    const { clientId, clientSecret, redirectUrl, fetchJson, callers } = this.#options;
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUrl,
      client_id: clientId,
      code_verifier: derived(secret, "verifier"),
    };
    const authorization = clientSecret === undefined ? {} : { authorization: basic(clientId, clientSecret) };
    try {
      const { token } = await this.#discover();
      const tokens = (await fetchJson(token, { form, ...authorization })) as { readonly id_token?: unknown } | null;
      if (typeof tokens?.id_token !== "string") throw unauthenticated("The issuer returned no ID token");
      return await callers.callerOfIdToken(tokens.id_token, derived(secret, "nonce"));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === "unauthenticated") throw new LoginFailed("rejected", fault);
      if (fault.kind === "failed-precondition") throw failed("rejected", "The issuer does not accept the code");
      throw new LoginFailed("unavailable", issuerUnavailable(fault));
    }
  }

  async #discover(): Promise<Endpoints> {
    const { issuer, fetchJson, clock } = this.#options;
    const known = this.#endpoints;
    if (known !== undefined && clock.monotonic() - known.fetchedAtMs < ENDPOINTS_MAX_AGE_MS) return known;
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const found = (await fetchJson(url).catch((thrown: unknown) => {
      throw issuerUnavailable(thrown);
    })) as Readonly<Record<string, unknown>> | null;
    const [authorize, token] = [found?.["authorization_endpoint"], found?.["token_endpoint"]];
    if (found?.["issuer"] !== issuer || !isEndpoint(authorize) || !isEndpoint(token))
      throw issuerUnavailable(new TypeError("the discovery document is not that of OIDC_ISSUER, or has no endpoints"));
    this.#endpoints = { authorize, token, fetchedAtMs: clock.monotonic() };
    return this.#endpoints;
  }
}

function isEndpoint(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value);
}

/** A value of 43 URL-safe characters for one purpose. */
function derived(secret: string, purpose: "state" | "nonce" | "verifier"): string {
  return createHmac("sha256", secret).update(`oidc ${purpose}`).digest("base64url");
}

/** RFC 6749, 2.3.1. */
function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;
}

function failed(reason: LoginError, message: string): LoginFailed {
  return new LoginFailed(reason, new Fault({ kind: "unauthenticated" }, `${message}.`));
}

function issuerUnavailable(cause: unknown): Fault {
  return unavailable("OIDC issuer", "The OIDC issuer does not respond as expected: try again", { cause });
}
