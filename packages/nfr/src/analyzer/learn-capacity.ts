import { roundTo } from "./aggregates.ts";
import { rangeOf, type CapacityCurve, type CapacityPoint } from "./capacity.ts";

/** One step at which the load and the replicas were known and settled. */
export interface Observation {
  readonly atMs: number;
  readonly rpsPerReplica: number;
  readonly latencyMs?: number;
  /** Per replica. */
  readonly cpuMillicores?: number;
}

/** A newer observation replaces at least one part in so many of the older ones. */
export const MAX_COUNT = 60;

/** Loads of three orders of magnitude; the smallest ones are forgotten first, because they say least about the capacity. */
export const MAX_POINTS = 72;

/** Observations of another revision count as one at most: they are replaced quickly. */
const COUNT_AFTER_CHANGE = 1;

/** A load below this says nothing about the capacity. */
const MIN_RPS_PER_REPLICA = 0.01;

export const EMPTY_CURVE: CapacityCurve = { learntUntilMs: 0, points: [] };

/** The curve for a revision and percentile. Latencies of another percentile are forgotten; other revisions count little. */
export function reviseCurve(curve: CapacityCurve, percentile: number, revision: string | undefined): CapacityCurve {
  const isSamePercentile = curve.percentile === undefined || curve.percentile === percentile;
  const isSameRevision = curve.revision === revision;
  if (isSamePercentile && isSameRevision && curve.percentile !== undefined) return curve;
  const points = curve.points.map(({ latencyMs, ...point }) => ({
    ...point,
    count: isSameRevision ? point.count : Math.min(point.count, COUNT_AFTER_CHANGE),
    ...(isSamePercentile && latencyMs !== undefined ? { latencyMs } : {}),
  }));
  return {
    percentile,
    ...(revision === undefined ? {} : { revision }),
    learntUntilMs: curve.learntUntilMs,
    points,
  };
}

/** Adds observations in the order of time; those that are learnt already are ignored. */
export function learnCapacity(
  curve: CapacityCurve,
  observations: readonly Observation[],
  untilMs: number,
): CapacityCurve {
  if (untilMs <= curve.learntUntilMs) return curve;
  let points = curve.points;
  for (const observation of observations) {
    if (observation.atMs <= curve.learntUntilMs || observation.rpsPerReplica < MIN_RPS_PER_REPLICA) continue;
    points = addObservation(points, observation);
  }
  return { ...curve, learntUntilMs: untilMs, points };
}

function addObservation(points: readonly CapacityPoint[], observation: Observation): readonly CapacityPoint[] {
  const range = rangeOf(observation.rpsPerReplica);
  let index = points.length;
  while (index > 0 && (points[index - 1]?.range ?? 0) >= range) index -= 1;
  const existing = points[index]?.range === range ? points[index] : undefined;
  const point = existing === undefined ? startPoint(range, observation) : updatePoint(existing, observation);
  if (existing !== undefined) return points.with(index, point);
  return points.toSpliced(index, 0, point).slice(-MAX_POINTS);
}

function startPoint(range: number, { atMs, latencyMs, cpuMillicores }: Observation): CapacityPoint {
  return {
    range,
    count: 1,
    ...(latencyMs === undefined ? {} : { latencyMs: roundTo(latencyMs, 5) }),
    ...(cpuMillicores === undefined ? {} : { cpuMillicores: roundTo(cpuMillicores, 5) }),
    lastMs: atMs,
  };
}

function updatePoint(point: CapacityPoint, { atMs, latencyMs, cpuMillicores }: Observation): CapacityPoint {
  const count = Math.min(point.count + 1, MAX_COUNT);
  const latency = moveGeometric(point.latencyMs, latencyMs, count);
  const cpu = moveLinear(point.cpuMillicores, cpuMillicores, count);
  return {
    range: point.range,
    count,
    ...(latency === undefined ? {} : { latencyMs: roundTo(latency, 5) }),
    ...(cpu === undefined ? {} : { cpuMillicores: roundTo(cpu, 5) }),
    lastMs: atMs,
  };
}

function moveLinear(average: number | undefined, value: number | undefined, count: number): number | undefined {
  if (average === undefined || value === undefined) return value ?? average;
  return average + (value - average) / count;
}

/** A geometric average: one request that hangs for a minute does not outweigh sixty good steps. */
function moveGeometric(average: number | undefined, value: number | undefined, count: number): number | undefined {
  if (average === undefined || value === undefined) return value ?? average;
  const least = 0.001;
  return Math.exp(moveLinear(Math.log(Math.max(average, least)), Math.log(Math.max(value, least)), count) ?? 0);
}
