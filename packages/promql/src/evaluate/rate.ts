import type { Window } from "./selectors.ts";

interface RateOptions {
  /** Whether a decrease is a reset. */
  readonly isCounter: boolean;
  /** Per second instead of over the range. */
  readonly isRate: boolean;
  readonly prometheus: 2 | 3;
}

/**
 * The increase over a range, extrapolated to its ends as Prometheus does: to the end when the next sample is expected
 * there (within 110 % of the average distance), otherwise by half a distance, and never below a counter's zero.
 */
export function extrapolatedRate(window: Window, { isCounter, isRate, prometheus }: RateOptions): number | undefined {
  const { times, values, from, to, startMs, endMs } = window;
  if (to - from < 2) return undefined;
  const [firstMs = 0, lastMs = 0] = [times[from], times[to - 1]];
  const first = values[from] ?? 0;
  const increase = (values[to - 1] ?? 0) - first + (isCounter ? lostByResets(window) : 0);
  const sampled = (lastMs - firstMs) / 1000;
  const distance = sampled / (to - from - 1);
  const untilZero = isCounter && increase > 0 && first >= 0 ? sampled * (first / increase) : Infinity;
  const toStart = (firstMs - startMs) / 1000;
  const before =
    prometheus === 3
      ? Math.min(extrapolate(toStart, distance), untilZero)
      : extrapolate(Math.min(toStart, untilZero), distance);
  const after = extrapolate((endMs - lastMs) / 1000, distance);
  const total = increase * ((sampled + before + after) / sampled);
  return isRate ? total / ((endMs - startMs) / 1000) : total;
}

/** How far to extrapolate towards an end that is `duration` away. */
function extrapolate(duration: number, distance: number): number {
  return duration < distance * 1.1 ? duration : distance / 2;
}

/** What a counter had reached before each reset. */
function lostByResets({ values, from, to }: Window): number {
  let lost = 0;
  for (let at = from + 1; at < to; at += 1) {
    const before = values[at - 1] ?? 0;
    if ((values[at] ?? 0) < before) lost += before;
  }
  return lost;
}
