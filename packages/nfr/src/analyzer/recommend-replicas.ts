import type { LastingNeed, Recommendation, SpentBudget } from "../recommendation.ts";
import type { Signal } from "../samples.ts";
import { roundTo } from "./aggregates.ts";
import type { AnalysisInput } from "./analysis.ts";
import { formatDuration } from "./assess-requirements.ts";
import { loadOf, type CapacityCurve, type CapacityEstimate } from "./capacity.ts";
import type { Findings } from "./findings.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";

/** A number of replicas that one rule needs. */
interface Need {
  readonly rule: string;
  readonly replicas: number;
  readonly signal: Signal;
  /** Whether the number follows the load: it is not whole, and lowered with hysteresis only. */
  readonly isLoad: boolean;
  /** A floor that does not come from a measurement, by the name of its field. */
  readonly floor?: string;
  readonly confidence: number;
}

/** What a recommendation of replicas is computed from. */
export interface ReplicaTask {
  readonly input: AnalysisInput;
  readonly measured: Measurements;
  readonly capacity: CapacityEstimate;
  readonly curve: CapacityCurve;
  /** Whether less of each error budget was spent in the last hour than is allowed. */
  readonly isWithinBudget: boolean;
  /** How much of the error budget was spent. */
  readonly spent?: SpentBudget;
  /** Not below this target, because history was lost. */
  readonly heldTarget?: number;
  readonly findings: Findings;
}

/** No component has more, whatever the data says. */
const MAX_REPLICAS = 1_000_000;

/** The confidence in a number that was extrapolated from CPU, or from one latency violation. */
const RULE_CONFIDENCE = 0.6;

/** The confidence in the assumed capacity. */
const ASSUMED_CONFIDENCE = 0.3;

/**
 * The largest number that any rule needs, within the limits of the user; undefined when neither load nor CPU is known.
 *
 * The result never falls when the load rises, and equals the previous target when the load changes by less than the
 * hysteresis.
 */
export function recommendReplicas(task: ReplicaTask): Recommendation | undefined {
  const { input, measured, capacity } = task;
  const { settings, scale, nowMs } = input;
  if (measured.demand === undefined && measured.cpuMillicores === undefined) return undefined;
  const floors = floorNeeds(task);
  const needs = [...floors, ...loadNeeds(task, capacity.rpsPerReplica), ...latencyNeeds(task)];
  const deciding = needs.reduce((most, need) => (wholeNeed(need, input) > wholeNeed(most, input) ? need : most));
  const wanted = wholeNeed(deciding, input);
  const most = scale.max ?? MAX_REPLICAS;
  const target = Math.min(wanted, most);
  const lower = wholeMaximum([...floors, ...loadNeeds(task, capacity.upper)], input);
  const upper = Math.max(target, wholeMaximum(loadNeeds(task, capacity.lower), input));
  return {
    component: input.component,
    dimension: "replicas",
    target,
    lowerBound: Math.min(lower, target),
    upperBound: Math.max(target, Math.min(upper, most)),
    lasting: lastingNeed(task, floors, target),
    basis: {
      window: formatDuration(settings.windowMs),
      query: input.queries?.[deciding.signal] ?? deciding.signal,
      values: collectValues(task, needs),
      ...optional("floor", deciding.floor),
      ...optional("ceiling", wanted > most ? "max_scale" : undefined),
    },
    confidence: Math.round(deciding.confidence * measured.coverage * 20) / 20,
    current: scale.current,
    observedAtMs: nowMs,
    validUntilMs: nowMs + settings.validMs,
  };
}

/** What the floors, the stated throughput and the smallest load of the window need. */
function lastingNeed(task: ReplicaTask, floors: readonly Need[], most: number): LastingNeed {
  const { input, measured, capacity, isWithinBudget, spent } = task;
  const needs = loadNeeds({ ...task, measured: { ...measured, ...measured.lasting } }, capacity.rpsPerReplica);
  const stated = needs.filter(({ floor }) => floor !== undefined);
  const replicas = Math.min(most, wholeMaximum([...floors, ...needs], input));
  return {
    replicas,
    stated: Math.min(replicas, wholeMaximum([...floors, ...stated], input)),
    isWithinBudget,
    ...optional("spent", spent),
    ready: measured.readyReplicas,
  };
}

function loadNeeds(task: ReplicaTask, rpsPerReplica: number): Need[] {
  const { input, measured, capacity } = task;
  const { settings, requirements, scale } = input;
  const needs: Need[] = [];
  const confidence = { measured: capacity.confidence, cpu: RULE_CONFIDENCE, assumed: ASSUMED_CONFIDENCE }[
    capacity.source
  ];
  const fromCapacity = { signal: "requests_per_second", isLoad: true, confidence } as const;
  if (requirements.minThroughputRps !== undefined) {
    const replicas = requirements.minThroughputRps / rpsPerReplica;
    needs.push({ rule: "throughput", replicas, floor: "min_throughput_rps", ...fromCapacity });
  }
  if (measured.demand !== undefined) {
    const wanted = measured.demand / rpsPerReplica;
    const headroom = isCpuBound(task) ? 0 : settings.headroom;
    const replicas = capacity.hasHeadroom ? shareReserve(wanted, input) : wanted * (1 + headroom);
    needs.push({ rule: "demand", replicas, ...fromCapacity });
  }
  const isCpuStated = scale.cpuRequestMillicores !== undefined;
  if (measured.cpuMillicores !== undefined && (isCpuStated || !isConfident(capacity, input))) {
    const replicas = shareReserve(measured.cpuMillicores / usableCpu(input), input);
    needs.push({ rule: "cpu", replicas, signal: "cpu_millicores", isLoad: true, confidence: RULE_CONFIDENCE });
  }
  return needs;
}

/** Whether latency was within its limit beyond the CPU target, and never above it: then the rule of CPU has the reserve. */
function isCpuBound({ input: { scale }, measured, capacity }: ReplicaTask): boolean {
  const isCpuKnown = scale.cpuRequestMillicores !== undefined && measured.cpuMillicores !== undefined;
  return (
    isCpuKnown &&
    capacity.source === "measured" &&
    capacity.rpsPerCore !== undefined &&
    capacity.saturatedRps === undefined
  );
}

/** CPU that one replica may use. */
export function usableCpu({ scale, settings }: AnalysisInput): number {
  return (scale.cpuRequestMillicores ?? settings.assumedCpuMillicores) * (scale.cpuTarget ?? settings.cpuTarget);
}

/**
 * Replicas that share the reserve of the CPU target. Chance averages out over replicas, so the reserve that keeps waiting
 * times short grows with the square root of the busy replicas only. A stated CPU target is kept.
 */
export function shareReserve(replicas: number, { scale, settings }: Pick<AnalysisInput, "scale" | "settings">): number {
  if (scale.cpuTarget !== undefined) return replicas;
  const busy = replicas * settings.cpuTarget;
  return Math.min(replicas, Math.max(busy + Math.sqrt(busy), busy / settings.maxCpuTarget));
}

function isConfident({ source, confidence }: CapacityEstimate, { settings }: AnalysisInput): boolean {
  return source === "measured" && confidence >= settings.minConfidence;
}

function floorNeeds({ input, measured, heldTarget }: ReplicaTask): Need[] {
  const { scale, requirements, settings, state } = input;
  const certain = { signal: "ready_replicas", isLoad: false, confidence: 1 } as const;
  const least = Math.max(scale.min ?? 0, scale.canScaleToZero === true ? 0 : 1);
  const needs: Need[] = [{ rule: "minimum", replicas: least, floor: "min_scale", ...certain }];
  if (requirements.availability !== undefined) {
    const replicas = replicasForAvailability(requirements.availability, settings.assumedReplicaAvailability);
    needs.push({ rule: "availability", replicas, floor: "availability", ...certain });
  }
  if (heldTarget !== undefined) {
    needs.push({ rule: "history", replicas: heldTarget, floor: "history-lost", ...certain, confidence: 0.1 });
  }
  if (measured.coverage < 0.5 && state?.target !== undefined) {
    needs.push({ rule: "coverage", replicas: state.target, floor: "incomplete-data", ...certain, confidence: 0.1 });
  }
  return needs;
}

/** The smallest number of independent replicas of which one is up with the required probability. */
export function replicasForAvailability(required: number, ofOneReplica: number): number {
  const allowed = Math.max(1 - required, 1e-9);
  return Math.max(1, Math.ceil(Math.log(allowed) / Math.log(1 - ofOneReplica) - 1e-9));
}

/** While latency is too high: more replicas, or at least the current ones until the last change shows its effect. */
function latencyNeeds({ input, measured, capacity, curve, findings }: ReplicaTask): Need[] {
  const { requirements, scale, settings } = input;
  const { latencyMs, recentLatencyMs, latencySignal, readyReplicas, isLoadEnding } = measured;
  const limitMs = capacity.latencyLimitMs ?? requirements.maxLatencyMs;
  // Without a recent value the last change has not settled, and the latency of the window stands for it.
  const latest = recentLatencyMs ?? latencyMs;
  if (latencyMs === undefined || latest === undefined || limitMs === undefined) return [];
  const isMetAtHigherLoad = wasMetAtHigherLoad(curve, measured, input);
  if (latest > (requirements.maxLatencyMs ?? 0) && (capacity.isLatencyIndependent || isMetAtHigherLoad)) {
    const detail = `latency is ${roundTo(latest, 3)} ms at a load at which replicas are not the cause`;
    findings.add("latency-independent-of-load", detail, latencySignal);
  }
  if (latest <= limitMs) return [];
  const need = { rule: "latency", signal: latencySignal, isLoad: false, confidence: RULE_CONFIDENCE };
  const mustWait = isLoadEnding || recentLatencyMs === undefined || readyReplicas < scale.current;
  if (isMetAtHigherLoad || mustWait) return [{ replicas: scale.current, ...need }];
  const factor = Math.min(latest / limitMs, settings.maxLatencyFactor);
  return [{ replicas: Math.max(scale.current + 1, Math.ceil(scale.current * factor)), ...need }];
}

/** Whether the requirement was met recently at twice the present load per replica: then the load is not the reason. */
function wasMetAtHigherLoad(
  { points }: CapacityCurve,
  { rps, readyReplicas }: Measurements,
  { requirements, settings, nowMs }: AnalysisInput,
): boolean {
  if (rps === undefined || readyReplicas <= 0) return false;
  const load = rps / readyReplicas;
  return points.some(
    ({ range, latencyMs, count, lastMs }) =>
      latencyMs !== undefined &&
      latencyMs <= (requirements.maxLatencyMs ?? 0) &&
      count >= 3 &&
      loadOf(range) >= 2 * load &&
      nowMs - lastMs < settings.modelHalfLifeMs,
  );
}

/** Whole replicas. A need that follows the load lowers the previous target only when it saves more than the hysteresis. */
function wholeNeed({ replicas, isLoad }: Need, { state, settings }: AnalysisInput): number {
  if (!isLoad) return Math.ceil(replicas);
  const whole = roundUp(replicas);
  const previous = state?.target;
  if (previous === undefined || whole >= previous) return whole;
  return Math.min(previous, roundUp(replicas * (1 + settings.hysteresis)));
}

/** Products such as 3 * 1.2 / 1.2 do not round up. */
function roundUp(replicas: number): number {
  return Math.max(0, Math.ceil(replicas - 1e-9));
}

function wholeMaximum(needs: readonly Need[], input: AnalysisInput): number {
  let most = 0;
  for (const need of needs) most = Math.max(most, wholeNeed(need, input));
  return most;
}

function collectValues({ measured, capacity }: ReplicaTask, needs: readonly Need[]): Record<string, number> {
  const { rpsPerReplica, rpsPerCore, sustainedRps, saturatedRps, confidence } = capacity;
  const values: Record<string, number> = {
    rps_per_replica: roundTo(rpsPerReplica, 3),
    capacity_confidence: confidence,
  };
  if (rpsPerCore !== undefined) values["rps_per_core"] = roundTo(rpsPerCore, 3);
  if (sustainedRps !== undefined) values["sustained_rps"] = roundTo(sustainedRps, 3);
  if (saturatedRps !== undefined) values["saturated_rps"] = roundTo(saturatedRps, 3);
  const { demand, cpuMillicores, latencyMs, readyReplicas } = measured;
  if (demand !== undefined) values["requests_per_second"] = roundTo(demand, 3);
  if (measured.peakRps !== undefined) values["peak_requests_per_second"] = roundTo(measured.peakRps, 3);
  if (cpuMillicores !== undefined) values["cpu_millicores"] = roundTo(cpuMillicores, 3);
  if (latencyMs !== undefined) values[measured.latencySignal] = roundTo(latencyMs, 3);
  values["ready_replicas"] = readyReplicas;
  for (const { rule, replicas } of needs) values[`${rule}_replicas`] = roundTo(replicas, 3);
  return values;
}
