import type { PolicySettings } from "@oaas/nfr";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { createPolicyAutoscaler } from "@oaas/nfr/backtest";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { Autoscaler, Workload } from "@oaas/nfr/simulation";

/** CPU of a replica that serves as many requests as it can. */
const REPLICA_MILLICORES = 1000;

/** Our analyzer and enforcement policy on the replicas of a Deployment. */
export function ours(workload: Workload, settings: Partial<PolicySettings> = {}): Autoscaler {
  return createPolicyAutoscaler(workload, {
    component: "function",
    requirements: { maxLatencyMs: workload.latencyTargetMs, latencyPercentile: 95 },
    analyzer: DEFAULT_ANALYZER_SETTINGS,
    policy: { ...DEFAULT_POLICY, maxReplicas: workload.maxReplicas, ...settings },
    tickMs: 30_000,
    replicaMillicores: REPLICA_MILLICORES,
  });
}
