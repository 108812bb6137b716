import { equalJson, timestamp, violationText, type Violation } from "@oaas/foundation";
import type { StatusCondition } from "./conditions.ts";
import type { Reason } from "../observation/reasons.ts";

/** A condition of a template or an environment. */
export interface ObjectCondition {
  readonly type: "Ready" | "RolledOut";
  readonly status: "True" | "False";
  readonly reason: Reason;
  readonly message: string;
}

/** Status fields shared by templates and environments. */
export interface ObjectStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly StatusCondition[] | undefined;
  readonly message?: string | undefined;
  readonly last_updated?: string | undefined;
}

/** Assessment of an object. The first condition provides the message of the status. */
export interface ObjectFindings<Extra extends object> {
  readonly generation: number;
  readonly conditions: readonly [ObjectCondition, ...ObjectCondition[]];
  /** Kind-specific status fields. */
  readonly extra: Extra;
}

/** Ready, or not ready with all violations. */
export function readyCondition(violations: readonly Violation[], readyMessage: string): ObjectCondition {
  if (violations.length === 0) return { type: "Ready", status: "True", reason: "Ready", message: readyMessage };
  const message = violations.map(violationText).join("; ");
  return { type: "Ready", status: "False", reason: "InvalidSpec", message };
}

/**
 * Updates the status of an object; returns the previous status itself if nothing changed. Transition times change only
 * with the status of their condition.
 */
export function nextObjectStatus<Extra extends object>(
  previous: (ObjectStatus & Partial<Extra>) | undefined,
  { generation, conditions: updates, extra }: ObjectFindings<Extra>,
  nowMs: number,
): { readonly status: ObjectStatus & Partial<Extra>; readonly changed: boolean; readonly onlyExtra: boolean } {
  const now = timestamp(nowMs);
  const conditions = updates.map((update) => {
    const last = previous?.conditions?.find(({ type }) => type === update.type);
    const since = last?.status === update.status ? last.lastTransitionTime : undefined;
    return { ...update, observedGeneration: generation, lastTransitionTime: since ?? now };
  });
  const judged = { observedGeneration: generation, conditions, message: updates[0].message };
  const status = { ...judged, ...extra, last_updated: now } as ObjectStatus & Partial<Extra>;
  if (previous !== undefined && equalJson({ ...status, last_updated: "" }, { ...previous, last_updated: "" }))
    return { status: previous, changed: false, onlyExtra: false };
  const before = previous && { ...judged, conditions: previous.conditions, message: previous.message };
  const onlyExtra = previous?.observedGeneration === generation && equalJson(judged, before);
  return { status, changed: true, onlyExtra };
}
