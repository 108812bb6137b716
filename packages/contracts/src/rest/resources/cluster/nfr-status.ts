import type {
  EnforcementAction,
  EnforcementDimensionState,
  EnforcementReport,
  NfrAppliedChange,
  NfrBurnRate,
  NfrCompliance,
  NfrCondition,
  NfrEvidence,
  NfrMeasurement,
  NfrRecommendation,
  RecordedDecision,
} from "@oaas/models";
import {
  array,
  defaulted,
  map,
  nested,
  nullable,
  number,
  optional,
  required,
  resource,
  string,
} from "../../reading/resource.ts";

/** The numbers behind a recommendation. */
export const nfrEvidence = resource<NfrEvidence>()({
  window: required("window", "Window of the samples, e.g. `10m`.", string()),
  query: required("query", "Query of the signal that set the target.", string()),
  values: defaulted("values", "Numbers that entered the computation, by name.", map(number()), {}),
  floor: optional("floor", "Floor that set the target, e.g. `min_scale`.", string()),
  ceiling: optional("ceiling", "Limit that cut the target, e.g. `max_scale`.", string()),
});

/** How a recommendation was applied. */
export const nfrAppliedChange = resource<NfrAppliedChange>()({
  action: required("action", "`apply` or `revert`.", string()),
  lane: required("lane", "`stable`, `emergency` or `verification`.", string()),
  recommended: optional("recommended", "Recommended value, if a limit cut the change.", number()),
  path: required("path", "Field that was changed.", string()),
  clampedBy: optional("clamped_by", "Limit that cut the change, e.g. `max_scale 5`.", string()),
  appliedAt: required("applied_at", "Time of the change.", string()),
  policyVersion: required("policy_version", "Version of the policy that decided.", string()),
  digest: required("digest", "Digest of the inputs of the decision.", string()),
});

/** A recommended or applied value. */
export const nfrRecommendation = resource<NfrRecommendation>()({
  component: required("component", "Function key, or `odgm`.", string()),
  dimension: required("dimension", "`replicas`, `cpu` (millicores) or `memory` (bytes).", string()),
  target: required("target", "Recommended or applied value.", number()),
  lowerBound: optional("lower_bound", "Lowest value that the data supports.", number()),
  upperBound: optional("upper_bound", "Highest value that the data supports.", number()),
  current: optional(
    "current",
    "Value in effect when it was computed; of an applied change, the value before.",
    number(),
  ),
  confidence: optional("confidence", "Confidence, 0 to 1.", number()),
  basis: optional("basis", "The computation in words.", string()),
  evidence: optional("evidence", "The computation in numbers.", nested(nfrEvidence)),
  observedAt: optional("observed_at", "Time of the recommendation.", string()),
  validUntil: optional("valid_until", "Time after which the recommendation is outdated.", string()),
  applied: optional("applied", "How the recommendation was applied.", nested(nfrAppliedChange)),
});

/** How fast the error budget is spent. */
export const nfrBurnRate = resource<NfrBurnRate>()({
  longWindow: required("long_window", "Long window, e.g. `1h`.", string()),
  shortWindow: required("short_window", "Short window, e.g. `5m`.", string()),
  longRate: optional("long_rate", "Burn rate over the long window; absent with too few requests.", number()),
  shortRate: optional("short_rate", "Burn rate over the short window; absent with too few requests.", number()),
});

/** One requirement and its measurement. */
export const nfrMeasurement = resource<NfrMeasurement>()({
  requirement: required("requirement", "Field of the requirement, e.g. `max_latency_ms`.", string()),
  component: required("component", "Function key or `odgm`; empty for the class.", string()),
  status: optional("status", "`met`, `violated` or `unknown`.", string()),
  reason: optional("reason", "Why the status is unknown, e.g. too few requests.", string()),
  required: required("required", "Required value.", number()),
  observed: optional("observed", "Measured value; absent without enough samples.", number()),
  unit: required("unit", "Unit of both values.", string()),
  window: optional("window", "Window of the measurement, e.g. `10m`.", string()),
  since: optional("since", "Time since which the status holds.", string()),
  errorBudgetLeft: optional(
    "error_budget_left",
    "Share of the error budget that is left; negative when overspent.",
    number(),
  ),
  burnRates: defaulted(
    "burn_rates",
    "How fast the error budget is spent: 1 spends it exactly over the period of the objective.",
    array(nested(nfrBurnRate)),
    [],
  ),
});

/** Compliance with the non-functional requirements. */
export const nfrCompliance = resource<NfrCompliance>()({
  overall: required("overall_status", "Overall compliance with the requirements.", string()),
  throughput: nullable("throughput_status", "Throughput compliance; null when not measured.", string()),
  latency: nullable("latency_status", "Latency compliance; null when not measured.", string()),
  availability: nullable("availability_status", "Availability compliance; null when not measured.", string()),
  errorRate: optional("error_rate_status", "Error rate compliance; absent when not measured.", string()),
  lastChecked: required("last_checked", "Time of the measurement.", string()),
  measurements: optional("measurements", "Each requirement of each component.", array(nested(nfrMeasurement))),
});

/** A condition about the requirements. */
export const nfrCondition = resource<NfrCondition>()({
  type: required("type", "`NfrObserved` or `NfrEnforced`.", string()),
  status: required("status", "`True`, `False` or `Unknown`.", string()),
  reason: required("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: required("message", "Human-readable message.", string()),
});

/** A change by enforcement. */
export const enforcementAction = resource<EnforcementAction>()({
  at: required("at", "Time of the change.", string()),
  from: required("from", "Value before the change.", number()),
  to: required("to", "Value after the change.", number()),
  lane: required("lane", "`stable`, `emergency` or `verification`.", string()),
});

/** What enforcement remembers of one dimension of one component. */
export const enforcementDimensionState = resource<EnforcementDimensionState>()({
  component: required("component", "Function key, or `odgm`.", string()),
  dimension: required("dimension", "`replicas`, `cpu` or `memory`.", string()),
  lastSkip: optional("last_skip", "Reason of the last decision not to act, e.g. `cooldown`.", string()),
  lastAction: optional("last_action", "Last change.", nested(enforcementAction)),
  frozenUntil: optional("frozen_until", "Nothing but the emergency lane acts before this time.", string()),
  directionChanges: required("direction_changes", "Changes of direction in the last hour.", number()),
});

/** A decision that can be recomputed. */
export const recordedDecision = resource<RecordedDecision>()({
  component: required("component", "Function key, or `odgm`.", string()),
  dimension: required("dimension", "`replicas`, `cpu` or `memory`.", string()),
  appliedAt: required("applied_at", "Time of the change.", string()),
  digest: required("digest", "Digest of the record.", string()),
  eventName: required("event_name", "Name of the Kubernetes Event of the change.", string()),
  record: required("record", "Settings, input and outcome of the decision, as JSON; for `oaas nfr verify`.", string()),
});

/** The state of enforcement of one class runtime. */
export const enforcementReport = resource<EnforcementReport>()({
  conditions: required("conditions", "The conditions about the requirements.", array(nested(nfrCondition))),
  states: required("states", "What enforcement remembers, by dimension.", array(nested(enforcementDimensionState))),
  decisions: required("decisions", "Newest changes with their records.", array(nested(recordedDecision))),
});

export const enforcementReportToWire = enforcementReport.toJson;

/** The fields of a status with recommendations. */
export const recommendationFields = {
  recommendations: optional(
    "nfr_recommendations",
    "Values that the cluster recommends from its measurements; absent when not measured.",
    array(nested(nfrRecommendation)),
  ),
  lastApplied: optional(
    "last_applied_recommendations",
    "The last applied recommendation of each dimension of each component.",
    array(nested(nfrRecommendation)),
  ),
};
