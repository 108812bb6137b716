import { FILE_DESCRIPTORS } from "@oaas/contracts/grpc";
import { HealthRegistry, reflectionServices, type BoundService } from "@oaas/rpc";
import { crmInfoService, type CrmInfoDeps } from "./cluster/crm-info-service.ts";
import { inspectionService, type InspectionDeps } from "./inspection/inspection-service.ts";
import { deploymentService, type DeploymentServiceDeps } from "./deployments/deployment-service.ts";
import { stateService } from "./state/state-service.ts";
import type { GrantRestartDeps } from "./state/grant-restart.ts";
import type { StateObjectDeps } from "./state/state-objects.ts";
import { topologyService } from "./cluster/topology-service.ts";

/** Dependencies of the gRPC services. */
export type GrpcServicesDeps = DeploymentServiceDeps &
  Omit<CrmInfoDeps, "clock"> & {
    readonly inspection: Omit<InspectionDeps, "clock">;
    readonly state: Omit<StateObjectDeps & GrantRestartDeps, "ambient" | "clock">;
  };

/** The services of an `RpcServer`. */
export interface GrpcServices {
  readonly services: readonly BoundService[];
  /** Sets the health of all services. They start as not serving. */
  setServing(serving: boolean): void;
}

/**
 * Creates the services of a class runtime manager: deployments, inspection, objects, cluster information,
 * topology, health and reflection.
 */
export function createGrpcServices(deps: GrpcServicesDeps): GrpcServices {
  const { clock } = deps.ambient;
  const clusterName = deps.clusterName ?? deps.namespaces.fallback;
  const own = [
    deploymentService(deps),
    inspectionService(deps, { ...deps.inspection, clock }),
    stateService(deps, { ...deps.state, ambient: deps.ambient, clock }),
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
