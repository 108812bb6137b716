import { allRoutes, ROLES, type Role } from "@oaas/contracts/rest";

/** The credentials that the suite presents; `expired` and `unmapped` are JWTs of the configured issuer. */
export const CREDENTIALS = ["none", "wrong", "expired", "unmapped", "viewer", "deployer", "admin"] as const;
export type Credential = (typeof CREDENTIALS)[number];

/** The result of authentication and authorization; `served` includes errors of the operation itself. */
export type Access = "401" | "403" | "served";

/** The access that a role on an operation grants to a credential. */
export function expectedAccess(role: Role, credential: Credential): Access {
  if (role === "public") return "served";
  if (credential === "none" || credential === "wrong" || credential === "expired") return "401";
  if (credential === "unmapped") return "403";
  return ROLES.indexOf(credential) >= ROLES.indexOf(role) ? "served" : "403";
}

/** One operation of the REST API with the role it requires. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly role: Role;
  /** False for operations that answer 501. */
  readonly isOffered: boolean;
}

/** Every operation of the REST API. */
export function restOperations(): readonly Operation[] {
  return allRoutes().map(({ operationId: id, method, path, role, offered }) => {
    return { id, method, path, role, isOffered: offered !== false };
  });
}

/** The access that a response grants. */
export function accessOfStatus(status: number): Access {
  return status === 401 || status === 403 ? `${status}` : "served";
}
