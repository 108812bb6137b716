import { create } from "@bufbuild/protobuf";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { NfrComplianceSchema, type NfrCompliance } from "@oaas/contracts/grpc";
import { omitUndefined } from "../omit-empty.ts";

type StatusRecommendation = NonNullable<ClassRuntimeStatus["nfr_recommendations"]>[number];
type StatusApplied = NonNullable<ClassRuntimeStatus["last_applied_recommendations"]>[number];
type StatusCompliance = NonNullable<ClassRuntimeStatus["nfr_compliance"]>;

export function recommendationToWire(one: StatusRecommendation) {
  return omitUndefined({
    component: one.component,
    dimension: one.dimension,
    target: one.target,
    basis: one.basis,
    confidence: one.confidence,
    current: one.current,
    lowerBound: one.lower_bound,
    upperBound: one.upper_bound,
    evidence: one.evidence && omitUndefined(one.evidence),
    observedAt: one.observed_at,
    validUntil: one.valid_until,
  });
}

/** An applied recommendation; without details when the Rust manager wrote it. */
export function appliedToWire(one: StatusApplied) {
  const { action, lane, recommended, path = "", clamped_by, applied_at = "", policy_version = "", digest = "" } = one;
  if (action === undefined || lane === undefined) return recommendationToWire(one);
  const clampedBy = clamped_by && `${clamped_by.source} ${clamped_by.value}`;
  return {
    ...recommendationToWire(one),
    applied: omitUndefined({
      action,
      lane,
      recommended,
      path,
      clampedBy,
      appliedAt: applied_at,
      policyVersion: policy_version,
      digest,
    }),
  };
}

export function nfrComplianceToWire(one: StatusCompliance): NfrCompliance {
  return create(
    NfrComplianceSchema,
    omitUndefined({
      overallStatus: one.overall_status,
      throughputStatus: one.throughput_status,
      latencyStatus: one.latency_status,
      availabilityStatus: one.availability_status,
      errorRateStatus: one.error_rate_status,
      lastChecked: one.last_checked ?? "",
      measurements: (one.measurements ?? []).map(measurementToWire),
    }),
  );
}

function measurementToWire(one: NonNullable<StatusCompliance["measurements"]>[number]) {
  return omitUndefined({
    requirement: one.requirement,
    component: one.component ?? "",
    required: one.required,
    observed: one.observed,
    unit: one.unit ?? "",
    windowSeconds: one.window_seconds ?? 0,
    confidence: one.confidence ?? 0,
    status: one.status ?? "",
    reason: one.reason,
    window: one.window ?? "",
    since: one.since ?? "",
    errorBudgetLeft: one.error_budget_left,
    burnRates: (one.burn_rates ?? []).map(({ long, short, long_rate, short_rate }) =>
      omitUndefined({ longWindow: long, shortWindow: short, longRate: long_rate, shortRate: short_rate }),
    ),
  });
}
