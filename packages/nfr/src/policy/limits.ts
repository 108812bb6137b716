import type { Dimension } from "../recommendation.ts";
import type { Limit, PolicyInput, PolicySettings } from "../enforcement.ts";

/** The limits that bind: the largest minimum and the smallest maximum. */
export interface Bounds {
  readonly min: Limit;
  readonly max: Limit;
}

export function bindingLimits(input: PolicyInput, settings: PolicySettings): Bounds {
  const none: Limit = { value: 0, source: "no minimum" };
  const largest: Limit = isCount(input.dimension)
    ? { value: settings.maxReplicas, source: "max_replicas of the policy" }
    : { value: Number.MAX_SAFE_INTEGER, source: "no maximum" };
  const min = input.minimums.reduce((binding, limit) => (limit.value > binding.value ? limit : binding), none);
  const max = input.maximums.reduce((binding, limit) => (limit.value < binding.value ? limit : binding), largest);
  return { min, max };
}

/** A target within the limits, as a whole number. A maximum takes precedence over a minimum. */
export function clampTarget(target: number, { min, max }: Bounds, dimension: Dimension): number {
  const whole = isCount(dimension) ? Math.ceil(target) : Math.round(target);
  return Math.min(Math.max(whole, min.value), max.value);
}

/** Moves from a value towards another one by at most a share of the value, and by at least `leastStep`. */
export function stepTowards(from: number, to: number, share: number, leastStep: number): number {
  const step = Math.max(leastStep, Math.ceil(from * share));
  return to > from ? Math.min(to, from + step) : Math.max(to, from - step);
}

/** Whether a dimension counts replicas. */
export function isCount(dimension: Dimension): boolean {
  return dimension === "replicas" || dimension === "max_replicas";
}

/** A value with its unit. */
export function valueText(dimension: Dimension, value: number): string {
  switch (dimension) {
    case "replicas":
      return value === 1 ? "1 replica" : `${round(value)} replicas`;
    case "max_replicas":
      return `a maximum of ${round(value)} replicas`;
    case "cpu":
      return `${round(value)}m CPU`;
    case "memory":
      return `${round(value / 1024 / 1024)} MiB`;
  }
}

/** At most two decimals. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function secondsText(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}

export function percentText(share: number): string {
  return `${round(share * 100)} %`;
}
