import type { PolicyInput, PolicySettings, PolicyState } from "../enforcement.ts";
import { round, secondsText } from "./limits.ts";

/**
 * none: no open action. pending: the result is still watched. worse: the action is to be reverted. passed: the action
 * made nothing worse. unknown: the result cannot be attributed to the action.
 */
export interface Verification {
  readonly result: "none" | "pending" | "worse" | "passed" | "unknown";
  readonly detail: string;
  readonly untilMs?: number;
}

/**
 * Judges the last action after its verification time. An increase that the nodes cannot hold is reverted. A requirement
 * that is met is never worse. An increase is otherwise reverted only when the target was reached: below it, the demand
 * explains the violation.
 */
export function verifyLastAction(input: PolicyInput, state: PolicyState, settings: PolicySettings): Verification {
  const { lastAction } = state;
  if (!lastAction || lastAction.isVerified) return { result: "none", detail: "no action is open" };
  const { nowMs, badness, current, recommendation, schedulable } = input;
  const untilMs = lastAction.atMs + settings.verificationMs;
  if (nowMs < untilMs)
    return { result: "pending", detail: `the result is watched for another ${secondsText(untilMs - nowMs)}`, untilMs };
  if (current !== lastAction.to)
    return { result: "unknown", detail: `the value is ${round(current)}, changed by another writer since the action` };
  if (schedulable !== undefined && schedulable < lastAction.to && lastAction.to > lastAction.from)
    return { result: "worse", detail: `the nodes hold ${schedulable} of ${round(lastAction.to)} replicas` };
  const before = lastAction.badnessBefore;
  const isLate = nowMs > untilMs + Math.max(settings.verificationMs, settings.maxGapMs);
  if (isLate || badness === undefined || !Number.isFinite(badness) || before === undefined)
    return { result: "unknown", detail: "the requirement was not measured before and after the action" };
  const numbers = `the worst requirement was at ${round(before)} before and is at ${round(badness)} of its target`;
  if (badness <= 1 || badness <= before * (1 + settings.verificationTolerance))
    return { result: "passed", detail: numbers };
  const isIncrease = lastAction.to > lastAction.from;
  const needsMore = (recommendation?.target ?? 0) > current * (1 + settings.upTolerance);
  if (isIncrease && needsMore)
    return { result: "passed", detail: `${numbers}, but the demand is above the current value` };
  return { result: "worse", detail: `${numbers}: worse by more than ${round(settings.verificationTolerance * 100)} %` };
}
