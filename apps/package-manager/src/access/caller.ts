import { Fault } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";

/** Who asks. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Throws permission-denied unless the caller's role is the one asked for or a higher one. */
export function assertRole(caller: Caller, role: Role, action: string): void {
  if (ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return;
  throw new Fault(
    { kind: "permission-denied", action },
    `${caller.name} is a ${caller.role}; ${action} needs the role ${role}`,
  );
}

/** Thrown to whoever does not prove who they are. */
export function unauthenticated(why: string): Fault {
  return new Fault({ kind: "unauthenticated" }, `${why}. Send "Authorization: Bearer <token>".`);
}
