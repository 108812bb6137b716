import { MAX_DECISION_RECORD_LENGTH, type ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import type { Basis, Lane, Limit, Recommendation } from "@oaas/nfr";
import { omitUndefined } from "../omit-empty.ts";

type StatusRecommendation = NonNullable<ClassRuntimeStatus["nfr_recommendations"]>[number];
type StatusApplied = NonNullable<ClassRuntimeStatus["last_applied_recommendations"]>[number];

/** A change that the enforcer made, as recorded in the status. */
export interface AppliedRecommendation {
  readonly recommendation: Recommendation;
  readonly action: "apply" | "revert";
  readonly lane: Lane;
  readonly from: number;
  readonly to: number;
  /** The field that was changed, such as `Deployment/web spec.replicas`. */
  readonly path: string;
  readonly clampedBy?: Limit;
  readonly appliedAtMs: number;
  readonly policyVersion: string;
  /** Digest of the inputs of the decision. */
  readonly digest: string;
  /** Settings, input and outcome of the decision, as JSON. */
  readonly record?: string;
}

/** A recommendation for the status. */
export function recommendationToStatus(one: Recommendation): StatusRecommendation {
  return omitUndefined({
    component: one.component,
    dimension: one.dimension,
    target: one.target,
    lower_bound: one.lowerBound,
    upper_bound: one.upperBound,
    basis: basisText(one.basis),
    evidence: omitUndefined({ ...one.basis, values: { ...one.basis.values } }),
    confidence: one.confidence,
    current: one.current,
    observed_at: timestamp(one.observedAtMs),
    valid_until: timestamp(one.validUntilMs),
  });
}

/** A recommendation from the status; undefined without evidence and times, as the Rust manager writes it. */
export function recommendationFromStatus(one: StatusRecommendation): Recommendation | undefined {
  const { component, dimension, target, current, evidence, observed_at, valid_until } = one;
  if (evidence === undefined || observed_at === undefined || valid_until === undefined) return undefined;
  return omitUndefined({
    component,
    dimension,
    target,
    lowerBound: one.lower_bound ?? target,
    upperBound: one.upper_bound ?? target,
    basis: omitUndefined(evidence),
    confidence: one.confidence ?? 0,
    current,
    observedAtMs: Date.parse(observed_at),
    validUntilMs: Date.parse(valid_until),
  });
}

/** A change for the status. `target` is the applied value and `current` the value before, as the documents describe. */
export function appliedToStatus(one: AppliedRecommendation): StatusApplied {
  return omitUndefined({
    ...recommendationToStatus(one.recommendation),
    target: one.to,
    current: one.from,
    recommended: one.recommendation.target,
    action: one.action,
    lane: one.lane,
    path: one.path,
    clamped_by: one.clampedBy && { ...one.clampedBy },
    applied_at: timestamp(one.appliedAtMs),
    policy_version: one.policyVersion,
    digest: one.digest,
    record: one.record === undefined || one.record.length > MAX_DECISION_RECORD_LENGTH ? undefined : one.record,
  });
}

/** Records of more changes would fill the object; older ones are in their Events until these expire. */
const MAX_RECORDS = 8;

/** Keeps the records of the newest changes only. */
export function limitRecords(changes: readonly StatusApplied[]): readonly StatusApplied[] {
  const kept = new Set(
    changes
      .filter(({ record }) => record !== undefined)
      .toSorted((a, b) => Date.parse(b.applied_at ?? "") - Date.parse(a.applied_at ?? ""))
      .slice(0, MAX_RECORDS),
  );
  return changes.map((one) => {
    if (one.record === undefined || kept.has(one)) return one;
    const { record: _record, ...rest } = one;
    return rest;
  });
}

/** A change from the status; undefined when a field of our own is missing, as the Rust manager writes it. */
export function appliedFromStatus(one: StatusApplied): AppliedRecommendation | undefined {
  const { action, lane, path, applied_at, policy_version, digest, current, recommended } = one;
  const recommendation = recommendationFromStatus({ ...one, target: recommended ?? one.target });
  if (recommendation === undefined || action === undefined || lane === undefined || current === undefined)
    return undefined;
  return omitUndefined({
    recommendation,
    action,
    lane,
    from: current,
    to: one.target,
    path: path ?? "",
    clampedBy: one.clamped_by,
    appliedAtMs: Date.parse(applied_at ?? one.observed_at ?? ""),
    policyVersion: policy_version ?? "",
    digest: digest ?? "",
    record: one.record,
  });
}

/** One sentence with the numbers: "requests_per_second 240, per_replica 95 over 10m; floor min_scale". */
function basisText({ window, values, floor, ceiling }: Basis): string {
  const numbers = Object.entries(values).map(([name, value]) => `${name} ${roundedText(value)}`);
  const over = `${numbers.length === 0 ? "no values" : numbers.join(", ")} over ${window}`;
  const limits = [
    ...(floor === undefined ? [] : [`; floor ${floor}`]),
    ...(ceiling === undefined ? [] : [`; ceiling ${ceiling}`]),
  ];
  return `${over}${limits.join("")}`.slice(0, 4096);
}

function roundedText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
