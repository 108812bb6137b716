import type { DescMethod } from "@bufbuild/protobuf";
import { PackageService, StatusCode, type DeployClassRequest, type ReportOrigin } from "@oaas/contracts/grpc";
import { classDeploymentFromWire, faultStatus, omitUndefined, type Role } from "@oaas/contracts/rest";
import { Fault, invalidArgument } from "@oaas/foundation";
import type { ClassDeployment, Package, PackageName } from "@oaas/models";
import { bindService, type BoundService, type Call as RpcCall, type CallHead } from "@oaas/rpc";
import { actorOf, type AuditedAttempt, type AuditResult, type AuditTrail } from "../access/audit.ts";
import type { Authenticator, SentCredentials } from "../access/authenticator.ts";
import {
  assertReporter,
  assertRole,
  callerLabel,
  mayReadSecrets,
  UNKNOWN_CALLER,
  type Caller,
} from "../access/caller.ts";
import type { InboundReports } from "../status/inbound-reports.ts";
import type { Call, Deployments, RegisteredPackage, Registry } from "../use-cases.ts";
import { packageOf, packageToProto } from "./package-wire.ts";

export interface PackageServiceDeps {
  readonly registry: Registry;
  readonly deployments: Pick<Deployments, "apply">;
  readonly reports: InboundReports;
  readonly authenticate: Authenticator;
  /** Throws when the caller exceeds its rate limit. */
  readonly admit: (caller: Caller) => void;
  readonly audit: Pick<AuditTrail, "begin" | "refuse">;
}

const CHANGES: ReadonlySet<DescMethod> = new Set([
  PackageService.method.createPackage,
  PackageService.method.deletePackage,
  PackageService.method.deployClass,
]);

/** Whether the audit trail records a method. */
export function isChange(method: DescMethod): boolean {
  return CHANGES.has(method);
}

/** What the client of a call sent to authenticate. */
export function sentCredentials({ header, peer }: CallHead): SentCredentials {
  return { authorization: header("authorization"), address: peer.address, certificate: () => peer.certificate };
}

/** PackageService: the use cases of REST over gRPC, and the reports of class runtime managers. */
export function packageService(deps: PackageServiceDeps): BoundService {
  const { registry, deployments, reports } = deps;
  const authorize = async (
    call: RpcCall,
    role: Role,
    action: string,
    onCaller?: (caller: Caller) => void,
  ): Promise<Call & { readonly role: Role }> => {
    const caller = await deps.authenticate(sentCredentials(call));
    onCaller?.(caller);
    deps.admit(caller);
    assertRole(caller, role, action);
    const { correlationId, signal } = call;
    return { caller: callerLabel(caller), role: caller.role, correlationId, signal };
  };
  const authorizeReport = async (call: RpcCall, origin: ReportOrigin | undefined, action: string): Promise<void> => {
    const caller = await deps.authenticate(sentCredentials(call));
    deps.admit(caller);
    assertReporter(caller, origin?.cluster ?? "", action);
  };
  /** Serves a write and records it in the audit trail, also when it fails. */
  const change = async <T>(
    call: RpcCall,
    action: string,
    target: string,
    work: (by: Call) => Promise<T>,
  ): Promise<T> => {
    const { correlationId, peer } = call;
    let caller = UNKNOWN_CALLER;
    let end: ((result: AuditResult) => void) | undefined;
    const attempt = (): AuditedAttempt => ({ actor: actorOf(caller, peer.address), action, target, correlationId });
    try {
      const by = await authorize(call, "deployer", action, (known) => (caller = known));
      end = await deps.audit.begin(attempt());
      const result = await work(by);
      end({ status: 200 });
      return result;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      const refused = { status: faultStatus(fault), reason: fault.message };
      if (end === undefined) await deps.audit.refuse(attempt(), refused);
      else end(refused);
      throw fault;
    }
  };
  return bindService(PackageService, {
    createPackage: async ({ package: wire }, call) =>
      change(call, "createPackage", wire?.name ?? "", async (by) => {
        const { id, status, message } = await registry.register(packageOf(wire), by, {});
        return omitUndefined({ status: StatusCode.OK, packageId: id, message: message ?? status });
      }),
    getPackage: async ({ name }, call) => {
      const { role } = await authorize(call, "viewer", "getPackage");
      const { value } = await registry.get(name as PackageName);
      return { status: StatusCode.OK, package: packageToProto(readableBy(role, value)) };
    },
    listPackages: async ({ filter, limit, offset, pageToken }, call) => {
      const { role } = await authorize(call, "viewer", "listPackages");
      const page = await registry.list({
        offset,
        ...(limit === 0 ? {} : { limit }),
        ...(filter === undefined || filter === "" ? {} : { namePattern: filter }),
        ...(pageToken === undefined || pageToken === "" ? {} : { pageToken }),
      });
      return {
        status: StatusCode.OK,
        packages: page.items.map((each) => packageToProto(readableBy(role, each))),
        totalCount: page.total,
        nextPageToken: page.next ?? "",
      };
    },
    deletePackage: async ({ name, cascade }, call) =>
      change(call, "deletePackage", name, async (by) => {
        const outcome = await registry.remove(name as PackageName, by, cascade ? { cascade } : {});
        return {
          status: StatusCode.OK,
          message: outcome === "deleted" ? "deleted" : "its deployments are being deleted first",
        };
      }),
    deployClass: async (request, call) =>
      change(call, "createDeployment", `${request.packageName}.${request.classKey}`, async (by) => {
        const deployment = deploymentOf(request);
        const isKeyDerived = request.deploymentKey === undefined;
        const { id, key, status, message } = await deployments.apply({ deployment, isKeyDerived }, by, {});
        return { status: StatusCode.OK, deploymentId: key ?? id, message: message ?? status };
      }),
    reportDeploymentStatus: async (request, call) => {
      await authorizeReport(call, request.origin, "reportDeploymentStatus");
      const isNew = reports.status(request);
      return { status: StatusCode.OK, message: isNew ? "accepted" : "unchanged" };
    },
    reportRuntimeMetrics: async (request, call) => {
      await authorizeReport(call, request.origin, "reportRuntimeMetrics");
      return { status: StatusCode.OK, acceptedSamples: reports.metrics(request) };
    },
  });
}

/** The package as callers with this role may read it. */
function readableBy(role: Role, registered: RegisteredPackage): Package {
  return mayReadSecrets(role) ? registered.package : (registered.masked ?? registered).package;
}

function deploymentOf(request: DeployClassRequest): ClassDeployment {
  const { packageName, classKey, targetEnv, targetEnvs, nfrRequirements: nfr, deploymentKey, namespace } = request;
  const read = classDeploymentFromWire(
    omitUndefined({
      key: deploymentKey ?? defaultKey(packageName, classKey),
      package_name: packageName,
      class_key: classKey,
      namespace,
      target_env: targetEnv === "" ? undefined : targetEnv,
      target_envs: targetEnvs,
      nfr_requirements:
        nfr &&
        omitUndefined({
          min_throughput_rps: nfr.minThroughputRps,
          max_latency_ms: nfr.maxLatencyMs,
          availability: nfr.availability,
          cpu_utilization_target: nfr.cpuUtilizationTarget,
        }),
    }),
  );
  if (!read.ok) throw invalidArgument("the request", read.error);
  return read.value;
}

/** The key of a deployment whose request names none: that of its package and class. */
function defaultKey(packageName: string, classKey: string): string {
  return `${packageName}-${classKey}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-");
}
