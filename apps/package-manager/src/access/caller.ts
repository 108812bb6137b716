import { Fault } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";

/** An authenticated caller. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Throws permission-denied unless the caller has this role or a higher one. */
export function assertRole(caller: Caller, role: Role, action: string): void {
  if (ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return;
  throw new Fault(
    { kind: "permission-denied", action },
    `${caller.name} is a ${caller.role}; ${action} needs the role ${role}`,
  );
}

/** The fault of a request without valid credentials. */
export function unauthenticated(why: string): Fault {
  return new Fault({ kind: "unauthenticated" }, `${why}. Send "Authorization: Bearer <token>".`);
}
