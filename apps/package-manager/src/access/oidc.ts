import { ROLES, type Role } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, unavailable, type Clock, type Result, type Violation } from "@oaas/foundation";
import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import { unauthenticated, type Caller } from "./caller.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the role; dots lead into objects. */
  readonly roleClaim: string;
  /** From values of that claim to roles. */
  readonly roleMapping: RoleMapping;
  readonly clock: Clock;
  readonly fetchJson: FetchJson;
}

/** A form to post, with an Authorization header. */
export interface FormRequest {
  readonly form: Readonly<Record<string, string>>;
  readonly authorization?: string;
}

/** Fetches a JSON document, or posts a form and reads the JSON of the response. */
export type FetchJson = (url: string, post?: FormRequest) => Promise<unknown>;

export type RoleMapping = Readonly<Record<string, GrantedRole>>;
type GrantedRole = Exclude<Role, "public">;

/** The claim contains the names of the roles. */
export const DEFAULT_ROLE_MAPPING: RoleMapping = { viewer: "viewer", deployer: "deployer", admin: "admin" };

/** Checks a mapping from values of the role claim to roles. */
export function roleMappingFromJson(value: unknown): Result<RoleMapping, readonly Violation[]> {
  const fix = 'write for example {"platform-admins":"admin","developers":"deployer"}';
  if (!isObject(value)) return err([{ path: ROOT_PATH, message: "must be an object", fix }]);
  const violations = Object.entries(value)
    .filter(([, role]) => !GRANTED_ROLES.has(role))
    .map(([name]) => ({ path: pathOf(ROOT_PATH, name), message: "must be viewer, deployer or admin", fix }));
  return violations.length > 0 ? err(violations) : ok(value as RoleMapping);
}

const GRANTED_ROLES: ReadonlySet<unknown> = new Set(ROLES.filter((role) => role !== "public"));

/** Asymmetric signatures only: neither `none` nor shared secrets. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
/** As OpenID Connect Core limits it: ASCII, at most 255 characters. */
const SUBJECT = /^[ -~]{1,255}$/;
const CLOCK_TOLERANCE_S = 60;
const KEYS_MAX_AGE_MS = 3_600_000;
/** Minimum time between two requests for the keys. */
const KEYS_COOLDOWN_MS = 10_000;

/** Whether a bearer token has the form of a JWT. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/**
 * Authenticates callers by the JWTs of an OIDC issuer.
 *
 * *Guarantees*: signature, issuer, audience and times are verified. A new key of the issuer is found when a token uses it, and a withdrawn
 * key expires within the hour. While the issuer is unreachable the known keys stay valid.
 *
 * Not jose's createRemoteJWKSet: its cache reads the system clock, and here time and fetch are ports.
 */
export class OidcCallers {
  readonly #options: OidcOptions;
  #keys: JWTVerifyGetKey | undefined;
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  /** The caller of a token, with the role `public` when no other is mapped; throws unauthenticated with the reason. */
  async callerOf(token: string): Promise<Caller> {
    const claims = await this.#verify(token);
    return { ...this.#identify(claims), expiresAtMs: (claims.exp ?? 0) * 1000 };
  }

  /**
   * The caller of an ID token that was issued for this sign-in. Such a token is valid for a moment: it says who has signed in, not for
   * how long.
   */
  async callerOfIdToken(token: string, nonce: string): Promise<Caller> {
    const claims = await this.#verify(token);
    if (claims["nonce"] !== nonce)
      throw unauthenticated('The claim "nonce" of the ID token is not that of this sign-in');
    const { azp } = claims;
    if (azp !== undefined && azp !== this.#options.audience)
      throw unauthenticated('The claim "azp" of the ID token names another client');
    return this.#identify(claims);
  }

  #identify(claims: JWTPayload): Caller {
    const { sub: subject = "" } = claims;
    if (!SUBJECT.test(subject)) throw unauthenticated('The claim "sub" of the JWT is not accepted');
    const identity = { name: displayName(claims) ?? subject, oidc: { issuer: this.#options.issuer, subject } };
    const { roleClaim } = this.#options;
    const value = claimAt(claims, roleClaim);
    const role = this.#roleOf(value);
    if (role !== undefined) return { ...identity, role };
    const withoutRole =
      value === undefined
        ? `the claim "${roleClaim}" of the JWT is missing`
        : `no value of the claim "${roleClaim}" of the JWT is mapped to a role by OIDC_ROLE_MAPPING`;
    return { ...identity, role: "public", withoutRole };
  }

  async #verify(token: string): Promise<JWTPayload> {
    if (this.#keys === undefined || this.#keysAgeMs >= KEYS_MAX_AGE_MS) await this.#fetchKeys();
    try {
      return await this.#verifyWithKeys(token);
    } catch (thrown) {
      if (!isUnknownKey(thrown) || this.#keysAgeMs <= KEYS_COOLDOWN_MS) throw rejection(thrown);
      await this.#fetchKeys();
      return this.#verifyWithKeys(token).catch((again: unknown) => {
        throw rejection(again);
      });
    }
  }

  async #verifyWithKeys(token: string): Promise<JWTPayload> {
    const { issuer, audience, clock } = this.#options;
    const options: JWTVerifyOptions = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
      requiredClaims: ["exp", "sub"],
    };
    try {
      return (await jwtVerify(token, this.#keys as JWTVerifyGetKey, options)).payload;
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown;
      // A token without a key id: any key of its type may have signed it.
      for await (const key of thrown) {
        const verified = await jwtVerify(token, key, options).catch(unlessSignatureFailed);
        if (verified !== undefined) return verified.payload;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  get #keysAgeMs(): number {
    return this.#options.clock.monotonic() - this.#fetchedAtMs;
  }

  /** Fetches the keys unless that was tried a moment ago. A failure counts only while no keys are known. */
  async #fetchKeys(): Promise<void> {
    let cause: unknown;
    if (this.#fetching !== undefined || this.#keysAgeMs > KEYS_COOLDOWN_MS) {
      this.#fetching ??= this.#load().finally(() => (this.#fetching = undefined));
      await this.#fetching.catch((thrown: unknown) => (cause = thrown));
    }
    if (this.#keys !== undefined) return;
    const message = "The OIDC issuer does not respond, so tokens cannot be verified";
    throw unavailable("OIDC issuer", message, { cause, retryAfterMs: KEYS_COOLDOWN_MS });
  }

  async #load(): Promise<void> {
    const { issuer, fetchJson, clock } = this.#options;
    this.#fetchedAtMs = clock.monotonic();
    const discoveryUrl = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const { jwks_uri: url } = (await fetchJson(discoveryUrl)) as { readonly jwks_uri?: unknown };
    if (typeof url !== "string") throw new TypeError("the discovery document of the issuer has no jwks_uri");
    const { keys } = (await fetchJson(url)) as { readonly keys?: unknown };
    if (!Array.isArray(keys)) throw new TypeError("the key set of the issuer has no keys");
    // jose rejects a whole set because of one entry that is not a key.
    this.#keys = createLocalJWKSet({ keys: keys.filter(isObject) });
  }

  /** The highest role that a value of the claim is mapped to. */
  #roleOf(value: unknown): Role | undefined {
    const { roleMapping } = this.#options;
    const values = [value].flat().filter((each) => typeof each === "string");
    const mapped = new Set(values.map((each) => ownMember(roleMapping, each)));
    return ROLES.findLast((role) => mapped.has(role));
  }
}

/** The claim at a path with dots; undefined where it is missing. */
function claimAt(claims: JWTPayload, path: string): unknown {
  return path.split(".").reduce<unknown>(ownMember, claims);
}

function ownMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A name for people: printable, of at most 128 characters. */
function displayName({ preferred_username: name, email }: JWTPayload): string | undefined {
  return [name, email].map(printable).find((text) => text !== "");
}

function printable(value: unknown): string {
  if (typeof value !== "string") return "";
  const text = value
    .slice(0, 1024)
    .replaceAll(/\p{C}/gu, "")
    .replaceAll(/\p{Z}+/gu, " ");
  return text.trim().slice(0, 128).toWellFormed();
}

function isUnknownKey(thrown: unknown): boolean {
  return thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWSSignatureVerificationFailed;
}

function unlessSignatureFailed(thrown: unknown): undefined {
  if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown;
}

function rejection(thrown: unknown): Error {
  if (isUnknownKey(thrown)) return unauthenticated("The JWT is not signed by a key of the issuer");
  if (thrown instanceof errors.JWTExpired) return unauthenticated("The JWT has expired");
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return unauthenticated(`The claim "${thrown.claim}" of the JWT is not accepted`);
  return unauthenticated("The bearer token is not a valid JWT");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
