import type { DescMethod } from "@bufbuild/protobuf";
import {
  DeploymentService,
  grpcHealth,
  grpcReflection,
  grpcReflectionAlpha,
  HealthService,
  METADATA_KEYS,
  StateStoreService,
} from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { rulesOfCertificate, type CallHead, type ClientName } from "@oaas/rpc";
import { ROLES, type AccessToken, type Role } from "../../setting-kinds.ts";

/** An authenticated caller. */
interface Caller {
  readonly name: string;
  readonly role: Role;
}

/** Accepted credentials. Everything configured is required: with both, callers need a certificate and a token. */
export interface Credentials {
  /** Accepted client certificates, which the TLS layer verified; undefined without mutual TLS. */
  readonly clientNames?: readonly ClientName<Role>[] | undefined;
  /** Read for each call, so that a rotated token is valid at once. Empty if none are configured. */
  readonly tokens: () => readonly AccessToken[];
}

const HEALTH: ReadonlySet<string> = new Set([grpcHealth.Health.typeName, HealthService.typeName]);
const REFLECTION: ReadonlySet<string> = new Set([
  grpcReflection.ServerReflection.typeName,
  grpcReflectionAlpha.ServerReflection.typeName,
]);

const CHANGES: ReadonlySet<DescMethod> = new Set([
  DeploymentService.method.deploy,
  DeploymentService.method.deleteDeployment,
  StateStoreService.method.setStateObject,
  StateStoreService.method.deleteStateObject,
  StateStoreService.method.grantRestart,
]);

/** Output and objects may contain secrets, and a function may do anything when it is invoked. */
const FOR_DEPLOYERS: ReadonlySet<DescMethod> = new Set([
  DeploymentService.method.streamLogs,
  DeploymentService.method.invokeFunction,
  StateStoreService.method.getStateObject,
]);

/** Whether a method changes the cluster. */
export function isChange(method: DescMethod): boolean {
  return CHANGES.has(method);
}

/**
 * Returns the name of the caller of a method, or throws. Health needs no credentials, reflection no token. Reads need
 * the role viewer; changes, output of functions, the contents of objects and invocations need deployer.
 */
export function authorizeCall(method: DescMethod, head: CallHead, credentials: Credentials): string | undefined {
  const service = method.parent.typeName;
  if (HEALTH.has(service)) return undefined;
  const tokens = REFLECTION.has(service) ? () => [] : credentials.tokens;
  return authorizeRole(isChange(method) || FOR_DEPLOYERS.has(method) ? "deployer" : "viewer", method.name, head, {
    ...credentials,
    tokens,
  });
}

/** Returns the name of a caller that has this role, or throws; undefined if no credentials are configured. */
export function authorizeRole(
  role: Role,
  action: string,
  head: CallHead,
  { clientNames, tokens }: Credentials,
): string | undefined {
  const accepted = tokens();
  const callers = [
    ...(clientNames === undefined ? [] : [certificateCaller(head, clientNames)]),
    ...(accepted.length === 0 ? [] : [tokenCaller(head, accepted)]),
  ];
  for (const caller of callers) assertRole(caller, role, action);
  return callers.length === 0 ? undefined : callers.map(({ name }) => name).join(" with ");
}

function assertRole(caller: Caller, role: Role, action: string): void {
  if (ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return;
  const message = `${caller.name} is a ${caller.role}; ${action} needs the role ${role}`;
  throw new Fault({ kind: "permission-denied", action }, message);
}

/** The caller with the highest role that a name of the certificate has. */
function certificateCaller({ peer }: CallHead, clientNames: readonly ClientName<Role>[]): Caller {
  const { certificate } = peer;
  if (!certificate) throw new Fault({ kind: "unauthenticated" }, "connect with a client certificate");
  const rules = rulesOfCertificate(clientNames, certificate);
  const best = rules.toSorted((a, b) => ROLES.indexOf(b.role) - ROLES.indexOf(a.role))[0];
  const own = certificate.names.join(", ") || "a certificate without a name";
  if (best) return { name: best.name === "*" ? own : best.name, role: best.role };
  throw new Fault(
    { kind: "permission-denied", action: "connect" },
    `the client certificate (${own}) is not listed in OPRC_CRM_SECURITY_TLS_CLIENT_NAMES`,
  );
}

function tokenCaller({ header }: CallHead, accepted: readonly AccessToken[]): Caller {
  const sent = /^bearer +(\S+)$/i.exec(header(METADATA_KEYS.authorization) ?? "")?.[1];
  if (sent === undefined) {
    throw new Fault({ kind: "unauthenticated" }, "send a bearer token in the authorization header");
  }
  const found = accepted.find(({ token }) => isSameText(token, sent));
  if (!found) throw new Fault({ kind: "unauthenticated" }, "the bearer token is not valid");
  return found;
}

/** Compares in a time that depends only on the length of `sent`, so that it reveals nothing about the secret. */
function isSameText(secret: string, sent: string): boolean {
  let difference = secret.length ^ sent.length;
  for (let at = 0; at < sent.length; at += 1) {
    difference |= sent.charCodeAt(at) ^ secret.charCodeAt(at % Math.max(1, secret.length));
  }
  return difference === 0;
}
