import {
  DEFAULT_HPA_SETTINGS,
  replicasForMetric,
  type HpaPod,
  type HpaSettings,
  type HpaTarget,
} from "./hpa-replicas.ts";

export interface HpaPolicy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly periodSeconds: number;
}

export interface HpaRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: "Max" | "Min" | "Disabled";
  readonly policies?: readonly HpaPolicy[];
}

export interface HpaBehavior {
  readonly scaleUp?: HpaRules;
  readonly scaleDown?: HpaRules;
}

export interface HpaSpec {
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  /** Without it the controller uses older rules: at most double or 4, and the flag of the stabilization window. */
  readonly behavior?: HpaBehavior;
}

interface TimedCount {
  readonly atMs: number;
  readonly count: number;
}

/** What the controller remembers of one autoscaler. It is lost when the controller restarts. */
export interface HpaMemory {
  /** Recommendations before stabilization. */
  readonly recommendations: readonly TimedCount[];
  readonly added: readonly TimedCount[];
  readonly removed: readonly TimedCount[];
}

export const EMPTY_HPA_MEMORY: HpaMemory = { recommendations: [], added: [], removed: [] };

/** The state of the scaled workload at a sync. */
export interface HpaInput {
  readonly nowMs: number;
  readonly current: number;
  readonly memory: HpaMemory;
}

/** Why the replicas differ from the recommendation, by the reasons of the condition `ScalingLimited`. */
export type HpaLimit = "ScaleUpLimit" | "ScaleDownLimit" | "TooManyReplicas" | "TooFewReplicas";

export interface HpaDecision {
  readonly replicas: number;
  /** Absent when it was not computed, because of the limits of the spec or without metrics. */
  readonly recommended?: number;
  /** After the stabilization windows. */
  readonly stabilized?: number;
  readonly limit?: HpaLimit;
  readonly memory: HpaMemory;
}

const DEFAULT_UP: Required<HpaRules> = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};

const DEFAULT_DOWN = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
} as const;

/** One sync of the horizontal pod autoscaler, with the decisions of kube-controller-manager 1.36. */
export function decideReplicas(
  spec: HpaSpec & { readonly target: HpaTarget },
  input: HpaInput & { readonly pods: readonly HpaPod[] },
  settings: HpaSettings = DEFAULT_HPA_SETTINGS,
): HpaDecision {
  const { nowMs, current, pods } = input;
  const { minReplicas = 1, maxReplicas } = spec;
  const memory = input.memory.recommendations.length > 0 ? input.memory : startMemory(current, nowMs);
  // Zero replicas pause the autoscaler.
  if (current === 0) return { replicas: 0, memory };
  if (current > maxReplicas) return rememberChange(spec, { replicas: maxReplicas, memory }, current, nowMs);
  if (current < minReplicas) return rememberChange(spec, { replicas: minReplicas, memory }, current, nowMs);
  const proposal = replicasForMetric(pods, current, spec.target, settings, nowMs);
  if ("failure" in proposal) return { replicas: current, memory };
  return followRecommendation(spec, { nowMs, current, memory }, proposal.replicas, settings);
}

/** Applies stabilization windows, policies and limits to the replicas that the metrics ask for. */
export function followRecommendation(
  spec: HpaSpec,
  input: HpaInput,
  recommended: number,
  settings: HpaSettings = DEFAULT_HPA_SETTINGS,
): HpaDecision {
  const { nowMs, current, memory } = input;
  const windows = stabilizationWindows(spec.behavior, settings);
  const stabilized = stabilize(spec, input, recommended, windows);
  const bounded =
    spec.behavior === undefined ? boundByDoubling(spec, current, stabilized) : boundByRules(spec, input, stabilized);
  // An equal count that is newer replaces older ones, so that memory is bounded.
  const kept = memory.recommendations.filter(
    ({ atMs, count }) => count !== recommended && nowMs - atMs <= Math.max(windows.upMs, windows.downMs),
  );
  const recommendations = [...kept, { atMs: nowMs, count: recommended }];
  const decision = { ...bounded, recommended, stabilized, memory: { ...memory, recommendations } };
  return rememberChange(spec, decision, current, nowMs);
}

function startMemory(current: number, nowMs: number): HpaMemory {
  return { ...EMPTY_HPA_MEMORY, recommendations: [{ atMs: nowMs, count: current }] };
}

interface Windows {
  readonly upMs: number;
  readonly downMs: number;
}

/** How long recommendations count, upwards and downwards. */
export function stabilizationWindows(
  behavior: HpaSpec["behavior"],
  settings: HpaSettings = DEFAULT_HPA_SETTINGS,
): Windows {
  const down = behavior?.scaleDown?.stabilizationWindowSeconds;
  return {
    upMs: (behavior?.scaleUp?.stabilizationWindowSeconds ?? DEFAULT_UP.stabilizationWindowSeconds) * 1000,
    downMs: down === undefined ? settings.downscaleStabilizationMs : down * 1000,
  };
}

/** Follows the smallest recent recommendation upwards and the largest one downwards. */
function stabilize(spec: HpaSpec, { nowMs, current, memory }: HpaInput, recommended: number, windows: Windows): number {
  if (spec.behavior === undefined) {
    const recent = memory.recommendations.filter(({ atMs }) => nowMs - atMs <= windows.downMs);
    return Math.max(recommended, ...recent.map(({ count }) => count));
  }
  const within = (windowMs: number): number[] =>
    memory.recommendations.filter(({ atMs }) => nowMs - atMs < windowMs).map(({ count }) => count);
  const up = Math.min(recommended, ...within(windows.upMs));
  const down = Math.max(recommended, ...within(windows.downMs));
  return Math.min(Math.max(current, up), down);
}

type Bounded = Pick<HpaDecision, "replicas" | "limit">;

function boundByDoubling({ minReplicas = 1, maxReplicas }: HpaSpec, current: number, desired: number): Bounded {
  const rate = Math.max(2 * current, 4);
  if (desired < minReplicas) return { replicas: minReplicas, limit: "TooFewReplicas" };
  if (desired <= Math.min(rate, maxReplicas)) return { replicas: desired };
  return rate < maxReplicas
    ? { replicas: rate, limit: "ScaleUpLimit" }
    : { replicas: maxReplicas, limit: "TooManyReplicas" };
}

function boundByRules(spec: HpaSpec, input: HpaInput, desired: number): Bounded {
  const { minReplicas = 1, maxReplicas, behavior } = spec;
  const { current } = input;
  if (desired > current) {
    const rules = { ...DEFAULT_UP, ...behavior?.scaleUp };
    const limits = rules.policies.map(({ type, value, periodSeconds }) => {
      const start = replicasBefore(input, periodSeconds);
      return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
    });
    const rate = Math.max(
      current,
      selectLimit(rules.selectPolicy, current, [Math.max(...limits), Math.min(...limits)]),
    );
    if (desired <= Math.min(rate, maxReplicas)) return { replicas: desired };
    return rate < maxReplicas
      ? { replicas: rate, limit: "ScaleUpLimit" }
      : { replicas: maxReplicas, limit: "TooManyReplicas" };
  }
  if (desired < current) {
    const rules = { ...DEFAULT_DOWN, ...behavior?.scaleDown };
    const limits = rules.policies.map(({ type, value, periodSeconds }) => {
      const start = replicasBefore(input, periodSeconds);
      return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
    });
    const rate = Math.min(
      current,
      selectLimit(rules.selectPolicy, current, [Math.min(...limits), Math.max(...limits)]),
    );
    if (desired >= Math.max(rate, minReplicas)) return { replicas: desired };
    return rate > minReplicas
      ? { replicas: rate, limit: "ScaleDownLimit" }
      : { replicas: minReplicas, limit: "TooFewReplicas" };
  }
  return { replicas: desired };
}

/** The replicas at the start of a period, from the changes within it. */
function replicasBefore({ nowMs, current, memory }: HpaInput, periodSeconds: number): number {
  const changed = (counts: readonly TimedCount[]): number =>
    counts.filter(({ atMs }) => nowMs - atMs < periodSeconds * 1000).reduce((sum, { count }) => sum + count, 0);
  return current - changed(memory.added) + changed(memory.removed);
}

function selectLimit(
  policy: NonNullable<HpaRules["selectPolicy"]>,
  current: number,
  [largestChange, smallestChange]: readonly [number, number],
): number {
  if (policy === "Disabled") return current;
  return policy === "Min" ? smallestChange : largestChange;
}

/** Remembers a change for the periods of policies. */
function rememberChange(spec: HpaSpec, decision: HpaDecision, current: number, nowMs: number): HpaDecision {
  const { replicas, memory } = decision;
  if (replicas === current || spec.behavior === undefined) return decision;
  const remember = (counts: readonly TimedCount[], rules: HpaRules | undefined, defaults: readonly HpaPolicy[]) => {
    const longest = Math.max(...(rules?.policies ?? defaults).map(({ periodSeconds }) => periodSeconds));
    // The controller replaces one outdated entry; the others may still count for a longer period of the other direction.
    const outdated = counts.findLastIndex(({ atMs }) => nowMs - atMs > longest * 1000);
    return [...counts.filter((_, index) => index !== outdated), { atMs: nowMs, count: Math.abs(replicas - current) }];
  };
  return {
    ...decision,
    memory:
      replicas > current
        ? { ...memory, added: remember(memory.added, spec.behavior.scaleUp, DEFAULT_UP.policies) }
        : { ...memory, removed: remember(memory.removed, spec.behavior.scaleDown, DEFAULT_DOWN.policies) },
  };
}
