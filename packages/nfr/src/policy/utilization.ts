import type { PolicyInput, PolicyState, UtilizationMove } from "../enforcement.ts";
import { MAX_TARGET_UTILIZATION, START_TARGET_UTILIZATION } from "../utilization.ts";

const STEP = 0.05;
/** Up to this share of the error budget of the last six hours, replicas may run hotter. */
const UNSPENT = 0.02;
/** From this share of the error budget of the last hour on, replicas run too hot. */
const TOO_HOT = 0.2;
/** The time after any action until the next step, so that the error budget shows the effect of the last one. */
const SETTLED_MS = 30 * 60_000;

/**
 * Moves the target of an autoscaler by what the requests of the last hours prove. Where nearly all of the error budget is
 * left, the target rises by a step. Where a part of it was spent, the target falls by a step, and where all of it was
 * spent, to its start.
 */
export function proposeUtilization(
  { nowMs, utilization: from, recommendation }: PolicyInput,
  { lastAction }: PolicyState,
): UtilizationMove | undefined {
  const spent = recommendation?.lasting?.spent;
  if (from === undefined || spent === undefined) return undefined;
  if (from > START_TARGET_UTILIZATION && spent.hour >= 1) return { from, to: START_TARGET_UTILIZATION };
  if (lastAction !== undefined && nowMs - lastAction.atMs < SETTLED_MS) return undefined;
  if (from > START_TARGET_UTILIZATION && spent.hour >= TOO_HOT)
    return { from, to: Math.max(START_TARGET_UTILIZATION, wholePercent(from - STEP)) };
  if (from < MAX_TARGET_UTILIZATION && spent.sixHours < UNSPENT)
    return { from, to: Math.min(MAX_TARGET_UTILIZATION, wholePercent(from + STEP)) };
  return undefined;
}

/** An autoscaler takes whole percent. */
function wholePercent(share: number): number {
  return Math.round(100 * share) / 100;
}

/** Whether less capacity is kept for the same load. */
export function isHotter(move: UtilizationMove | undefined): boolean {
  return move !== undefined && move.to > move.from;
}

export function utilizationText({ from, to }: UtilizationMove): string {
  return `target utilization ${Math.round(100 * from)} % to ${Math.round(100 * to)} %`;
}
