import type { Recommendation } from "../recommendation.ts";

/** The maximum of an autoscaler, and what says whether it binds. */
export interface AutoscalerMaximum {
  readonly maximum: number;
  /** The maximum that the class states. */
  readonly stated: number;
  /** Replicas that the autoscaler asks for now. */
  readonly inUse: number;
}

/**
 * The recommendation for the maximum of an autoscaler. It rises to the recommended replicas while it binds: the
 * autoscaler uses all of it, and more are recommended. It returns to the stated maximum when that suffices again.
 */
export function recommendMaximum(
  recommendation: Recommendation,
  { maximum, stated, inUse }: AutoscalerMaximum,
): Recommendation {
  const { lasting: _, basis, ...rest } = recommendation;
  const wanted = Math.ceil(recommendation.target);
  const isBinding = inUse >= maximum && wanted > maximum;
  const target = isBinding ? wanted : wanted <= stated ? stated : maximum;
  const values = { ...basis.values, recommended_replicas: recommendation.target, replicas_in_use: inUse };
  return {
    ...rest,
    dimension: "max_replicas",
    target,
    lowerBound: Math.min(recommendation.lowerBound, target),
    upperBound: Math.max(recommendation.upperBound, target),
    current: maximum,
    basis: { ...basis, values },
  };
}

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
