import type { DecayingHistogram } from "./decaying-histogram.ts";
import { CONFIDENCE_INTERVAL_MS, PERCENTILES, SAFETY_MARGIN } from "./settings.ts";

const MAX_AMOUNT = 1e14;

/** Whole millicores or bytes. */
export interface Estimate {
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
}

/** How much was measured. */
export interface History {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly samples: number;
}

/** Days of history at one sample per minute; fewer samples count as a shorter history. */
export function confidenceOf({ firstMs, lastMs, samples }: History): number {
  return Math.min((lastMs - firstMs) / CONFIDENCE_INTERVAL_MS, samples / (CONFIDENCE_INTERVAL_MS / 60_000));
}

/**
 * The resources for a distribution of usage: percentiles with a safety margin. A short history widens the bounds: the
 * upper one by 1 + 1/days, the lower one by 1/(1 + 0.001/days)².
 */
export function estimate(usage: DecayingHistogram, unit: number, confidence: number, minimum: number): Estimate {
  const withMargin = (share: number): number => {
    const base = wholeAmount(usage.percentile(share) * unit);
    return base + wholeAmount(base * SAFETY_MARGIN);
  };
  const atLeastMinimum = (amount: number): number => Math.max(amount, minimum);
  const narrowing = 1 + 0.001 / confidence;
  return {
    target: atLeastMinimum(withMargin(PERCENTILES.target)),
    lowerBound: atLeastMinimum(wholeAmount(withMargin(PERCENTILES.lowerBound) * (1 / (narrowing * narrowing)))),
    upperBound: atLeastMinimum(wholeAmount(withMargin(PERCENTILES.upperBound) * (1 + 1 / confidence))),
  };
}

function wholeAmount(amount: number): number {
  return Math.trunc(Math.min(amount, MAX_AMOUNT));
}
