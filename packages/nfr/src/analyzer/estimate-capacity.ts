import { loadOf, type CapacityCurve, type CapacityEstimate, type CapacityPoint } from "./capacity.ts";
import { optional } from "./optional.ts";
import type { AnalyzerSettings } from "./settings.ts";

/** The question to a curve. */
export interface CapacityQuestion {
  readonly nowMs: number;
  /** Absent without a latency requirement. */
  readonly maxLatencyMs?: number;
  /** CPU that a replica may use: its request times the target share. */
  readonly usableCpuMillicores: number;
  /** Load and CPU of one replica in this window, until the curve knows them. */
  readonly window?: { readonly rps: number; readonly cpuMillicores: number };
  readonly settings: AnalyzerSettings;
}

/** Fewer observations of a load are not evidence. */
const MIN_COUNT = 3;

/** Latency that is too high over this range of loads does not depend on the load. */
const INDEPENDENT_SPAN = 4;

/** Between a good and a bad load that differ by more than this, the capacity is a guess. */
const NARROW_BRACKET = 1.5;

/** CPU below this share of what a replica may use is mostly that of an idle replica: it says nothing about requests. */
const MIN_CPU_SHARE = 0.2;

/** CPU of a replica as `idle + perRps * requests per second`. */
interface CpuCost {
  readonly idle: number;
  readonly perRps: number;
}

/** The largest good and the smallest bad load. */
interface LatencyLimits {
  readonly sustained?: number;
  readonly saturated?: number;
  /** How far latency is above its requirement at the smallest bad load. */
  readonly excess: number;
  /** The latency that separates good from bad loads. */
  readonly limitMs?: number;
  readonly isIndependent: boolean;
}

/** The capacity of one replica, with the uncertainty of what was observed. */
export function estimateCapacity(curve: CapacityCurve, question: CapacityQuestion): CapacityEstimate {
  const evident = curve.points.filter(({ count }) => count >= MIN_COUNT);
  const limits = findLatencyLimits(evident, question.maxLatencyMs);
  const cost = evident.length === 0 ? windowCpuCost(question) : fitCpuCost(evident, question);
  const largest = evident.at(-1);
  const point = chooseCapacity(
    {
      limits,
      seenRps: largest === undefined ? 0 : loadOf(largest.range),
      ...optional("byCpu", cost === undefined ? undefined : loadAtCpu(cost, question.usableCpuMillicores)),
    },
    question.settings,
  );
  const confidence = estimateConfidence(evident, point, question);
  return {
    ...widen(point, confidence),
    source: point.source,
    rpsPerReplica: point.rps,
    hasHeadroom: point.hasHeadroom === true,
    ...optional("rpsPerCore", cost === undefined ? undefined : 1000 / cost.perRps),
    ...optional("sustainedRps", limits.sustained),
    ...optional("saturatedRps", limits.saturated),
    ...optional("latencyLimitMs", limits.limitMs),
    isLatencyIndependent: limits.isIndependent,
    confidence,
  };
}

/**
 * Divides the loads into good and bad ones at the place with the fewest contradicting observations: latency grows with
 * load, and exceptions are noise. A requirement that is not met at any load is replaced by twice the best latency.
 */
function findLatencyLimits(points: readonly CapacityPoint[], maxLatencyMs: number | undefined): LatencyLimits {
  if (maxLatencyMs === undefined) return { excess: 1, isIndependent: false };
  const known = points.filter(({ latencyMs }) => latencyMs !== undefined);
  const limits = limitsAt(known, maxLatencyMs);
  const span = loadOf((known.at(-1)?.range ?? 0) - (known[0]?.range ?? 0));
  if (limits.sustained !== undefined || span < INDEPENDENT_SPAN) return limits;
  const best = known.reduce((least, { latencyMs }) => Math.min(least, latencyMs ?? least), Number.POSITIVE_INFINITY);
  return { ...limitsAt(known, Math.max(maxLatencyMs, 2 * best)), isIndependent: true };
}

function limitsAt(points: readonly CapacityPoint[], limitMs: number): LatencyLimits {
  const split = splitByLatency(points, limitMs);
  const good = points[split - 1];
  const bad = points[split];
  return {
    ...optional("sustained", good === undefined ? undefined : loadOf(good.range)),
    ...optional("saturated", bad === undefined ? undefined : loadOf(bad.range)),
    excess: Math.max(1, (bad?.latencyMs ?? 0) / limitMs),
    limitMs,
    isIndependent: false,
  };
}

/** The number of good points; the smaller one when two divisions are equally good. */
function splitByLatency(points: readonly CapacityPoint[], maxLatencyMs: number): number {
  let contradictions = 0;
  for (const { latencyMs, count } of points) if ((latencyMs ?? 0) <= maxLatencyMs) contradictions += count;
  let best = 0;
  let fewest = contradictions;
  for (let i = 0; i < points.length; i += 1) {
    const { latencyMs, count } = points[i] ?? { count: 0 };
    contradictions += (latencyMs ?? 0) <= maxLatencyMs ? -count : count;
    if (contradictions < fewest) {
      fewest = contradictions;
      best = i + 1;
    }
  }
  return best;
}

/** Weighted least squares over the points; proportional to the load when the loads are too similar. */
function fitCpuCost(points: readonly CapacityPoint[], { usableCpuMillicores }: CapacityQuestion): CpuCost | undefined {
  let n = 0;
  let x = 0;
  let y = 0;
  let xx = 0;
  let xy = 0;
  let most = 0;
  for (const { range, count, cpuMillicores } of points) {
    if (cpuMillicores === undefined) continue;
    const load = loadOf(range);
    n += count;
    x += count * load;
    y += count * cpuMillicores;
    xx += count * load * load;
    xy += count * load * cpuMillicores;
    most = Math.max(most, cpuMillicores);
  }
  if (n === 0 || most < MIN_CPU_SHARE * usableCpuMillicores) return undefined;
  const spread = n * xx - x * x;
  const slope = spread > 0.05 * n * xx ? (n * xy - x * y) / spread : 0;
  const idle = (y - slope * x) / n;
  if (slope > 0 && idle >= 0) return { idle, perRps: slope };
  return { idle: 0, perRps: xy / xx };
}

function windowCpuCost({ window, usableCpuMillicores }: CapacityQuestion): CpuCost | undefined {
  if (window === undefined || window.cpuMillicores < MIN_CPU_SHARE * usableCpuMillicores) return undefined;
  const perRps = window.cpuMillicores / window.rps;
  return Number.isFinite(perRps) && perRps > 0 ? { idle: 0, perRps } : undefined;
}

function loadAtCpu({ idle, perRps }: CpuCost, usableCpu: number): number | undefined {
  const load = (usableCpu - idle) / perRps;
  return Number.isFinite(load) && load > 0 ? load : undefined;
}

interface ChosenCapacity {
  readonly source: CapacityEstimate["source"];
  readonly rps: number;
  readonly lower: number;
  readonly upper: number;
  readonly hasHeadroom?: boolean;
  /** How much of the capacity was observed, 0 to 1. */
  readonly coverage: number;
}

/** What is known about the limits of one replica. */
interface KnownLimits {
  readonly limits: LatencyLimits;
  /** The load at which CPU reaches its target. */
  readonly byCpu?: number;
  /** The largest load that was seen. */
  readonly seenRps: number;
}

function chooseCapacity({ limits, byCpu, seenRps }: KnownLimits, settings: AnalyzerSettings): ChosenCapacity {
  const { sustained, saturated } = limits;
  const assumed = settings.assumedRpsPerReplica;
  if (saturated !== undefined) return chooseBelowSaturation(limits, saturated, byCpu, settings);
  const proven = sustained ?? 0;
  if (byCpu !== undefined) {
    const rps = Math.max(proven, byCpu);
    const coverage = Math.min(1, seenRps / rps);
    const chosen = {
      rps,
      lower: proven > 0 ? proven : rps / 2,
      upper: rps * 1.5,
      coverage: Math.max(coverage, 0.2),
      hasHeadroom: byCpu > proven,
    };
    if (coverage >= 0.5) return { ...chosen, source: "measured" };
    // An extrapolation may lower the assumed capacity, but not raise it.
    if (rps * (1 + settings.headroom) <= assumed) return { ...chosen, source: "cpu" };
  }
  if (proven >= assumed) return { source: "measured", rps: proven, lower: proven, upper: proven * 2, coverage: 0.7 };
  const lower = proven > 0 ? proven : assumed / 4;
  return { source: "assumed", rps: assumed, lower, upper: assumed * 2, coverage: 0.2 };
}

function chooseBelowSaturation(
  { sustained, excess }: LatencyLimits,
  saturated: number,
  byCpu: number | undefined,
  settings: AnalyzerSettings,
): ChosenCapacity {
  if (sustained === undefined) {
    const factor = Math.min(excess, settings.maxLatencyFactor);
    const rps = Math.min(saturated / factor, byCpu ?? saturated);
    return { source: "measured", rps, lower: rps / 2, upper: saturated, coverage: 0.5 };
  }
  const isNarrow = saturated <= NARROW_BRACKET * sustained;
  const between = Math.min(Math.max(byCpu ?? Math.sqrt(sustained * saturated), sustained), saturated);
  return {
    source: "measured",
    rps: isNarrow ? sustained : between,
    lower: sustained,
    upper: saturated,
    coverage: isNarrow ? 1 : 0.7,
  };
}

/** From the number of observations, how much of the capacity they cover, and the age of the newest one. */
function estimateConfidence(
  points: readonly CapacityPoint[],
  { coverage }: ChosenCapacity,
  { nowMs, settings }: CapacityQuestion,
): number {
  let count = 0;
  let newest = 0;
  for (const point of points) {
    count += point.count;
    newest = Math.max(newest, point.lastMs);
  }
  if (count === 0) return 0;
  const age = 2 ** (-Math.max(0, nowMs - newest) / settings.modelHalfLifeMs);
  return Math.round((count / (count + 10)) * coverage * age * 20) / 20;
}

/** Uncertainty widens the bounds to half and double at no confidence. */
function widen({ rps, lower, upper }: ChosenCapacity, confidence: number): { lower: number; upper: number } {
  return {
    lower: Math.min(rps, lower * (0.5 + 0.5 * confidence)),
    upper: Math.max(rps, upper * (2 - confidence)),
  };
}
