import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentUsageSchema } from "@oaas/contracts/grpc";
import { parseQuantity } from "@oaas/kube-core";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import { COMPONENT_LABEL, FUNCTION_LABEL } from "../../templates/index.ts";
import { functionOfLabel } from "../functions/class-functions.ts";

/** The usage of one pod, as the metrics API returns it. */
export interface PodMetrics {
  readonly timestamp?: string;
  readonly containers?: readonly { readonly usage?: { readonly cpu?: string; readonly memory?: string } }[];
}

type ComponentUsage = MessageInitShape<typeof ComponentUsageSchema>;

interface PodUsage {
  readonly component: string;
  readonly millicores: number;
  readonly bytes: number;
  readonly atMs: number;
}

/** Sums up the usage of the pods of a class by component; pods without measurement are left out. */
export function usageOfClass(
  object: StoredClass,
  pods: readonly Pod[],
  metricsOf: (podName: string) => PodMetrics | undefined,
): readonly ComponentUsage[] {
  const byComponent = Map.groupBy(
    pods.flatMap((pod) => usageOfPod(object, pod, metricsOf(pod.metadata.name ?? ""))),
    ({ component }) => component,
  );
  return [...byComponent]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([component, usages]) => {
      const atMs = Math.min(...usages.map((one) => one.atMs));
      return {
        deploymentId: deploymentIdOf(object),
        namespace: object.metadata.namespace ?? "",
        component,
        pods: usages.length,
        cpuMillicores: sum(usages.map(({ millicores }) => millicores)),
        memoryBytes: sum(usages.map(({ bytes }) => bytes)),
        maxCpuMillicores: Math.max(...usages.map(({ millicores }) => millicores)),
        maxMemoryBytes: Math.max(...usages.map(({ bytes }) => bytes)),
        ...(Number.isNaN(atMs)
          ? {}
          : { observedAt: { seconds: BigInt(Math.floor(atMs / 1000)), nanos: (atMs % 1000) * 1_000_000 } }),
      };
    });
}

function usageOfPod(object: StoredClass, { metadata }: Pod, metrics: PodMetrics | undefined): readonly PodUsage[] {
  const label = metadata.labels?.[FUNCTION_LABEL];
  const component = label === undefined ? metadata.labels?.[COMPONENT_LABEL] : functionOfLabel(object, label);
  if (metrics === undefined || component === undefined) return [];
  const containers = metrics.containers ?? [];
  return [
    {
      component,
      millicores: sum(containers.map(({ usage }) => amountOf(usage?.cpu) * 1000)),
      bytes: sum(containers.map(({ usage }) => amountOf(usage?.memory))),
      atMs: Date.parse(metrics.timestamp ?? ""),
    },
  ];
}

/** A quantity as a number; 0 for text that is not a quantity. */
function amountOf(text = "0"): number {
  const parsed = parseQuantity(text);
  return parsed.ok ? Number(parsed.value.nano) / 1e9 : 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
