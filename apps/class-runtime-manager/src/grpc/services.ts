import { FILE_DESCRIPTORS } from "@oaas/contracts/grpc";
import { HealthRegistry, reflectionServices, type BoundService } from "@oaas/rpc";
import { crmInfoService, type CrmInfoDeps } from "./cluster/crm-info-service.ts";
import { deploymentService, type DeploymentServiceDeps } from "./deployments/deployment-service.ts";
import { topologyService } from "./cluster/topology-service.ts";

/** Everything the gRPC services need from the process around them. */
export type GrpcServicesDeps = DeploymentServiceDeps & Omit<CrmInfoDeps, "clock">;

/** The services, ready for an `RpcServer`. */
export interface GrpcServices {
  readonly services: readonly BoundService[];
  /** Starts as not serving; set it serving when the caches are synced, and not serving when the process stops. */
  setServing(serving: boolean): void;
}

/** Every service of a class runtime manager: deployments, cluster information, topology, both healths, reflection. */
export function createGrpcServices(deps: GrpcServicesDeps): GrpcServices {
  const { clock } = deps.ambient;
  const clusterName = deps.clusterName ?? deps.namespaces.fallback;
  const own = [
    deploymentService(deps),
    crmInfoService({ ...deps, clock }),
    topologyService({ clock, directory: deps.directory, clusterName }),
  ];
  const board = new HealthRegistry();
  const bound = [...own, ...board.services()];
  const names = bound.map(({ service }) => service.typeName);
  deps.directory.onChange(() => deps.metrics.activeDeployments.set(deps.directory.size));
  const setServing = (serving: boolean): void => {
    for (const name of ["", ...own.map(({ service }) => service.typeName)]) {
      board.set(name, serving ? "serving" : "not-serving");
    }
  };
  setServing(false);
  return { services: [...bound, ...reflectionServices(FILE_DESCRIPTORS, names)], setServing };
}
