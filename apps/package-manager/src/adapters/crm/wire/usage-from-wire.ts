import type { GetUsageResponse } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import type { ComponentUsage, UnitId } from "@oaas/models";

/** The largest time that a date can have, in seconds. */
const MAX_SECONDS = 8.64e12;

/** The usage of components; entries without finite numbers are dropped. */
export function usageFromWire({ components }: GetUsageResponse): readonly ComponentUsage[] {
  return components
    .filter((one) =>
      [one.cpuMillicores, one.memoryBytes, one.maxCpuMillicores, one.maxMemoryBytes].every(Number.isFinite),
    )
    .map(({ deploymentId, namespace, component, pods, observedAt, ...amounts }) => {
      const seconds = Number(observedAt?.seconds ?? 0n);
      return omitUndefined({
        unitId: deploymentId as UnitId,
        namespace,
        component,
        pods,
        cpuMillicores: amounts.cpuMillicores,
        memoryBytes: amounts.memoryBytes,
        maxCpuMillicores: amounts.maxCpuMillicores,
        maxMemoryBytes: amounts.maxMemoryBytes,
        observedAt: observedAt && Math.abs(seconds) < MAX_SECONDS ? timestamp(seconds * 1000) : undefined,
      });
    });
}
