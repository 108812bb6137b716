import { rangeOf, type CapacityCurve, type CapacityEstimate, type CapacityPoint } from "./capacity.ts";
import { MAX_COUNT, MAX_POINTS } from "./learn-capacity.ts";

/** A capacity curve as a short text, to store it in a status. */
export interface CapacityCheckpoint {
  readonly revision?: string;
  readonly percentile?: number;
  readonly learntUntilMs: number;
  /** `range,count,latency,cpu,age` of each point, separated by `;`. Latency and CPU may be empty; the age is in milliseconds. */
  readonly points: string;
  /** What the curve says about one replica. */
  readonly rpsPerReplica: number;
  readonly confidence: number;
}

/** A longer text is not a checkpoint. */
const MAX_CHECKPOINT_LENGTH = 8192;

/** Undefined when nothing is learnt. */
export function saveCapacity(curve: CapacityCurve, learnt: CapacityEstimate): CapacityCheckpoint | undefined {
  if (curve.points.length === 0) return undefined;
  const { points, ...rest } = curve;
  return {
    ...rest,
    points: points.map((point) => saveToText(point, curve.learntUntilMs)).join(";"),
    rpsPerReplica: learnt.rpsPerReplica,
    confidence: learnt.confidence,
  };
}

function saveToText({ range, count, latencyMs, cpuMillicores, lastMs }: CapacityPoint, untilMs: number): string {
  return [range, count, latencyMs ?? "", cpuMillicores ?? "", untilMs - lastMs].join(",");
}

/** Restores a curve exactly. Undefined when the text is not a checkpoint: the history is then lost. */
export function loadCapacity({ points: text, ...saved }: CapacityCheckpoint): CapacityCurve | undefined {
  if (text.length > MAX_CHECKPOINT_LENGTH || !Number.isFinite(saved.learntUntilMs)) return undefined;
  const points = text.split(";").map((one) => readPoint(one, saved.learntUntilMs));
  const isOrdered = points.every(
    (point, index) => index === 0 || (points[index - 1]?.range ?? 0) < (point?.range ?? 0),
  );
  if (!isOrdered || points.length > MAX_POINTS) return undefined;
  const known = points.filter((point) => point !== undefined);
  if (known.length !== points.length) return undefined;
  const { revision, percentile, learntUntilMs } = saved;
  return {
    ...(revision === undefined ? {} : { revision }),
    ...(percentile === undefined ? {} : { percentile }),
    learntUntilMs,
    points: known,
  };
}

const MAX_RANGE = rangeOf(1e9);

function readPoint(text: string, untilMs: number): CapacityPoint | undefined {
  const fields = text.split(",");
  const [range, count, latencyMs, cpuMillicores, ageMs] = fields.map((field) =>
    field === "" ? undefined : Number(field),
  );
  if (fields.length !== 5 || !isWholeWithin(range, -MAX_RANGE, MAX_RANGE) || !isWholeWithin(count, 1, MAX_COUNT))
    return undefined;
  if (!isWholeWithin(ageMs, 0, untilMs) || !isAmount(latencyMs) || !isAmount(cpuMillicores)) return undefined;
  return {
    range,
    count,
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(cpuMillicores === undefined ? {} : { cpuMillicores }),
    lastMs: untilMs - ageMs,
  };
}

function isWholeWithin(value: number | undefined, min: number, max: number): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= min && value <= max;
}

function isAmount(value: number | undefined): boolean {
  return value === undefined || (Number.isFinite(value) && value >= 0);
}

/** Below the hysteresis of replicas: a smaller difference does not lower a target after a restart. */
const CAPACITY_TOLERANCE = 0.05;

/** Whether a checkpoint leads to the same decisions as the curve, so that the curve is not worth a write. */
export function isSameCapacity(
  written: CapacityCheckpoint | undefined,
  curve: CapacityCurve,
  learnt: CapacityEstimate,
  minConfidence: number,
): boolean {
  if (written === undefined) return curve.points.length === 0;
  const difference = Math.abs(written.rpsPerReplica - learnt.rpsPerReplica);
  return (
    written.revision === curve.revision &&
    written.percentile === curve.percentile &&
    difference <= CAPACITY_TOLERANCE * Math.max(written.rpsPerReplica, learnt.rpsPerReplica) &&
    written.confidence >= minConfidence === learnt.confidence >= minConfidence
  );
}
