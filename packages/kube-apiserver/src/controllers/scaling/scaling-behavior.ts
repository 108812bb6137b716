import {
  followRecommendation,
  type HpaBehavior,
  type HpaLimit,
  type HpaMemory,
  type HpaSpec,
} from "@oaas/kube-core/autoscaling";

export interface NormalizationInput {
  /** Without it the older rules apply: down after five minutes, up to double or four replicas. */
  readonly behavior?: HpaBehavior | undefined;
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly memory: HpaMemory;
  readonly now: number;
}

/** A reason with its message, as in a condition. */
export interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface Normalization {
  readonly replicas: number;
  readonly stabilized: number;
  /** Why the recommendation was stabilized; undefined when it was not. */
  readonly stabilization?: Reason;
  /** Why the count is limited, or that it is not. */
  readonly limit: Reason & { readonly isLimited: boolean };
  readonly memory: HpaMemory;
}

const UP_STABILIZED: Reason = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const DOWN_STABILIZED: Reason = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};

const WITHIN_RANGE: Reason = {
  reason: "DesiredWithinRange",
  message: "the desired count is within the acceptable range",
};

const LIMITS: Readonly<Record<HpaLimit, string>> = {
  TooManyReplicas: "the desired replica count is more than the maximum replica count",
  TooFewReplicas: "the desired replica count is less than the minimum replica count",
  ScaleUpLimit: "the desired replica count is increasing faster than the maximum scale rate",
  ScaleDownLimit: "the desired replica count is decreasing faster than the maximum scale rate",
};

/** Stabilizes and limits a recommendation, as the controller of Kubernetes does, and says why. */
export function normalizeReplicas(input: NormalizationInput): Normalization {
  const { behavior, current, desired, min, max, memory, now } = input;
  const spec: HpaSpec = { minReplicas: min, maxReplicas: max, ...(behavior ? { behavior } : {}) };
  const decision = followRecommendation(spec, { nowMs: now, current, memory }, desired);
  const { replicas, stabilized = desired, limit } = decision;
  const stabilization = behavior && desired >= current ? UP_STABILIZED : DOWN_STABILIZED;
  return {
    replicas,
    stabilized,
    ...(stabilized === desired ? {} : { stabilization }),
    limit: limit ? { reason: limit, message: LIMITS[limit], isLimited: true } : { ...WITHIN_RANGE, isLimited: false },
    memory: decision.memory,
  };
}
