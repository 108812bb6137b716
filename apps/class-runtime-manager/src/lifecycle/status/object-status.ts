import { equalJson, timestamp, violationText, type Violation } from "@oaas/foundation";
import type { StatusCondition } from "./conditions.ts";
import type { Reason } from "../observation/reasons.ts";

/** One condition of a template or an environment. */
export interface ObjectCondition {
  readonly type: "Ready" | "RolledOut";
  readonly status: "True" | "False";
  readonly reason: Reason;
  readonly message: string;
}

/** What the statuses of templates and environments have in common. */
export interface ObjectStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly StatusCondition[] | undefined;
  readonly message?: string | undefined;
  readonly last_updated?: string | undefined;
}

/** What was found about an object: the first claim tells its state in words. */
export interface ObjectFindings<Extra extends object> {
  readonly generation: number;
  readonly conditions: readonly [ObjectCondition, ...ObjectCondition[]];
  /** Members of its own. */
  readonly extra: Extra;
}

/** Usable, or not with every violation that stands in the way. */
export function readyCondition(violations: readonly Violation[], readyMessage: string): ObjectCondition {
  if (violations.length === 0) return { type: "Ready", status: "True", reason: "Ready", message: readyMessage };
  const message = violations.map(violationText).join("; ");
  return { type: "Ready", status: "False", reason: "InvalidSpec", message };
}

/** The status after a look; the very one that was given when it says the same. Transition times move only with the status they date. */
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
