import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { textAt } from "../../kinds/json-access.ts";

export const ISSUER = "https://kubernetes.default.svc";
const HEADER = encodeSegment({ alg: "HS256" });

/** The service account of a token. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface IssuedToken extends TokenSubject {
  readonly tokenId: string;
  readonly audiences: readonly string[];
  /** In milliseconds. */
  readonly expiresAt: number;
}

/**
 * Service account tokens in the real server's form (JWT), signed with a key of this server. The real server uses a
 * private key, so that others can verify its tokens; here only this server verifies them.
 */
export class ServiceAccountTokens {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  issue({ namespace, name, uid, tokenId, audiences, expiresAt }: IssuedToken, now: number): string {
    const issued = Math.floor(now / 1000);
    const claims = {
      aud: [...audiences],
      exp: Math.floor(expiresAt / 1000),
      iat: issued,
      iss: ISSUER,
      jti: tokenId,
      "kubernetes.io": { namespace, serviceaccount: { name, uid } },
      nbf: issued,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const signingInput = `${HEADER}.${encodeSegment(claims)}`;
    return `${signingInput}.${this.#sign(signingInput)}`;
  }

  /** The claims of a valid, unexpired token of this server. The caller checks whether its account still exists. */
  read(token: string, now: number): IssuedToken | undefined {
    const [header, body = "", signature = ""] = token.split(".");
    if (header !== HEADER || !equalsConstantTime(signature, this.#sign(`${HEADER}.${body}`))) return undefined;
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as JsonObject;
    const expiresAt = Number(claims["exp"]) * 1000;
    const inner = claims["kubernetes.io"];
    const account = isJsonObject(inner) && isJsonObject(inner["serviceaccount"]) ? inner["serviceaccount"] : {};
    if (!isJsonObject(inner) || now >= expiresAt || now < Number(claims["nbf"]) * 1000) return undefined;
    const audiences = Array.isArray(claims["aud"]) ? claims["aud"].map(String) : [];
    return {
      namespace: textAt(inner, "namespace"),
      name: textAt(account, "name"),
      uid: textAt(account, "uid"),
      tokenId: textAt(claims, "jti"),
      audiences,
      expiresAt,
    };
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}

function encodeSegment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Compares in constant time. */
function equalsConstantTime(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
