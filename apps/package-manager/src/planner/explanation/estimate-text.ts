import type { AvailabilitySource } from "@oaas/models";
import {
  EstimateBasis,
  type AvailabilityEstimate,
  type AvailabilityMeasurement,
  type AvailabilityPrior,
} from "@oaas/models";
import { formatShare } from "./format.ts";

/** How the availability of a cluster was computed, with every number of it. */
export function estimateText(estimate: AvailabilityEstimate, measurement?: AvailabilityMeasurement): string {
  const { value, basis, prior, isPriorStated, observed } = estimate;
  switch (basis) {
    case EstimateBasis.configured:
      return "configured";
    case EstimateBasis.prior:
      return isPriorStated ? priorText(prior) : "assumed until it is measured or promised";
    case EstimateBasis.reported:
      return observed?.source === undefined ? "reported by the cluster" : SOURCE_TEXT[observed.source];
    case EstimateBasis.combined: {
      const { value: seen, hours } = observed ?? { value, hours: 0 };
      const stated = isPriorStated ? priorText(prior) : "assumed";
      return (
        `(${formatShare(prior.value)} × ${formatHours(prior.weightHours)} ${stated} + ` +
        `${formatShare(seen)} × ${formatHours(hours)} ${observedText(observed?.source, measurement)}) / ` +
        `${formatHours(prior.weightHours + hours)} = ${formatShare(value)}`
      );
    }
  }
}

function priorText({ source, date }: AvailabilityPrior): string {
  return `promised (${source}${date === undefined ? "" : `, ${date}`})`;
}

function observedText(
  source: AvailabilitySource | undefined,
  measurement: AvailabilityMeasurement | undefined,
): string {
  if (measurement === undefined) {
    return source === undefined ? "reported by the cluster" : SOURCE_TEXT[source];
  }
  const { windowHours, samples } = measurement;
  return `measured (${samples} samples in a window of ${formatHours(windowHours)})`;
}

const SOURCE_TEXT: Readonly<Record<AvailabilitySource, string>> = {
  measured: "measured by the cluster",
  ready_nodes: "share of ready nodes",
  configured: "configured",
};

function formatHours(hours: number): string {
  return `${Number(hours.toFixed(hours < 10 ? 2 : 1))} h`;
}
