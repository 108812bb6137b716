import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Compliance, Recommendation } from "@oaas/nfr";
import { complianceFromStatus, complianceToStatus } from "../../mapping/status/nfr-compliance.ts";
import { recommendationFromStatus, recommendationToStatus } from "../../mapping/status/nfr-recommendations.ts";
import { NFR_OBSERVED, observedCondition, type ObservedState } from "./observed-condition.ts";
import { complianceChange, isSameRecommendation } from "./significance.ts";

/** What the analyzer found about a class. */
export interface NfrReport {
  readonly recommendations: readonly Recommendation[];
  readonly compliance: readonly Compliance[];
  readonly observed: ObservedState;
  /** The components of the class: recommendations of others are removed. */
  readonly components: ReadonlySet<string>;
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
  const isChanged = recommendations.isChanged || compliance.isChanged || isConditionChanged;
  const { entries } = compliance;
  return {
    status: isChanged
      ? {
          nfr_recommendations: recommendations.entries.map(recommendationToStatus),
          ...(entries.length === 0 ? {} : { nfr_compliance: complianceToStatus(entries, { checkedAtMs: nowMs }) }),
          conditions: [isSameOutage ? before : observedCondition(report.observed, before, { nowMs, generation })],
        }
      : undefined,
    transitions: compliance.transitions,
    isObservationChanged,
  };
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
