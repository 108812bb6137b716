import { unauthenticated, type Caller } from "./caller.ts";
import { looksLikeJwt } from "./jwt.ts";
import type { OidcCallers } from "./oidc.ts";
import type { TokenTable } from "./token-file.ts";

/** Finds out who asks from the Authorization header. */
export type Authenticator = (authorization: string | undefined, address: string) => Caller | Promise<Caller>;

/** Everybody is an admin, named by where they call from. */
export function everybodyIn(): Authenticator {
  // Most requests come from where the one before came from.
  let last: { readonly address: string; readonly caller: Caller } | undefined;
  return (_, address) => {
    if (last?.address !== address) last = { address, caller: { name: `anonymous@${address}`, role: "admin" } };
    return last.caller;
  };
}

/** Bearer tokens of the table, asked for at each request because it may change, and JWTs of the issuer. */
export function bearerAuthenticator(
  tokens: () => TokenTable | undefined,
  oidc: OidcCallers | undefined,
): Authenticator {
  return (authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined)
      throw unauthenticated(
        authorization === undefined ? "No credentials were sent" : "The credentials are no bearer token",
      );
    const known = tokens()?.callerOf(token);
    if (known) return known;
    if (oidc && looksLikeJwt(token)) return oidc.callerOf(token);
    throw unauthenticated("The bearer token is unknown");
  };
}
