import { unauthenticated, type Caller } from "./caller.ts";

import { looksLikeJwt, type OidcCallers } from "./oidc.ts";
import type { TokenTable } from "./token-file.ts";

/** Resolves the caller from the Authorization header; throws unauthenticated. */
export type Authenticator = (authorization: string | undefined, address: string) => Promise<Caller>;

/** Accepts every caller as admin, named by its address. */
export function acceptEveryCaller(): Authenticator {
  return async (_, address) => ({ name: `anonymous@${address}`, role: "admin", reportsFor: "any" });
}

/** Accepts the tokens of the table, which may change between requests, and the JWTs of the issuer. */
export function bearerAuthenticator(
  tokens: () => TokenTable | undefined,
  oidc: OidcCallers | undefined,
): Authenticator {
  return async (authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined)
      throw unauthenticated(
        authorization === undefined ? "No credentials were sent" : "The credentials are not a bearer token",
      );
    const known = tokens()?.callerOf(token);
    if (known) return known;
    if (oidc && looksLikeJwt(token)) return oidc.callerOf(token);
    throw unauthenticated("The bearer token is unknown");
  };
}
