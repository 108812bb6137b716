import type { DescMethod } from "@bufbuild/protobuf";
import { DeploymentService, grpcHealth, HealthService, PackageService } from "@oaas/contracts/grpc";
import { allRoutes, ROLES, type Role } from "@oaas/contracts/rest";

/** The credentials that the suite presents; `expired` and `unmapped` are JWTs of the configured issuer. */
export const CREDENTIALS = ["none", "wrong", "expired", "unmapped", "viewer", "deployer", "admin"] as const;
export type Credential = (typeof CREDENTIALS)[number];

/** The result of authentication and authorization; `served` includes errors of the operation itself. */
export type Access = "401" | "403" | "served";

/** What an operation requires: a role, or the credential of the class runtime manager of one cluster. */
export type Requirement = Role | "reporter";

/** The access to an operation with a credential. */
export function expectedAccess(role: Requirement, credential: Credential): Access {
  if (role === "public") return "served";
  if (credential === "none" || credential === "wrong" || credential === "expired") return "401";
  if (credential === "unmapped" || role === "reporter") return "403";
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

const DEPLOYER_METHODS: ReadonlySet<DescMethod> = new Set([
  DeploymentService.method.deploy,
  DeploymentService.method.deleteDeployment,
  PackageService.method.createPackage,
  PackageService.method.deletePackage,
  PackageService.method.deployClass,
]);
const REPORTER_METHODS: ReadonlySet<DescMethod> = new Set([
  PackageService.method.reportDeploymentStatus,
  PackageService.method.reportRuntimeMetrics,
]);

/** What a gRPC method requires. */
export function rpcRequirement(method: DescMethod): Requirement {
  if (method.parent === HealthService || method.parent === grpcHealth.Health) return "public";
  if (REPORTER_METHODS.has(method)) return "reporter";
  return DEPLOYER_METHODS.has(method) ? "deployer" : "viewer";
}

/** The access that a gRPC status grants. */
export function accessOfGrpcStatus(name: string): Access {
  if (name === "UNAUTHENTICATED") return "401";
  return name === "PERMISSION_DENIED" ? "403" : "served";
}
