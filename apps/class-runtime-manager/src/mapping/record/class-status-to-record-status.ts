import type { ClassRuntimeStatus, DeploymentRecordStatus } from "@oaas/contracts/crd";

type ContainerStatus = NonNullable<DeploymentRecordStatus["function_container_status"]>[number];

/** The status of a record: that of its class runtime, and each function in the older words. */
export function classStatusToRecordStatus(status: ClassRuntimeStatus): DeploymentRecordStatus {
  if (status.functions === undefined) return status;
  const store = status.odgm_cluster_status;
  return {
    ...status,
    function_container_status: status.functions.map(
      ({ function_key, ready, ready_replicas: running = 0 }): ContainerStatus => ({
        function_key,
        container_status: ready === true || running > 0 ? "Running" : "Waiting",
        health_status: ready === undefined ? "unknown" : ready ? "healthy" : "degraded",
        ...(store === undefined ? {} : { odgm_connection_status: store.ready === true ? "Available" : "Unavailable" }),
      }),
    ),
  };
}
