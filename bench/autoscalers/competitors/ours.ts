import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { createPolicyAutoscaler } from "@oaas/nfr/backtest";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { Autoscaler, Workload } from "@oaas/nfr/simulation";

/** CPU of a replica that serves as many requests as it can. */
const REPLICA_MILLICORES = 1000;

/** Our analyzer and enforcement policy on the replicas of a Deployment. */
export function ours(workload: Workload): Autoscaler {
  return createOurs(workload, false);
}

/** The same on the minimum of another autoscaler. */
export function oursAsMinimum(workload: Workload): Autoscaler {
  return createOurs(workload, true);
}

function createOurs(workload: Workload, isMinimum: boolean): Autoscaler {
  return createPolicyAutoscaler(workload, {
    component: "function",
    requirements: { maxLatencyMs: workload.latencyTargetMs, latencyPercentile: 95 },
    analyzer: DEFAULT_ANALYZER_SETTINGS,
    policy: { ...DEFAULT_POLICY, maxReplicas: workload.maxReplicas },
    tickMs: 30_000,
    replicaMillicores: REPLICA_MILLICORES,
    isMinimum,
  });
}
