import { invalidArgument, type Violation } from "@oaas/foundation";

/** What a caller asks for, in seconds. */
export interface RequestedRange {
  readonly rangeSeconds?: number | undefined;
  readonly stepSeconds?: number | undefined;
}

/** The times of a history: one value per step, from the start to the end. */
export interface HistoryRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

const DEFAULT_RANGE = 3600;
const MIN_RANGE = 60;
const MAX_RANGE = 7 * 24 * 3600;
const DEFAULT_STEPS = 120;
const MAX_STEPS = 720;

/** The times of a range that ends now. Throws invalid-argument outside of the limits. */
export function historyRange({ rangeSeconds = DEFAULT_RANGE, stepSeconds }: RequestedRange, nowMs: number) {
  const step = stepSeconds ?? Math.max(1, Math.ceil(rangeSeconds / DEFAULT_STEPS));
  const violations = [...rangeViolations(rangeSeconds), ...stepViolations(step, rangeSeconds)];
  if (violations.length > 0) throw invalidArgument("the request", violations);
  const stepMs = step * 1000;
  // Aligned, so that reads of the same range agree on the times.
  const endMs = Math.floor(nowMs / stepMs) * stepMs;
  return { startMs: endMs - Math.floor(rangeSeconds / step) * stepMs, endMs, stepMs } satisfies HistoryRange;
}

function rangeViolations(range: number): readonly Violation[] {
  if (range >= MIN_RANGE && range <= MAX_RANGE) return [];
  const fix = `use ${MIN_RANGE} to ${MAX_RANGE} seconds`;
  return [{ path: "$.range_seconds", message: `is ${range}`, fix }];
}

function stepViolations(step: number, range: number): readonly Violation[] {
  if (range < MIN_RANGE || range > MAX_RANGE) return [];
  const least = Math.max(1, Math.ceil(range / MAX_STEPS));
  if (step >= least && step <= range) return [];
  const fix = `use ${least} to ${range} seconds: a range has at most ${MAX_STEPS} steps`;
  return [{ path: "$.step_seconds", message: `is ${step}`, fix }];
}
