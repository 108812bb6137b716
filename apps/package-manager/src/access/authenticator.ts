import { ROLES, type Role } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { rulesOfCertificate, type ClientName, type PeerCertificate } from "@oaas/rpc";
import { unauthenticated, type Caller } from "./caller.ts";
import { looksLikeJwt, type OidcCallers } from "./oidc.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { TokenTable } from "./token-file.ts";

/** What a client sent to authenticate. */
export interface SentCredentials {
  readonly authorization: string | undefined;
  readonly address: string;
  /** The verified client certificate, if there is one. */
  readonly certificate: () => PeerCertificate | undefined;
  /** The secret in the cookie of a browser that has signed in. */
  readonly session?: string | undefined;
}

/** Resolves the caller of a request; throws unauthenticated. */
export type Authenticator = (sent: SentCredentials) => Promise<Caller>;

/** Accepts every caller as admin, named by its address. */
export function acceptEveryCaller(): Authenticator {
  return async ({ address }) => ({ name: `anonymous@${address}`, role: "admin", reportsFor: "any" });
}

/** Accepts the tokens of the table, which may change between requests, the JWTs of the issuer, and sessions. */
export function bearerAuthenticator(
  tokens: () => TokenTable | undefined,
  oidc: Pick<OidcCallers, "callerOf"> | undefined,
  sessions?: Pick<Sessions, "find">,
): Authenticator {
  return async ({ authorization, session }) => {
    if (authorization === undefined && session !== undefined && sessions !== undefined)
      return (await sessions.find(session)).caller;
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

/**
 * Accepts client certificates with a listed name. With `bearer`, a token is required too: it names the caller, and the
 * lower role of both applies.
 */
export function certificateAuthenticator(
  clientNames: readonly ClientName<Role>[],
  bearer: Authenticator | undefined,
): Authenticator {
  return async (sent) => {
    const own = certificateCaller(sent.certificate(), clientNames);
    if (bearer === undefined) return own;
    const caller = await bearer(sent);
    return rankOf(caller) <= rankOf(own) ? caller : { ...caller, role: own.role };
  };
}

/** A cluster for which client certificates with a name may report. */
export interface Reporter {
  readonly name: string;
  readonly cluster: string;
}

/**
 * Accepts class runtime managers by their client certificate, for reports of their cluster and nothing else. A client that
 * sends a token, or has another name, authenticates with `next`.
 */
export function reporterAuthenticator(reporters: readonly Reporter[], next: Authenticator): Authenticator {
  return async (sent) => {
    const names = sent.authorization === undefined ? (sent.certificate()?.names ?? []) : [];
    const reporter = reporters.find(({ name }) => names.includes(name));
    if (reporter === undefined) return next(sent);
    return { name: reporter.name, role: "public", reportsFor: reporter.cluster as ClusterName };
  };
}

/** The caller with the highest role that a name of the certificate has. */
function certificateCaller(certificate: PeerCertificate | undefined, rules: readonly ClientName<Role>[]): Caller {
  if (!certificate) throw new Fault({ kind: "unauthenticated" }, "Connect with a client certificate.");
  const [best] = rulesOfCertificate(rules, certificate).toSorted((a, b) => rankOf(b) - rankOf(a));
  const names = certificate.names.join(", ") || "a certificate without a name";
  if (best) return { name: best.name === "*" ? names : best.name, role: best.role };
  throw new Fault(
    { kind: "permission-denied", action: "connect" },
    `The client certificate (${names}) is not listed in OPRC_PM_SECURITY_TLS_CLIENT_NAMES.`,
  );
}

function rankOf({ role }: { readonly role: Role }): number {
  return ROLES.indexOf(role);
}
