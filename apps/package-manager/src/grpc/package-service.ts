import { PackageService, StatusCode, type DeployClassRequest } from "@oaas/contracts/grpc";
import { classDeploymentFromWire, faultStatus, omitUndefined, type Role } from "@oaas/contracts/rest";
import { Fault, invalidArgument } from "@oaas/foundation";
import type { ClassDeployment, PackageName } from "@oaas/models";
import { bindService, type BoundService, type Call as RpcCall } from "@oaas/rpc";
import type { AuditTrail } from "../access/audit.ts";
import type { Authenticator } from "../access/authenticator.ts";
import { assertRole, type Caller } from "../access/caller.ts";
import type { InboundReports } from "../status/inbound-reports.ts";
import type { Call, Deployments, Registry } from "../use-cases.ts";
import { packageOf, packageToProto } from "./package-wire.ts";

export interface PackageServiceDeps {
  readonly registry: Registry;
  readonly deployments: Pick<Deployments, "apply">;
  readonly reports: InboundReports;
  readonly authenticate: Authenticator;
  /** Throws when the caller asks too often. */
  readonly admit: (caller: Caller) => void;
  readonly audit: AuditTrail;
}

/** The same use cases as REST, over gRPC, and the ear for what class runtime managers report. */
export function packageService(deps: PackageServiceDeps): BoundService {
  const { registry, deployments, reports } = deps;
  const asked = async (call: RpcCall, role: Role, action: string, known?: (name: string) => void): Promise<Call> => {
    const caller = await deps.authenticate(call.header("authorization"), call.peer.address);
    known?.(caller.name);
    deps.admit(caller);
    assertRole(caller, role, action);
    return { caller: caller.name, correlationId: call.correlationId, signal: call.signal };
  };
  /** A change leaves a line in the audit trail, carried out or not. */
  const changing = async <T>(
    call: RpcCall,
    action: string,
    target: string,
    work: (by: Call) => Promise<T>,
  ): Promise<T> => {
    let caller = "unknown";
    const told = (status: number, refused?: string): Promise<void> =>
      deps.audit.record({
        caller,
        action,
        target,
        status,
        correlationId: call.correlationId,
        ...(refused === undefined ? {} : { refused }),
      });
    try {
      const by = await asked(call, "deployer", action, (name) => (caller = name));
      const result = await work(by);
      await told(200);
      return result;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      await told(faultStatus(fault), fault.message);
      throw fault;
    }
  };
  return bindService(PackageService, {
    createPackage: async ({ package: wire }, call) =>
      changing(call, "createPackage", wire?.name ?? "", async (by) => {
        const { id, status, message } = await registry.register(packageOf(wire), by, {});
        return omitUndefined({ status: StatusCode.OK, packageId: id, message: message ?? status });
      }),
    getPackage: async ({ name }, call) => {
      await asked(call, "viewer", "getPackage");
      const { value } = await registry.get(name as PackageName);
      return { status: StatusCode.OK, package: packageToProto(value.package) };
    },
    listPackages: async ({ filter, limit, offset, pageToken }, call) => {
      await asked(call, "viewer", "listPackages");
      const page = await registry.list({
        offset,
        ...(limit === 0 ? {} : { limit }),
        ...(filter === undefined || filter === "" ? {} : { namePattern: filter }),
        ...(pageToken === undefined || pageToken === "" ? {} : { pageToken }),
      });
      return {
        status: StatusCode.OK,
        packages: page.items.map((each) => packageToProto(each.package)),
        totalCount: page.total,
        nextPageToken: page.next ?? "",
      };
    },
    deletePackage: async ({ name, cascade }, call) =>
      changing(call, "deletePackage", name, async (by) => {
        const outcome = await registry.remove(name as PackageName, by, cascade ? { cascade } : {});
        return {
          status: StatusCode.OK,
          message: outcome === "deleted" ? "deleted" : "its deployments are being deleted first",
        };
      }),
    deployClass: async (request, call) =>
      changing(call, "createDeployment", `${request.packageName}.${request.classKey}`, async (by) => {
        const deployment = deploymentOf(request);
        const isKeyMade = request.deploymentKey === undefined;
        const { id, key, status, message } = await deployments.apply({ deployment, isKeyDerived: isKeyMade }, by, {});
        return { status: StatusCode.OK, deploymentId: key ?? id, message: message ?? status };
      }),
    reportDeploymentStatus: async (request, call) => {
      await asked(call, "deployer", "reportDeploymentStatus");
      const isNews = reports.status(request);
      return { status: StatusCode.OK, message: isNews ? "taken" : "known already" };
    },
    reportRuntimeMetrics: async (request, call) => {
      await asked(call, "deployer", "reportRuntimeMetrics");
      return { status: StatusCode.OK, acceptedSamples: reports.metrics(request) };
    },
  });
}

function deploymentOf(request: DeployClassRequest): ClassDeployment {
  const { packageName, classKey, targetEnv, targetEnvs, nfrRequirements: nfr, deploymentKey } = request;
  const read = classDeploymentFromWire(
    omitUndefined({
      key: deploymentKey ?? defaultKey(packageName, classKey),
      package_name: packageName,
      class_key: classKey,
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

/** A caller that names no deployment means the one of its package and class. */
function defaultKey(packageName: string, classKey: string): string {
  return `${packageName}-${classKey}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-");
}
