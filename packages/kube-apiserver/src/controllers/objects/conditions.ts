import { wholeSeconds } from "./time.ts";
import type { Condition } from "./typed.ts";

type Conditions = readonly Condition[];

export function conditionIn(conditions: Conditions | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The desired condition; its times follow from the previous one. */
export interface Claim {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Replaces the condition in its place, or appends it; the transition time changes only with the status. Returns the
 * same list when nothing changes.
 */
export function withCondition(conditions: Conditions, claim: Claim, now: number, more: object = {}): Conditions {
  const before = conditionIn(conditions, claim.type);
  if (before && before.status === claim.status && before.reason === claim.reason && before.message === claim.message) {
    return conditions;
  }
  const time = wholeSeconds(now);
  const next: Condition = {
    ...more,
    ...claim,
    lastTransitionTime: before?.status === claim.status ? (before.lastTransitionTime ?? time) : time,
  };
  return before
    ? conditions.map((condition) => (condition.type === claim.type ? next : condition))
    : [...conditions, next];
}

export function withoutCondition(conditions: Conditions, type: string): Conditions {
  return conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions;
}
