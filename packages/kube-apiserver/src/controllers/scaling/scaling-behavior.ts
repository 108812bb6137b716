/** One side of `spec.behavior`. */
export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: string;
  readonly policies?: readonly ScalingPolicy[];
}

interface ScalingPolicy {
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
}

export interface Behavior {
  readonly scaleUp?: ScalingRules;
  readonly scaleDown?: ScalingRules;
}

/** A replica count that was recommended, before stabilization. */
export interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

/** A change of the scale; negative for fewer replicas. */
export interface ScaleEvent {
  readonly atMs: number;
  readonly change: number;
}

export interface NormalizationInput {
  /** Without it the older rules apply: down after five minutes, up to double or four replicas. */
  readonly behavior?: Behavior | undefined;
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly recommendations: readonly Recommendation[];
  readonly scaleEvents: readonly ScaleEvent[];
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
}

/** The default of `--horizontal-pod-autoscaler-downscale-stabilization`. */
const DOWN_WINDOW_SECONDS = 300;
const DEFAULT_UP: readonly ScalingPolicy[] = [
  { type: "Pods", value: 4, periodSeconds: 15 },
  { type: "Percent", value: 100, periodSeconds: 15 },
];
const DEFAULT_DOWN: readonly ScalingPolicy[] = [{ type: "Percent", value: 100, periodSeconds: 15 }];

const UP_STABILIZED: Reason = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const DOWN_STABILIZED: Reason = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};

/** The longest stabilization window of an autoscaler. */
export function stabilizationWindowMs(behavior: Behavior | undefined): number {
  return Math.max(upWindow(behavior), downWindow(behavior)) * 1000;
}

function upWindow(behavior: Behavior | undefined): number {
  return behavior?.scaleUp?.stabilizationWindowSeconds ?? 0;
}

function downWindow(behavior: Behavior | undefined): number {
  return behavior?.scaleDown?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS;
}

/** Stabilizes and limits a recommendation, as the controller of Kubernetes does. */
export function normalizeReplicas(input: NormalizationInput): Normalization {
  const { behavior, current, desired } = input;
  const stabilized = behavior ? stabilizeBoth(input, behavior) : highestRecent(input, DOWN_WINDOW_SECONDS);
  const stabilization = behavior && desired >= current ? UP_STABILIZED : DOWN_STABILIZED;
  const limited = behavior
    ? limitByPolicies({ ...input, desired: stabilized }, behavior)
    : limitByDefault({ ...input, desired: stabilized });
  return {
    stabilized,
    ...(stabilized === desired ? {} : { stabilization }),
    replicas: limited?.replicas ?? stabilized,
    limit: limited
      ? { reason: limited.reason, message: limited.message, isLimited: limited.replicas !== stabilized }
      : { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range", isLimited: false },
  };
}

/** The current count, moved as little as the recommendations of both windows demand. */
function stabilizeBoth(input: NormalizationInput, behavior: Behavior): number {
  const lowest = Math.min(input.desired, ...recent(input, upWindow(behavior)));
  const highest = Math.max(input.desired, ...recent(input, downWindow(behavior)));
  return Math.min(Math.max(input.current, lowest), highest);
}

function highestRecent(input: NormalizationInput, seconds: number): number {
  return Math.max(input.desired, ...recent(input, seconds));
}

function recent({ recommendations, now }: NormalizationInput, seconds: number): readonly number[] {
  return recommendations.filter(({ atMs }) => atMs > now - seconds * 1000).map(({ replicas }) => replicas);
}

type Limited = Reason & { readonly replicas: number };

const TOO_MANY: Reason = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const TOO_FEW: Reason = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const TOO_FAST_UP: Reason = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const TOO_FAST_DOWN: Reason = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

function limitByDefault({ current, desired, min, max }: NormalizationInput): Limited | undefined {
  if (desired < min) return { ...TOO_FEW, replicas: min };
  return limitUp(desired, max, Math.max(2 * current, 4));
}

function limitByPolicies(input: NormalizationInput, behavior: Behavior): Limited | undefined {
  const { current, desired, min, max } = input;
  if (desired > current) return limitUp(desired, max, Math.max(current, upLimit(input, behavior.scaleUp)));
  if (desired === current) return undefined;
  const fastest = Math.min(current, downLimit(input, behavior.scaleDown));
  const lowest = Math.max(min, fastest);
  return desired < lowest ? { ...(min < fastest ? TOO_FAST_DOWN : TOO_FEW), replicas: lowest } : undefined;
}

function limitUp(desired: number, max: number, fastest: number): Limited | undefined {
  const highest = Math.min(max, fastest);
  return desired > highest ? { ...(max > fastest ? TOO_FAST_UP : TOO_MANY), replicas: highest } : undefined;
}

function upLimit(
  input: NormalizationInput,
  { selectPolicy = "Max", policies = DEFAULT_UP }: ScalingRules = {},
): number {
  if (selectPolicy === "Disabled") return input.current;
  const proposed = policies.map(({ type, value, periodSeconds }) => {
    const start = startOfPeriod(input, periodSeconds);
    return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return selectPolicy === "Min" ? Math.min(...proposed) : Math.max(...proposed);
}

function downLimit(
  input: NormalizationInput,
  { selectPolicy = "Max", policies = DEFAULT_DOWN }: ScalingRules = {},
): number {
  if (selectPolicy === "Disabled") return input.current;
  const proposed = policies.map(({ type, value, periodSeconds }) => {
    const start = startOfPeriod(input, periodSeconds);
    return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return selectPolicy === "Min" ? Math.max(...proposed) : Math.min(...proposed);
}

/** The replicas at the start of a period, from the changes since. */
function startOfPeriod({ current, scaleEvents, now }: NormalizationInput, seconds: number): number {
  const changes = scaleEvents.filter(({ atMs }) => atMs > now - seconds * 1000);
  return current - changes.reduce((sum, { change }) => sum + change, 0);
}
