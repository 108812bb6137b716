import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Compliance, Recommendation } from "@oaas/nfr";
import { isSameCapacity, saveCapacity, type CapacityCurve, type CapacityEstimate } from "@oaas/nfr/analyzer";
import { capacityFromStatus, capacityToStatus, type StoredCapacity } from "../../mapping/status/nfr-capacity.ts";
import { complianceFromStatus, complianceToStatus } from "../../mapping/status/nfr-compliance.ts";
import { recommendationFromStatus, recommendationToStatus } from "../../mapping/status/nfr-recommendations.ts";
import { NFR_OBSERVED, observedCondition, type ObservedState } from "./observed-condition.ts";
import { complianceChange, isSameRecommendation } from "./significance.ts";

/** What the analyzer found about a class. */
export interface NfrReport {
  readonly recommendations: readonly Recommendation[];
  readonly compliance: readonly Compliance[];
  readonly observed: ObservedState;
  readonly capacities?: readonly ReportedCapacity[];
  /** From this confidence on, a learnt capacity replaces the assumed one. */
  readonly minConfidence?: number;
  /** The components of the class: recommendations of others are removed. */
  readonly components: ReadonlySet<string>;
}

/** What is learnt about the capacity of a component. */
export interface ReportedCapacity {
  readonly component: string;
  readonly curve: CapacityCurve;
  readonly learnt: CapacityEstimate;
}

/** A requirement whose status changed. */
export interface ComplianceTransition {
  readonly from: Compliance | undefined;
  readonly to: Compliance;
}

export interface NfrStatusUpdate {
  /** The status fields of the analyzer; undefined when nothing is worth a write. */
  readonly status: ClassRuntimeStatus | undefined;
  readonly transitions: readonly ComplianceTransition[];
  /** Whether the status of NfrObserved changed. */
  readonly isObservationChanged: boolean;
}

/** Numbers of a measurement are written at most this often, unless a status changes. */
const NUMBERS_EVERY_MS = 5 * 60_000;
/** Bounds the size of a status. Components beyond it learn again after a restart. */
const MAX_CAPACITY_BYTES = 64 * 1024;
/** In the status: it is written on change, and NfrObserved shows whether it is up to date. */
const VALID_IN_STATUS_MS = 24 * 3_600_000;

/**
 * Computes the status fields of the analyzer, and whether they differ enough from those of the object. Unchanged entries
 * are kept as they were written.
 */
export function nextNfrStatus(
  previous: ClassRuntimeStatus | undefined,
  report: NfrReport,
  { nowMs, generation }: { readonly nowMs: number; readonly generation: number },
): NfrStatusUpdate {
  const before = conditionOf(previous);
  const recommendations = nextRecommendations(previous, report, nowMs);
  const compliance = nextCompliance(previous, report, nowMs);
  const { status, reason, message } = report.observed;
  const isObservationChanged = before?.status !== status;
  // During an outage the first message stands: it has the cause and the time, also for the next leader.
  const isSameOutage = !isObservationChanged && reason === "PrometheusUnavailable" && before?.reason === reason;
  const isConditionChanged =
    !isSameOutage && (isObservationChanged || before?.reason !== reason || before?.message !== message);
  const isCapacityChanged = hasNewCapacity(previous, report, nowMs);
  const isChanged = recommendations.isChanged || compliance.isChanged || isConditionChanged || isCapacityChanged;
  const { entries } = compliance;
  return {
    status: isChanged
      ? {
          nfr_recommendations: recommendations.entries.map(recommendationToStatus),
          ...(entries.length === 0 ? {} : { nfr_compliance: complianceToStatus(entries, { checkedAtMs: nowMs }) }),
          ...nextCapacities(previous, report),
          conditions: [isSameOutage ? before : observedCondition(report.observed, before, { nowMs, generation })],
        }
      : undefined,
    transitions: compliance.transitions,
    isObservationChanged,
  };
}

/** Whether a learnt capacity that would change decisions is worth a write of its own. */
function hasNewCapacity(
  previous: ClassRuntimeStatus | undefined,
  { capacities = [], minConfidence = 0 }: NfrReport,
  nowMs: number,
): boolean {
  return capacities.some(({ component, curve, learnt }) => {
    const written = writtenCapacity(previous, component);
    if (isSameCapacity(written, curve, learnt, minConfidence)) return false;
    return written === undefined || nowMs - written.learntUntilMs >= NUMBERS_EVERY_MS;
  });
}

/** The newest of each component. A component that was not measured keeps what is written. */
function nextCapacities(
  previous: ClassRuntimeStatus | undefined,
  { capacities = [], components }: NfrReport,
): Pick<ClassRuntimeStatus, "nfr_capacity"> {
  const next = [...components].toSorted().flatMap((component): StoredCapacity[] => {
    const known = capacities.find((one) => one.component === component);
    const saved = known === undefined ? undefined : saveCapacity(known.curve, known.learnt);
    const kept = saved ?? writtenCapacity(previous, component);
    return kept === undefined ? [] : [{ ...kept, component }];
  });
  let bytes = 0;
  const fitting = next.filter(({ points }) => (bytes += points.length) <= MAX_CAPACITY_BYTES);
  return fitting.length === 0 ? {} : { nfr_capacity: fitting.map(capacityToStatus) };
}

/** The stored capacity of a component. */
export function writtenCapacity(status: ClassRuntimeStatus | undefined, component: string): StoredCapacity | undefined {
  const written = status?.nfr_capacity?.find((one) => one.component === component);
  return written === undefined ? undefined : capacityFromStatus(written);
}

function conditionOf(status: ClassRuntimeStatus | undefined) {
  return status?.conditions?.find(({ type }) => type === NFR_OBSERVED);
}

interface NextEntries<T> {
  readonly entries: readonly T[];
  readonly isChanged: boolean;
}

/** New recommendations, and those that stand because nothing newer is known. */
function nextRecommendations(
  previous: ClassRuntimeStatus | undefined,
  { recommendations, components }: NfrReport,
  nowMs: number,
): NextEntries<Recommendation> {
  const byKey = new Map(writtenRecommendations(previous).map((one) => [keyOf(one), one]));
  let isChanged = byKey.size !== (previous?.nfr_recommendations ?? []).length;
  const next = new Map<string, Recommendation>();
  for (const one of recommendations) {
    const key = keyOf(one);
    const known = byKey.get(key);
    const isSame = known !== undefined && isSameRecommendation(known, one);
    if (!isSame) isChanged = true;
    next.set(key, isSame ? known : { ...one, validUntilMs: nowMs + VALID_IN_STATUS_MS });
  }
  for (const [key, one] of byKey) {
    if (next.has(key)) continue;
    if (components.has(one.component) && one.validUntilMs > nowMs) next.set(key, one);
    else isChanged = true;
  }
  const entries = [...next.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { entries, isChanged };
}

/** The recommendations in a status. Those of the Rust manager, which have no evidence, are not listed. */
export function writtenRecommendations(status: ClassRuntimeStatus | undefined): readonly Recommendation[] {
  const written: unknown = status?.nfr_recommendations;
  // The Rust manager writes a map from dimension to value.
  if (!Array.isArray(written)) return [];
  return (status?.nfr_recommendations ?? []).flatMap((one) => recommendationFromStatus(one) ?? []);
}

function keyOf({ component, dimension }: Recommendation): string {
  return `${component}/${dimension}`;
}

function nextCompliance(
  previous: ClassRuntimeStatus | undefined,
  { compliance }: NfrReport,
  nowMs: number,
): NextEntries<Compliance> & { readonly transitions: readonly ComplianceTransition[] } {
  const written = complianceFromStatus(previous?.nfr_compliance);
  const checkedAtMs = Date.parse(previous?.nfr_compliance?.last_checked ?? "");
  const mayWriteNumbers = !(nowMs - checkedAtMs < NUMBERS_EVERY_MS);
  const transitions: ComplianceTransition[] = [];
  let isChanged = written.length !== compliance.length;
  for (const to of compliance) {
    const from = written.find((one) => one.component === to.component && one.requirement === to.requirement);
    const change = complianceChange(from, to);
    if (change === "status" || (change === "numbers" && mayWriteNumbers)) isChanged = true;
    if (from?.status !== to.status) transitions.push({ from, to });
  }
  return { entries: compliance, isChanged, transitions };
}

/** The start of a verdict survives a restart: a verdict that is the same as the written one keeps its start. */
export function withWrittenStart(
  compliance: readonly Compliance[],
  previous: ClassRuntimeStatus | undefined,
): readonly Compliance[] {
  const written = complianceFromStatus(previous?.nfr_compliance);
  return compliance.map((one) => {
    const same = written.find(
      ({ component, requirement, status }) =>
        component === one.component && requirement === one.requirement && status === one.status,
    );
    return same !== undefined && same.sinceMs < one.sinceMs ? { ...one, sinceMs: same.sinceMs } : one;
  });
}
