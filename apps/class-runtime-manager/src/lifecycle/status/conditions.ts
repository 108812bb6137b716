import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Reason } from "../observation/reasons.ts";

/** A condition of a class runtime. */
export type StatusCondition = NonNullable<ClassRuntimeStatus["conditions"]>[number];

/** Types in display order. */
const ORDER = [
  "Available",
  "Progressing",
  "Degraded",
  "OdgmReady",
  "LayoutChangeRefused",
  "RestartRefused",
  "TelemetryConfigured",
  "PrometheusDisabled",
  "Ready",
  "Reconciling",
  "Stalled",
] as const;

/** A condition type that the lifecycle sets. */
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

/** All components serve. */
export const markAvailable = (message: string): ConditionUpdate =>
  conditionUpdate("Available", "True")("Serving", message);
/** A component does not serve. */
export const markUnavailable = conditionUpdate("Available", "False");
/** No component is known. */
export const markAvailabilityUnknown = conditionUpdate("Available", "Unknown");
/** A change is in progress. */
export const markProgressing = conditionUpdate("Progressing", "True");
/** No change is in progress. */
export const markNotProgressing = conditionUpdate("Progressing", "False");
/** A fault was found. */
export const markDegraded = conditionUpdate("Degraded", "True");
/** No fault was found. */
export const markNotDegraded = (): ConditionUpdate =>
  conditionUpdate("Degraded", "False")("NoFault", "No problems found.");
/** The state store serves. */
export const markOdgmReady = (message: string): ConditionUpdate =>
  conditionUpdate("OdgmReady", "True")("Ready", message);
/** The state store is not complete, or does not acknowledge writes. */
export const markOdgmNotReady = conditionUpdate("OdgmReady", "False");
/** A change of the state store was not applied, because objects would be lost; absent otherwise. */
export const markLayoutChangeRefused = (message: string): ConditionUpdate =>
  conditionUpdate("LayoutChangeRefused", "True")("ObjectsWouldBeLost", message);
/** Nothing is known about the state store. */
export const markOdgmUnknown = conditionUpdate("OdgmReady", "Unknown");
/** The state store should restart, but that would lose objects. */
export const markRestartRefused = (message: string): ConditionUpdate =>
  conditionUpdate("RestartRefused", "True")("RestartRefused", message);
/** Pods have the OpenTelemetry variables. */
export const markTelemetryConfigured = (): ConditionUpdate =>
  conditionUpdate("TelemetryConfigured", "True")("TelemetryEnabled", "Pods are configured to export telemetry.");
/** Telemetry is enabled, but pods do not have the OpenTelemetry variables. */
export const markTelemetryNotConfigured = conditionUpdate("TelemetryConfigured", "False");
/** Metrics of the class are not collected through the Prometheus operator. */
export const markPrometheusDisabled = conditionUpdate("PrometheusDisabled", "True");
/** Metrics of the class are collected through the Prometheus operator. */
export const markPrometheusEnabled = (message: string): ConditionUpdate =>
  conditionUpdate("PrometheusDisabled", "False")("MonitorsCreated", message);
/**
 * The conditions of kstatus, which kubectl, Argo CD and Flux read: `Ready` is always set; `Reconciling` and `Stalled` are
 * present only while they are True.
 */
export const markReady = (message: string): ConditionUpdate => conditionUpdate("Ready", "True")("Ready", message);
/** The class is not in the desired state. */
export const markNotReady = conditionUpdate("Ready", "False");
/** No reconcile has ended. */
export const markReadinessUnknown = conditionUpdate("Ready", "Unknown");
/** The class moves towards the desired state. */
export const markReconciling = conditionUpdate("Reconciling", "True");
/** The class does not reach the desired state without a change of its spec or of the cluster. */
export const markStalled = conditionUpdate("Stalled", "True");
/** Only the lifecycle sets these types; it removes those that it does not claim. */
const OWN_TYPES: ReadonlySet<string> = new Set(ORDER);

/** Whether the lifecycle owns conditions of this type. */
export function isLifecycleCondition(type: string): boolean {
  return OWN_TYPES.has(type) || type === UPSTREAM_TELEMETRY;
}

/**
 * Condition type of the Rust manager, superseded by TelemetryConfigured. It is set to False instead of removed, since
 * the Rust manager may own it.
 */
const UPSTREAM_TELEMETRY = "TelemetryDegraded";

/**
 * Updates the conditions. The transition time of a condition changes only with its status; conditions of other writers
 * stay.
 */
export function nextConditions(
  previous: readonly StatusCondition[],
  updates: readonly ConditionUpdate[],
  { generation, now }: { readonly generation: number; readonly now: string },
): StatusCondition[] {
  const before = new Map(previous.map((condition) => [condition.type, condition]));
  const kept = previous.filter(({ type }) => !OWN_TYPES.has(type));
  const updated = updates.map((one): StatusCondition => {
    const last = before.get(one.type);
    const since = last?.status === one.status ? last.lastTransitionTime : undefined;
    return { ...one, lastTransitionTime: since ?? now, observedGeneration: generation };
  });
  const foreign = kept.map((one) => (one.type === UPSTREAM_TELEMETRY ? superseded(one, now) : one));
  return [...updated, ...foreign].sort((a, b) => orderOf(a.type) - orderOf(b.type) || (a.type < b.type ? -1 : 1));
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
