import type { Recommendation } from "@oaas/nfr";
import { recommendMaximum, recommendMinimum } from "@oaas/nfr/policy";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";

/** The recommendation for a value. Those for the limits of an autoscaler follow from the one for replicas. */
export function recommendationFor(
  { dimension, current, isMinimum, maximumOf }: EnforceableValue,
  recommendations: readonly Recommendation[],
): Recommendation | undefined {
  const wanted = maximumOf === undefined ? dimension : "replicas";
  const recommended = recommendations.find((each) => each.dimension === wanted);
  if (recommended && maximumOf) return recommendMaximum(recommended, { maximum: current, ...maximumOf });
  return recommended && isMinimum ? recommendMinimum(recommended, current) : recommended;
}
