import type {
  NfrCompliance as WireCompliance,
  NfrMeasurement as WireMeasurement,
  NfrRecommendation as WireRecommendation,
} from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import type { NfrCompliance, NfrMeasurement, NfrRecommendation } from "@oaas/models";
import { nonEmpty } from "./non-empty.ts";

/** The recommendations of a cluster; those without a finite target are dropped, since JSON has no such numbers. */
export function recommendationsFromWire(all: readonly WireRecommendation[]): readonly NfrRecommendation[] | undefined {
  const read = all.filter(({ target }) => Number.isFinite(target)).map(recommendationFromWire);
  return read.length === 0 ? undefined : read;
}

function recommendationFromWire(one: WireRecommendation): NfrRecommendation {
  const { evidence, applied } = one;
  return omitUndefined({
    component: one.component,
    dimension: one.dimension,
    target: one.target,
    lowerBound: finite(one.lowerBound),
    upperBound: finite(one.upperBound),
    current: finite(one.current),
    confidence: finite(one.confidence),
    basis: nonEmpty(one.basis),
    evidence:
      evidence &&
      omitUndefined({
        window: evidence.window,
        query: evidence.query,
        values: finiteValues(evidence.values),
        floor: nonEmpty(evidence.floor),
        ceiling: nonEmpty(evidence.ceiling),
      }),
    observedAt: nonEmpty(one.observedAt),
    validUntil: nonEmpty(one.validUntil),
    applied:
      applied &&
      omitUndefined({
        action: applied.action,
        lane: applied.lane,
        recommended: finite(applied.recommended),
        path: applied.path,
        clampedBy: nonEmpty(applied.clampedBy),
        appliedAt: applied.appliedAt,
        policyVersion: applied.policyVersion,
        digest: applied.digest,
      }),
  });
}

export function complianceFromWire(compliance: WireCompliance): NfrCompliance {
  const { measurements } = compliance;
  return omitUndefined({
    overall: compliance.overallStatus,
    throughput: nonEmpty(compliance.throughputStatus),
    latency: nonEmpty(compliance.latencyStatus),
    availability: nonEmpty(compliance.availabilityStatus),
    errorRate: nonEmpty(compliance.errorRateStatus),
    lastChecked: compliance.lastChecked,
    measurements: measurements.length === 0 ? undefined : measurements.map(measurementFromWire),
  });
}

function measurementFromWire(one: WireMeasurement): NfrMeasurement {
  return omitUndefined({
    requirement: one.requirement,
    component: one.component,
    status: nonEmpty(one.status),
    reason: nonEmpty(one.reason),
    required: finite(one.required) ?? 0,
    observed: finite(one.observed),
    unit: one.unit,
    window: nonEmpty(one.window) ?? (one.windowSeconds > 0 ? `${one.windowSeconds}s` : undefined),
    since: nonEmpty(one.since),
    errorBudgetLeft: finite(one.errorBudgetLeft),
    burnRates: one.burnRates.map(({ longWindow, shortWindow, longRate, shortRate }) =>
      omitUndefined({ longWindow, shortWindow, longRate: finite(longRate), shortRate: finite(shortRate) }),
    ),
  });
}

function finite(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function finiteValues(values: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => Number.isFinite(value)));
}
