import { MAX_TARGET_UTILIZATION, MIN_TARGET_UTILIZATION, START_TARGET_UTILIZATION } from "@oaas/nfr";
import type { ClassPlan, FunctionPlan } from "../plan/class-plan.ts";
import type { Manifest, WorkloadRef } from "../model/rendered.ts";
import { componentLabels } from "./labels.ts";
import { createManifest } from "./manifest.ts";
import { alwaysOnReplicas, autoscalerMaximum } from "../plan/scale.ts";

/** Target CPU utilization of a class that states none and is not enforced, as a share of the CPU request. */
const DEFAULT_CPU_TARGET = 0.7;

/**
 * Whether an autoscaler controls the replicas: the maximum is above the minimum, and the cluster supports autoscalers.
 */
export function isAutoscaled({ input }: ClassPlan, { scale }: FunctionPlan): boolean {
  const { cluster } = input;
  const max = autoscalerMaximum(scale);
  return (
    cluster.features.hpa &&
    cluster.capabilities.horizontalPodAutoscaler &&
    max !== undefined &&
    max > alwaysOnReplicas({ ...scale, min: scale.plannedMin ?? scale.min })
  );
}

/**
 * Renders the autoscaler of a function. It scales up at once and down after the window of the template. Its maximum is
 * `max_scale`, or a larger one that enforcement chose within `enforcement.max_replicas`; without a stated one it is
 * twice the replicas that the required throughput needs.
 */
export function renderAutoscaler(plan: ClassPlan, fn: FunctionPlan, target: WorkloadRef): Manifest {
  const { input, policy } = plan;
  const max = autoscalerMaximum(fn.scale);
  return createManifest(
    input,
    {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      name: fn.name,
      labels: componentLabels(input, fn.name, "function", fn.key),
    },
    {
      spec: {
        scaleTargetRef: { apiVersion: target.apiVersion, kind: target.kind, name: target.name },
        minReplicas: Math.min(alwaysOnReplicas(fn.scale), max ?? Number.POSITIVE_INFINITY),
        maxReplicas: max,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpuPercent(plan, fn) } },
          },
        ],
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 0 },
          scaleDown: { stabilizationWindowSeconds: policy.scaleDownWindowSeconds },
        },
      },
    },
  );
}

/** The target of the user, else the one that enforcement moves. */
function cpuPercent({ input }: ClassPlan, { key, requirements }: FunctionPlan): number {
  const moved = input.enforced?.get(key)?.targetUtilization ?? START_TARGET_UTILIZATION;
  const enforced = Math.min(Math.max(moved, MIN_TARGET_UTILIZATION), MAX_TARGET_UTILIZATION);
  const target = requirements.cpuTarget ?? (input.isEnforced ? enforced : DEFAULT_CPU_TARGET);
  return Math.max(1, Math.round(target * 100));
}
