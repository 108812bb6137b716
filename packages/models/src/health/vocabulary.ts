import type { ClusterStatus } from "../observed/cluster.ts";
import type { DeploymentCondition, LifecyclePhase, RevisionOutcome } from "./condition.ts";

/** A word of the health vocabulary, for documentation and screens. */
export interface HealthWord {
  readonly meaning: string;
  /** `good` is normal, `bad` needs action, `moving` changes by itself or is unknown. */
  readonly tone: "good" | "moving" | "bad";
}

/** Conditions of deployments, units and functions. */
export const CONDITION_WORDS = {
  pending: { tone: "moving", meaning: "The package manager has accepted it; no cluster has." },
  deploying: { tone: "moving", meaning: "A cluster starts it, updates it or scales it." },
  running: { tone: "good", meaning: "The desired revision serves with all replicas." },
  degraded: {
    tone: "bad",
    meaning:
      "It serves, but not as desired: an earlier revision serves, replicas or a component failed, or a cluster is down or unreachable.",
  },
  down: { tone: "bad", meaning: "Nothing serves." },
  deleted: { tone: "moving", meaning: "It is being deleted." },
  unknown: { tone: "moving", meaning: "No cluster has reported it, or the cluster is unreachable." },
} as const satisfies Record<DeploymentCondition, HealthWord>;

/** Health of clusters. */
export const CLUSTER_WORDS = {
  healthy: { tone: "good", meaning: "Its class runtime manager answers, and at least half of its nodes are ready." },
  degraded: { tone: "bad", meaning: "Its class runtime manager answers, and less than half of its nodes are ready." },
  unhealthy: { tone: "bad", meaning: "Its class runtime manager does not answer, or reports that it is not ready." },
  unknown: { tone: "moving", meaning: "It has never answered." },
} as const satisfies Record<ClusterStatus, HealthWord>;

/** Outcomes in the history of a deployment. */
export const OUTCOME_WORDS = {
  accepted: { tone: "moving", meaning: "Recorded; the clusters have not reported a result yet." },
  running: { tone: "good", meaning: "It ran in all its clusters. Final: later faults show in the status." },
  degraded: {
    tone: "bad",
    meaning: "It never ran completely; an earlier revision or a part of it serves. It becomes Running if it recovers.",
  },
  failed: {
    tone: "bad",
    meaning: "A cluster did not accept it, or nothing serves. It becomes Running if it recovers.",
  },
  "rolled-back": { tone: "bad", meaning: "The roll-out failed and the package manager restored the revision before." },
  cancelled: { tone: "bad", meaning: "The roll-out was cancelled and the revision before was restored." },
  superseded: { tone: "moving", meaning: "A newer revision replaced it before the clusters reported a result." },
} as const satisfies Record<RevisionOutcome, HealthWord>;

/** Phases of a ClassRuntime object in its cluster. */
export const PHASE_WORDS = {
  pending: { tone: "moving", meaning: "Not reconciled yet." },
  applying: { tone: "moving", meaning: "Its objects are being created." },
  progressing: { tone: "moving", meaning: "Its objects exist and are not all ready." },
  available: { tone: "good", meaning: "Everything is ready." },
  degraded: { tone: "bad", meaning: "A fault was found; the condition Available shows whether it serves." },
  deleting: { tone: "moving", meaning: "Its objects are being deleted." },
} as const satisfies Record<LifecyclePhase, HealthWord>;
