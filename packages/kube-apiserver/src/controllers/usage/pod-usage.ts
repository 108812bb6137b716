import { quantity } from "../objects/pods.ts";
import { epochMs } from "../objects/time.ts";
import type { Pod } from "../objects/typed.ts";

/** The annotations of KWOK, with quantities: the usage of each container of a pod. */
export const USAGE_ANNOTATIONS = { cpu: "kwok.x-k8s.io/usage-cpu", memory: "kwok.x-k8s.io/usage-memory" } as const;

/** How a metrics server averages: a pod has metrics after it ran for one window. */
export const METRICS_WINDOW_MS = 15_000;

/** What a pod uses. */
export interface Usage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/** The usage of a pod; undefined where nothing is known. Annotations of the pod take precedence. */
export type UsageSource = (pod: Pod) => Usage | undefined;

export interface ContainerUsage extends Usage {
  readonly container: string;
}

/** The usage of KWOK without an annotation. */
const IDLE: Usage = { cpuMillicores: 1, memoryBytes: 1_048_576 };

/** The usage of each container of a pod that has run for one window. */
export function containerUsages(pod: Pod, source: UsageSource, now: number): readonly ContainerUsage[] | undefined {
  if (!isMeasured(pod, now)) return undefined;
  const { annotations = {} } = pod.metadata;
  const measured = source(pod);
  return (pod.spec?.containers ?? []).map(({ name }, index) => {
    // The source knows pods: their first container does the work.
    const { cpuMillicores, memoryBytes } = index === 0 ? (measured ?? IDLE) : IDLE;
    return {
      container: name,
      cpuMillicores: annotated(annotations[USAGE_ANNOTATIONS.cpu], 1e6) ?? cpuMillicores,
      memoryBytes: annotated(annotations[USAGE_ANNOTATIONS.memory], 1e9) ?? memoryBytes,
    };
  });
}

function isMeasured(pod: Pod, now: number): boolean {
  const since = epochMs(pod.status?.containerStatuses?.[0]?.state.running?.startedAt ?? pod.status?.startTime);
  return pod.status?.phase === "Running" && since !== undefined && since + METRICS_WINDOW_MS <= now;
}

function annotated(text: string | undefined, nanoPerUnit: number): number | undefined {
  return text === undefined ? undefined : Math.round(Number(quantity(text).nano) / nanoPerUnit);
}
