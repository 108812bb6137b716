import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Reason } from "../observation/reasons.ts";

/** One condition of a class runtime's status. */
export type StatusCondition = NonNullable<ClassRuntimeStatus["conditions"]>[number];

/** Types in the order in which people read them. */
const ORDER = ["Available", "Progressing", "Degraded", "OdgmReady", "TelemetryConfigured"] as const;

/** A type of condition that this manager sets. */
export type ConditionType = (typeof ORDER)[number];

/** A condition to set, without its times. */
export interface ConditionUpdate {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

const conditionUpdate =
  (type: ConditionType, status: ConditionUpdate["status"]) =>
  (reason: Reason, message: string): ConditionUpdate => ({ type, status, reason, message });

/** Every component can be used. */
export const markAvailable = (message: string): ConditionUpdate =>
  conditionUpdate("Available", "True")("Serving", message);
/** Something the class needs cannot be used. */
export const markUnavailable = conditionUpdate("Available", "False");
/** Nobody can tell whether it can be used. */
export const markAvailabilityUnknown = conditionUpdate("Available", "Unknown");
/** Something is on its way and expected to arrive. */
export const markProgressing = conditionUpdate("Progressing", "True");
/** Everything is as it should be, or nothing moves any more. */
export const markNotProgressing = conditionUpdate("Progressing", "False");
/** Something is wrong. */
export const markDegraded = conditionUpdate("Degraded", "True");
/** Nothing is wrong. */
export const markNotDegraded = (): ConditionUpdate =>
  conditionUpdate("Degraded", "False")("NoFault", "No problems found.");
/** The state store serves. */
export const markOdgmReady = (message: string): ConditionUpdate =>
  conditionUpdate("OdgmReady", "True")("Ready", message);
/** The state store does not serve, or not fully. */
export const markOdgmNotReady = conditionUpdate("OdgmReady", "False");
/** Pods have the OpenTelemetry variables. */
export const markTelemetryConfigured = (): ConditionUpdate =>
  conditionUpdate("TelemetryConfigured", "True")("TelemetryEnabled", "Pods are configured to export telemetry.");
/** Telemetry is enabled, but pods do not have the OpenTelemetry variables. */
export const markTelemetryNotConfigured = conditionUpdate("TelemetryConfigured", "False");
/** Only the lifecycle sets these types; it removes those that it does not claim. */
const OWN_TYPES: ReadonlySet<string> = new Set(ORDER);

/** Whether the lifecycle alone decides conditions of this type. */
export function isLifecycleCondition(type: string): boolean {
  return OWN_TYPES.has(type) || type === UPSTREAM_TELEMETRY;
}

/**
 * A type of the Rust manager, which TelemetryConfigured replaces. It is said to be false rather than left out: its writer
 * may still own it, and then leaving it out would not make it go.
 */
const UPSTREAM_TELEMETRY = "TelemetryDegraded";

/**
 * The conditions after a pass. A claim replaces the condition of its type, and its transition time moves only when the
 * status does; conditions of other writers stay.
 */
export function nextConditions(
  previous: readonly StatusCondition[],
  updates: readonly ConditionUpdate[],
  { generation, now }: { readonly generation: number; readonly now: string },
): StatusCondition[] {
  const before = new Map(previous.map((condition) => [condition.type, condition]));
  const kept = previous.filter(({ type }) => !OWN_TYPES.has(type));
  const made = updates.map((one): StatusCondition => {
    const last = before.get(one.type);
    const since = last?.status === one.status ? last.lastTransitionTime : undefined;
    return { ...one, lastTransitionTime: since ?? now, observedGeneration: generation };
  });
  const settled = kept.map((one) => (one.type === UPSTREAM_TELEMETRY ? superseded(one, now) : one));
  return [...made, ...settled].sort((a, b) => orderOf(a.type) - orderOf(b.type) || (a.type < b.type ? -1 : 1));
}

function superseded(condition: StatusCondition, now: string): StatusCondition {
  if (condition.status === "False") return condition;
  const message = "See TelemetryConfigured.";
  return { type: condition.type, status: "False", reason: "TelemetryDisabled", message, lastTransitionTime: now };
}

function orderOf(type: string): number {
  const index = (ORDER as readonly string[]).indexOf(type);
  return index < 0 ? ORDER.length : index;
}
