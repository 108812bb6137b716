import { unavailable, type Clock } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";
import { unauthenticated, type Caller } from "./caller.ts";
import { isSignedBy, keysIn, parseJwt, type IssuerKey, type Jwt } from "./jwt.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the role; dots lead into objects. */
  readonly roleClaim: string;
  readonly clock: Clock;
  readonly fetchJson: (url: string) => Promise<unknown>;
}

/** Clocks differ a little. */
const LEEWAY_S = 60;
/** Keys are asked for again after this long, and for an unknown key not more often than that. */
const KEYS_FOR_MS = 3_600_000;
const ASK_AGAIN_MS = 10_000;

/**
 * Callers that an issuer vouches for by a JWT.
 *
 * *Guarantees*: signature, issuer, audience and times are checked; a key that the issuer began to use is found at once, and one that it
 * withdrew is forgotten within the hour; while the issuer is away the keys that are known go on to be believed.
 */
export class OidcCallers {
  readonly #options: OidcOptions;
  #keys: readonly IssuerKey[] = [];
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  /** Who the token belongs to; throws unauthenticated with the reason. */
  async callerOf(token: string): Promise<Caller> {
    const jwt = parseJwt(token);
    this.#checkClaims(jwt);
    if (!(await this.#isSigned(jwt))) throw unauthenticated("The JWT is not signed by a key of the issuer");
    const { sub, preferred_username: name } = jwt.claims;
    const shown = typeof name === "string" ? name : typeof sub === "string" ? sub : "unnamed";
    return { name: shown, role: this.#roleOf(jwt) };
  }

  #checkClaims({ claims }: Jwt): void {
    const { issuer, audience, clock } = this.#options;
    const now = clock.now() / 1000;
    const { iss, aud, exp, nbf } = claims;
    if (iss !== issuer) throw unauthenticated("The JWT is of another issuer");
    if (!(Array.isArray(aud) ? aud : [aud]).includes(audience))
      throw unauthenticated("The JWT is for another audience");
    if (typeof exp !== "number" || exp + LEEWAY_S < now) throw unauthenticated("The JWT has expired");
    if (nbf !== undefined && !(typeof nbf === "number" && nbf - LEEWAY_S <= now))
      throw unauthenticated("The JWT is not valid yet");
  }

  async #isSigned(jwt: Jwt): Promise<boolean> {
    const { clock } = this.#options;
    const age = clock.monotonic() - this.#askedAtMs;
    if (age < KEYS_FOR_MS && isSignedBy(jwt, this.#keys)) return true;
    if (age > ASK_AGAIN_MS) await this.#refresh();
    return isSignedBy(jwt, this.#keys);
  }

  async #refresh(): Promise<void> {
    this.#asking ??= this.#load().finally(() => {
      this.#asking = undefined;
    });
    try {
      await this.#asking;
    } catch (thrown) {
      if (this.#keys.length === 0)
        throw unavailable("OIDC issuer", "The issuer of tokens does not answer, so nobody can be recognised", {
          cause: thrown,
          retryAfterMs: ASK_AGAIN_MS,
        });
    }
  }

  async #load(): Promise<void> {
    const { issuer, fetchJson, clock } = this.#options;
    this.#askedAtMs = clock.monotonic();
    const place = (await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)) as {
      readonly jwks_uri?: unknown;
    };
    if (typeof place.jwks_uri !== "string") throw new TypeError("the issuer's discovery names no jwks_uri");
    const { keys } = (await fetchJson(place.jwks_uri)) as { readonly keys?: unknown };
    if (!Array.isArray(keys)) throw new TypeError("the issuer's key set has no keys");
    this.#keys = keysIn(keys);
  }

  /** The highest role that the claim names; without one a viewer. */
  #roleOf({ claims }: Jwt): Role {
    const value = this.#options.roleClaim
      .split(".")
      .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], claims);
    const named = new Set(Array.isArray(value) ? value : [value]);
    return ROLES.findLast((role) => role !== "public" && named.has(role)) ?? "viewer";
  }
}
