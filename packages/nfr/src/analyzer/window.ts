import type { Series, Signal } from "../samples.ts";
import type { Window } from "./aggregates.ts";
import type { Findings } from "./findings.ts";

/** The range and step of the samples, and now. */
export interface WindowBounds {
  readonly nowMs: number;
  readonly windowMs: number;
  readonly stepMs: number;
}

/** A petabyte; no signal has larger values, and sums of them stay exact enough. */
const MAX_VALUE = 1e15;

const EMPTY: Window = { times: [], values: [] };

/**
 * Cleans the samples of the window (now - windowMs, now]: drops invalid values and samples from the future, sorts, and
 * keeps the larger of two samples with one time. Everything dropped is named in the findings.
 */
export function cleanSeries(
  series: Series | undefined,
  signal: Signal,
  bounds: WindowBounds,
  findings: Findings,
): Window {
  if (series === undefined || series.length === 0) return EMPTY;
  const { times, values, isAscending } = keepValid(series, signal, bounds, findings);
  const window = isAscending ? { times, values } : sortSamples(times, values, signal, findings);
  reportGaps(window, signal, bounds.stepMs, findings);
  return window;
}

function keepValid(series: Series, signal: Signal, { nowMs, windowMs }: WindowBounds, findings: Findings) {
  const times: number[] = [];
  const values: number[] = [];
  const startMs = nowMs - windowMs;
  let invalid = 0;
  let future = 0;
  let isAscending = true;
  let previous = startMs;
  for (const { atMs, value } of series) {
    if (!Number.isFinite(atMs) || !(value >= 0 && value <= MAX_VALUE)) invalid += 1;
    else if (atMs > nowMs) future += 1;
    else if (atMs > startMs) {
      isAscending &&= atMs > previous;
      previous = atMs;
      times.push(atMs);
      values.push(value);
    }
  }
  if (invalid > 0) {
    const detail = `${invalid} of ${series.length} samples are not finite, negative or implausible`;
    findings.add("invalid-values", detail, signal);
  }
  if (future > 0) findings.add("future-samples", `${future} of ${series.length} samples are from the future`, signal);
  return { times, values, isAscending };
}

/** Sorts by time, and keeps the larger of two samples with one time. */
function sortSamples(times: readonly number[], values: readonly number[], signal: Signal, findings: Findings): Window {
  const order = [...times.keys()].sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
  const sorted: { readonly times: number[]; readonly values: number[] } = { times: [], values: [] };
  for (const index of order) {
    const last = sorted.times.length - 1;
    const value = values[index] ?? 0;
    if (sorted.times[last] === times[index]) sorted.values[last] = Math.max(sorted.values[last] ?? value, value);
    else {
      sorted.times.push(times[index] ?? 0);
      sorted.values.push(value);
    }
  }
  if (order.some((index, position) => index !== position)) {
    findings.add("unordered-samples", "samples are not in the order of time", signal);
  }
  const duplicates = times.length - sorted.times.length;
  if (duplicates > 0) findings.add("duplicate-samples", `${duplicates} samples have the time of another`, signal);
  return sorted;
}

function reportGaps({ times }: Window, signal: Signal, stepMs: number, findings: Findings): void {
  let missing = 0;
  for (let i = 1; i < times.length; i += 1) {
    missing += Math.max(0, Math.round(((times[i] ?? 0) - (times[i - 1] ?? 0)) / stepMs) - 1);
  }
  if (missing > 0) findings.add("gap", `${missing} of ${times.length + missing} samples are missing`, signal);
}

/** The value of a window at a time: the newest sample that is at most one and a half steps old. */
export function valueAt({ times, values }: Window, atMs: number, stepMs: number): number | undefined {
  for (let i = times.length - 1; i >= 0; i -= 1) {
    const time = times[i] ?? 0;
    if (time > atMs) continue;
    return atMs - time <= 1.5 * stepMs ? values[i] : undefined;
  }
  return undefined;
}

/** The amount that a rate adds up to, such as requests from requests per second. A sample covers at most one step. */
export function integrateRate({ times, values }: Window, stepMs: number, afterMs = Number.NEGATIVE_INFINITY): number {
  let total = 0;
  for (let i = times.length - 1; i >= 0; i -= 1) {
    const time = times[i] ?? 0;
    if (time <= afterMs) break;
    total += ((values[i] ?? 0) * coveredMs(time, times[i - 1], stepMs)) / 1000;
  }
  // 20 samples of 1.5 requests are 30.
  return Math.round(total * 1e6) / 1e6;
}

/** The time that a sample stands for: since the previous one, at most one step. */
export function coveredMs(atMs: number, previousMs: number | undefined, stepMs: number): number {
  return previousMs === undefined ? stepMs : Math.min(stepMs, atMs - previousMs);
}
