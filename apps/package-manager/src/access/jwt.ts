import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { unauthenticated } from "./caller.ts";

/** A key of an issuer. */
export type IssuerKey = JsonWebKey & { readonly kid?: string; readonly alg?: string; readonly use?: string };

export interface Jwt {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown; readonly crit?: unknown };
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

interface Algorithm {
  readonly hash: string | null;
  readonly keyType: string;
  readonly options: Readonly<Record<string, unknown>>;
}

const PSS_PADDING = 6;
const SALT_AS_DIGEST = -1;

/** Signatures that prove something; `none` and shared secrets do not. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = Object.fromEntries([
  ...["256", "384", "512"].flatMap((bits): [string, Algorithm][] => [
    [`RS${bits}`, { hash: `sha${bits}`, keyType: "RSA", options: {} }],
    [
      `PS${bits}`,
      { hash: `sha${bits}`, keyType: "RSA", options: { padding: PSS_PADDING, saltLength: SALT_AS_DIGEST } },
    ],
    [`ES${bits}`, { hash: `sha${bits}`, keyType: "EC", options: { dsaEncoding: "ieee-p1363" } }],
  ]),
  ["EdDSA", { hash: null, keyType: "OKP", options: {} }],
]);

/** Whether a bearer token has the form of a JWT. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** Takes a JWT apart without believing it; throws unauthenticated when it is none. */
export function parseJwt(token: string): Jwt {
  const [header = "", payload = "", signature = ""] = token.split(".");
  return {
    header: objectIn(header),
    claims: objectIn(payload),
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, "base64url"),
  };
}

function objectIn(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw unauthenticated("The bearer token is no JWT");
}

/** The keys in a key set; what is none is left out, for an issuer may know of kinds that we do not. */
export function keysIn(set: readonly unknown[]): readonly IssuerKey[] {
  return set.filter(isObject);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether one of these keys signed it. */
export function isSignedBy({ header, signed, signature }: Jwt, keys: readonly IssuerKey[]): boolean {
  const algorithm =
    typeof header.alg === "string" && Object.hasOwn(ALGORITHMS, header.alg) ? ALGORITHMS[header.alg] : undefined;
  // Extensions that must be understood are not: what they change about the signature or the claims is unknown here.
  if (!algorithm || header.crit !== undefined) return false;
  return keys
    .filter(
      ({ kid, kty, use }) =>
        kty === algorithm.keyType && use !== "enc" && (header.kid === undefined || kid === header.kid),
    )
    .some((key) => {
      try {
        const publicKey = createPublicKey({ key, format: "jwk" });
        return verify(algorithm.hash, signed, { key: publicKey, ...algorithm.options }, signature);
      } catch {
        return false;
      }
    });
}
