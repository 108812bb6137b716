import { safeName, type ObjectRef } from "@oaas/kube-core";
import type { PolicyDecision, PolicyInput, SkipReason } from "@oaas/nfr";
import { outcomeText, RECORD_ANNOTATION, utilizationText, valueText, type DecisionRecord } from "@oaas/nfr/policy";

/** An event in the form of the recorder. */
export interface EnforcementEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectRef;
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const ACTION = "EnforceRequirements";
const DIGEST_PREFIX = "sha256:";
const DIGITS_IN_NAME = 16;

/** The name of the Event of a decision: the object and the start of the digest, so that each leads to the other. */
export function decisionEventName(object: string, digest: string): string {
  const digits = digest.startsWith(DIGEST_PREFIX) ? digest.slice(DIGEST_PREFIX.length) : digest;
  return safeName([object, digits.slice(0, DIGITS_IN_NAME)]);
}

/** The reason of the event of a skip, such as NFRSkippedCooldown. */
function skipEventReason(reason: SkipReason): string {
  if (reason === "at-maximum") return "NFRClampedMax";
  const words = reason.split("-").map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return `NFRSkipped${words.join("")}`;
}

/** The skip reasons that are no news when nothing was decided before. */
const QUIET_AT_FIRST: ReadonlySet<SkipReason> = new Set([
  "off",
  "within-tolerance",
  "within-bounds",
  "at-minimum",
  "dimension-not-allowed",
  "no-recommendation",
]);

/** The event of a hold whose reason changed; undefined when it is the same. */
export function skipEvent(
  { component, dimension, state }: PolicyInput,
  decision: PolicyDecision & { readonly action: "hold" },
  regarding: ObjectRef,
): EnforcementEvent | undefined {
  const { reason, gates } = decision;
  if (state.lastSkip === reason || (state.lastSkip === undefined && QUIET_AT_FIRST.has(reason))) return undefined;
  const detail = gates.find(({ passed }) => !passed)?.detail ?? reason;
  return {
    type: reason === "conflict" || reason === "at-maximum" ? "Warning" : "Normal",
    reason: skipEventReason(reason),
    action: ACTION,
    note: `${component} ${dimension} not changed: ${detail}.`,
    regarding,
  };
}

/** The events of an applied action. The first carries the record of the decision. */
export function actionEvents(
  { component, dimension }: PolicyInput,
  decision: Exclude<PolicyDecision, { readonly action: "hold" }>,
  record: DecisionRecord,
  path: string,
  regarding: ObjectRef,
): readonly EnforcementEvent[] {
  const { action, lane, from, to, gates, clampedBy, utilization } = decision;
  const why = gates.find(({ gate }) => gate === (lane === "verification" ? "verification" : "stability"))?.detail ?? "";
  const change = utilization
    ? utilizationText(utilization)
    : `${valueText(dimension, from)} to ${valueText(dimension, to)}`;
  const applied: EnforcementEvent = {
    type: action === "revert" ? "Warning" : "Normal",
    reason: action === "revert" ? "NFRReverted" : "NFRApplied",
    action: ACTION,
    note: `${component} ${change} (${path}, ${lane} lane): ${why}.`,
    regarding,
    name: decisionEventName(regarding.name, record.digest),
    annotations: { [RECORD_ANNOTATION]: JSON.stringify(record) },
  };
  if (clampedBy === undefined || to <= from) return [applied];
  const note = `${component} ${change}: limited by ${clampedBy.source} (${valueText(dimension, clampedBy.value)}).`;
  return [applied, { type: "Warning", reason: "NFRClampedMax", action: ACTION, note, regarding }];
}

/** The event of an action that could not be applied. */
export function failureEvent(record: DecisionRecord, message: string, regarding: ObjectRef): EnforcementEvent {
  const { component, dimension } = record.input;
  const note = `${component} ${dimension} not changed, ${outcomeText(record.outcome)} failed: ${message}`;
  return { type: "Warning", reason: "NFRApplyFailed", action: ACTION, note, regarding };
}

/** The event of a pod that keeps its resources. */
export function resizeFailureEvent(component: string, message: string, regarding: ObjectRef): EnforcementEvent {
  const note = `${component} not resized: ${message}`;
  return { type: "Warning", reason: "NFRApplyFailed", action: ACTION, note, regarding };
}
