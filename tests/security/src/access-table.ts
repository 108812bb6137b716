import type { DescMethod } from "@bufbuild/protobuf";
import { DeploymentService, grpcHealth, HealthService, PackageService, StateStoreService } from "@oaas/contracts/grpc";
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

/** The verbs that the suite sends to every path. */
export const VERBS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export type Verb = (typeof VERBS)[number];

/** A path of a port without roles. Every other verb and path is answered with an error, whatever the credential. */
export interface PlainRoute {
  readonly path: string;
  readonly verbs: readonly Verb[];
  readonly requires: "public" | "secret";
}

/** The separate port of both managers for metrics (METRICS_PORT, OPRC_CRM_METRICS_PORT). It ignores credentials. */
export const METRICS_ROUTES: readonly PlainRoute[] = [{ path: "/metrics", verbs: ["GET"], requires: "public" }];

/** Credentials of the status page of the local stack; `secret` is the one in the stack's state file. */
export const STACK_CREDENTIALS = ["none", "wrong", "secret"] as const;
export type StackCredential = (typeof STACK_CREDENTIALS)[number];

/** The status page of the local stack. */
export const STACK_ROUTES: readonly PlainRoute[] = [
  ...["/", "/health", "/healthz", "/readyz", "/metrics"].map((path): PlainRoute => {
    return { path, verbs: ["GET", "HEAD"], requires: "public" };
  }),
  ...["/control/break", "/control/restore", "/control/stop"].map((path): PlainRoute => {
    return { path, verbs: ["POST"], requires: "secret" };
  }),
];

/** The access to a verb of the status page that its path offers. */
export function expectedStackAccess({ requires }: PlainRoute, credential: StackCredential): Access {
  return requires === "public" || credential === "secret" ? "served" : "401";
}

const DEPLOYER_METHODS: ReadonlySet<DescMethod> = new Set([
  DeploymentService.method.deploy,
  DeploymentService.method.deleteDeployment,
  DeploymentService.method.streamLogs,
  DeploymentService.method.invokeFunction,
  StateStoreService.method.getStateObject,
  StateStoreService.method.setStateObject,
  StateStoreService.method.deleteStateObject,
  StateStoreService.method.grantRestart,
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
