import { COUNT_RANGE, type ComponentUsage, type UnitId } from "@oaas/models";
import { integer, number, optional, required, resource, string, timestamp } from "../../reading/resource.ts";

/** The present usage of one component in a cluster. */
export const componentUsage = resource<ComponentUsage>()({
  unitId: required("unit_id", "Deployment unit id.", string<UnitId>()),
  namespace: required("namespace", "Namespace of the pods.", string()),
  component: required("component", "Function key, or `odgm`.", string()),
  pods: required("pods", "Pods with measurements.", integer(COUNT_RANGE)),
  cpuMillicores: required("cpu_millicores", "CPU of all pods, in thousandths of a CPU.", number()),
  memoryBytes: required("memory_bytes", "Memory of all pods, in bytes.", number()),
  maxCpuMillicores: required("max_cpu_millicores", "CPU of the busiest pod.", number()),
  maxMemoryBytes: required("max_memory_bytes", "Memory of the largest pod.", number()),
  observedAt: optional("observed_at", "Time of the oldest measurement.", timestamp()),
});
