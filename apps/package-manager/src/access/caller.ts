import { Fault } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";
import type { ClusterName } from "@oaas/models";

/** An authenticated caller. */
export interface Caller {
  /** For people. The user may have chosen it when `oidc` is set. */
  readonly name: string;
  readonly role: Role;
  /** The identity of a caller with a JWT. */
  readonly oidc?: { readonly issuer: string; readonly subject: string };
  /** The cluster whose class runtime manager the caller is; `any` without authentication. */
  readonly reportsFor?: ClusterName | "any";
  /** When a JWT expires, in epoch milliseconds. */
  readonly expiresAtMs?: number;
  /** Why a caller with the role `public` has no other role. */
  readonly withoutRole?: string;
}

/** The caller of a call without valid credentials. */
export const UNKNOWN_CALLER: Caller = { name: "unknown", role: "public" };

/**
 * Identifies the caller, for limits and idempotency keys. Names of the token file contain no colon, so that they never equal the id of
 * a JWT.
 */
export function callerId({ name, oidc }: Caller): string {
  return oidc === undefined ? name : `${oidc.issuer}#${oidc.subject}`;
}

/** Shows the caller in messages and histories: the subject of a JWT before the name that its user may have chosen. */
export function callerLabel({ name, oidc }: Caller): string {
  return oidc === undefined || oidc.subject === name ? name : `${oidc.subject} (${name})`;
}

/** Throws permission-denied unless the caller has this role or a higher one. */
export function assertRole(caller: Caller, role: Role, action: string): void {
  if (ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return;
  const has = caller.withoutRole === undefined ? `is a ${caller.role}` : `has no role, because ${caller.withoutRole}`;
  throw new Fault(
    { kind: "permission-denied", action },
    `${callerLabel(caller)} ${has}; ${action} needs the role ${role}`,
  );
}

/** Throws permission-denied unless the credential of the caller is bound to this cluster. */
export function assertReporter(caller: Caller, cluster: string, action: string): void {
  if (caller.reportsFor === "any" || caller.reportsFor === cluster) return;
  throw new Fault(
    { kind: "permission-denied", action },
    `${callerLabel(caller)} may not report for cluster "${cluster}"; ${action} needs a token of the role reporter@${cluster}, or a certificate that OPRC_PM_SECURITY_GRPC_TLS_REPORTERS lists for it`,
  );
}

/** Whether a role may read secrets in settings. */
export function mayReadSecrets(role: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf("deployer");
}

/** The fault of a request without valid credentials. */
export function unauthenticated(why: string): Fault {
  return new Fault({ kind: "unauthenticated" }, `${why}. Send "Authorization: Bearer <token>".`);
}
