import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import type { SkipReason } from "@oaas/nfr";
import type { ClassEnforcement } from "./class-enforcement.ts";

type Condition = NonNullable<ClassRuntimeStatus["conditions"]>[number];

export const NFR_ENFORCED = "NfrEnforced";

/** What the enforcer found about a class in one tick. */
export interface EnforcementFinding {
  readonly component: string;
  readonly dimension: string;
  /** Undefined after an action. */
  readonly reason: SkipReason | undefined;
  readonly detail: string;
  /** Whether the class asks for a change that is not possible, as `detail` says. */
  readonly isRefused?: boolean;
}

/** Reasons for which a requirement may stay violated; the others are part of normal operation. */
const HINDRANCES: Readonly<Partial<Record<SkipReason, string>>> = {
  conflict: "Conflict",
  degraded: "Degraded",
  "no-data": "NoData",
  "data-outdated": "DataOutdated",
  "recommendation-outdated": "DataOutdated",
  "direction-changes": "DirectionChanges",
  "at-maximum": "AtMaximum",
  rejected: "Reverted",
  frozen: "Frozen",
  paused: "Paused",
  budget: "BudgetExhausted",
};

/**
 * The condition of a class; undefined when its mode is off. The message has no numbers that change with every tick, so
 * that an idle class is not written.
 */
export function enforcedCondition(
  { mode, problems }: ClassEnforcement,
  findings: readonly EnforcementFinding[],
  failure: string | undefined,
  previous: Condition | undefined,
  { nowMs, generation }: { readonly nowMs: number; readonly generation: number },
): Condition | undefined {
  if (mode === "off") return undefined;
  const { status, reason, message, isLasting } = judge(mode, findings, failure);
  const text = [message, ...problems].join(" ");
  const isSame = previous?.status === status && previous.reason === reason;
  // Numbers in the message of a hindrance change; the first message stands as long as its reason.
  const isSameText = isLasting !== true || previous?.message === text;
  if (isSame && isSameText && previous.observedGeneration === generation) return previous;
  return {
    type: NFR_ENFORCED,
    status,
    reason,
    message: text,
    lastTransitionTime: (previous?.status === status ? previous.lastTransitionTime : undefined) ?? timestamp(nowMs),
    observedGeneration: generation,
  };
}

function judge(
  mode: "observe" | "enforce",
  findings: readonly EnforcementFinding[],
  failure: string | undefined,
): Pick<Condition, "status"> & {
  readonly reason: string;
  readonly message: string;
  /** Whether the message has no numbers that change with every tick. */
  readonly isLasting?: boolean;
} {
  if (failure !== undefined) return { status: "False", reason: "ApplyFailed", message: failure };
  if (mode === "observe")
    return { status: "False", reason: "Observing", message: "Recommendations are shown and not applied." };
  for (const { component, dimension, reason, detail } of findings) {
    const word = reason === undefined ? undefined : HINDRANCES[reason];
    if (word !== undefined) return { status: "False", reason: word, message: `${component} ${dimension}: ${detail}.` };
  }
  const refused = findings.filter(({ isRefused }) => isRefused === true);
  const list = refused.map(({ component, dimension, detail }) => `${component} ${dimension}: ${detail}`).join("; ");
  const isAnyPossible = findings.some(({ reason }) => reason !== "dimension-not-allowed");
  if (refused.length > 0 && !isAnyPossible)
    return { status: "False", reason: "NotPossible", message: `${list}.`, isLasting: true };
  const message = "Recommendations are applied within the limits.";
  return {
    status: "True",
    reason: "Enforcing",
    message: list === "" ? message : `${message} Not changed: ${list}.`,
    isLasting: true,
  };
}
