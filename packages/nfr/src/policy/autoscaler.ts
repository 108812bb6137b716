import type { Recommendation } from "../recommendation.ts";

/**
 * The recommendation for the minimum of an autoscaler that is `minimum` now. The autoscaler reacts to load by itself and
 * faster, so its minimum covers what lasts; and only what the user stated while it copes: few requests are slow, at least
 * half of the recommended replicas are ready, and they are more than a raised minimum asks for.
 */
export function recommendMinimum(recommendation: Recommendation, minimum: number): Recommendation {
  const { lasting, target, lowerBound } = recommendation;
  if (lasting === undefined) return recommendation;
  const { replicas, stated, isWithinBudget, ready } = lasting;
  const isCoping = isWithinBudget && 2 * ready >= target && (minimum <= stated || ready > minimum);
  const least = Math.min(target, isCoping ? stated : replicas);
  return { ...recommendation, target: least, lowerBound: Math.min(lowerBound, least) };
}
