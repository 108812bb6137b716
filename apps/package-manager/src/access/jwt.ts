import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { unauthenticated } from "./caller.ts";

/** A key of an issuer. */
export type IssuerKey = JsonWebKey & { readonly kid?: string; readonly alg?: string; readonly use?: string };

export interface Jwt {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown };
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
  try {
    return {
      header: JSON.parse(Buffer.from(header, "base64url").toString()) as Jwt["header"],
      claims: JSON.parse(Buffer.from(payload, "base64url").toString()) as Jwt["claims"],
      signed: Buffer.from(`${header}.${payload}`),
      signature: Buffer.from(signature, "base64url"),
    };
  } catch {
    throw unauthenticated("The bearer token is no JWT");
  }
}

/** Whether one of these keys signed it. */
export function isSignedBy({ header, signed, signature }: Jwt, keys: readonly IssuerKey[]): boolean {
  const algorithm =
    typeof header.alg === "string" && Object.hasOwn(ALGORITHMS, header.alg) ? ALGORITHMS[header.alg] : undefined;
  if (!algorithm) return false;
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
