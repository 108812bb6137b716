import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { createPolicyAutoscaler, type PolicyAutoscalerOptions } from "@oaas/nfr/backtest";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { Autoscaler, Workload } from "@oaas/nfr/simulation";

/** CPU of a replica that serves as many requests as it can. */
const REPLICA_MILLICORES = 1000;

/** Our analyzer and enforcement policy on the replicas of a Deployment. */
export function ours(workload: Workload): Autoscaler {
  return createOurs(workload, {});
}

/** The same on the minimum of another autoscaler, and on its target in percent when it is given. */
export function oursAbove(workload: Workload, spec?: { utilization: number }): Autoscaler {
  if (spec === undefined) return createOurs(workload, { isMinimum: true });
  return createOurs(workload, {
    isMinimum: true,
    utilization: () => spec.utilization / 100,
    onDecision: (_observation, decision) => {
      const moved = decision.action === "hold" ? undefined : decision.utilization;
      if (moved !== undefined) spec.utilization = Math.round(100 * moved.to);
    },
  });
}

function createOurs(workload: Workload, options: Partial<PolicyAutoscalerOptions>): Autoscaler {
  return createPolicyAutoscaler(workload, {
    component: "function",
    requirements: { maxLatencyMs: workload.latencyTargetMs, latencyPercentile: 95 },
    analyzer: DEFAULT_ANALYZER_SETTINGS,
    policy: { ...DEFAULT_POLICY, maxReplicas: workload.maxReplicas },
    tickMs: 30_000,
    replicaMillicores: REPLICA_MILLICORES,
    ...options,
  });
}
