import type { Lane, Limit, PolicyInput, PolicySettings, PolicyState, Proposal } from "../enforcement.ts";
import { bindingLimits, clampTarget, isCount, stepTowards, type Bounds } from "./limits.ts";
import { findEmergency } from "./urgency.ts";
import { proposeUtilization } from "./utilization.ts";
import { verifyLastAction, type Verification } from "./verification.ts";
import { isUsable, rememberTarget, stabilityMs, windowOf, type Window } from "./windows.ts";

export type Direction = "up" | "down" | "none";

/** Everything that the gates read. */
export interface PolicyContext {
  readonly input: PolicyInput;
  readonly settings: PolicySettings;
  /** The state with the newest target. */
  readonly state: PolicyState;
  readonly bounds: Bounds;
  /** The recommended value within the limits; absent without a usable recommendation. */
  readonly target: number | undefined;
  readonly direction: Direction;
  /** Why the emergency lane is open, in one sentence. */
  readonly emergency: string | undefined;
  readonly verification: Verification;
  /** The stability window of the direction, within the limits. */
  readonly window: Window;
  readonly proposal: Proposal | undefined;
}

export function createContext(input: PolicyInput, settings: PolicySettings): PolicyContext {
  const state = rememberTarget(input, settings);
  const bounds = bindingLimits(input, settings);
  const { recommendation, nowMs, current } = input;
  const usable =
    recommendation && isUsable(recommendation.target) && recommendation.validUntilMs >= nowMs && isUsable(current);
  const target = usable ? clampTarget(recommendation.target, bounds, input.dimension) : undefined;
  const direction = target === undefined ? "none" : directionOf(target, current, settings);
  const emergency = findEmergency(input, settings);
  const verification = verifyLastAction(input, state, settings);
  const window =
    direction === "none"
      ? { isFull: false as const, coveredMs: 0 }
      : windowOf(state.targets, nowMs, stabilityMs(direction, settings), settings.maxGapMs);
  const context = { input, settings, state, bounds, target, direction, emergency, verification, window };
  return { ...context, proposal: propose(context) };
}

/** Whether a value is outside the tolerance around the current one. */
export function directionOf(target: number, current: number, settings: PolicySettings): Direction {
  if (target > current * (1 + settings.upTolerance)) return "up";
  return target < current * (1 - settings.downTolerance) ? "down" : "none";
}

/** The change that the gates judge: the revert of a harmful action, else one of the emergency or the stable lane. */
function propose(context: Omit<PolicyContext, "proposal">): Proposal | undefined {
  const { input, settings, state, bounds, target, direction, emergency, verification } = context;
  const { current: from, dimension } = input;
  if (verification.result === "worse" && state.lastAction) {
    const to = clampTarget(Math.max(state.lastAction.from, input.schedulable ?? 0), bounds, dimension);
    return to === from ? undefined : { lane: "verification", from, to };
  }
  if (target === undefined) return undefined;
  if (direction === "none") {
    const utilization = proposeUtilization(input, state);
    return utilization && { lane: "stable", from, to: from, utilization };
  }
  if (direction === "up" && emergency !== undefined) {
    const to = emergencyTarget(context, target);
    return proposal("emergency", from, to, cutBy(context, to));
  }
  const steady = steadyTarget(context) ?? target;
  const to = stepTowards(from, steady, settings.maxDelta, 1);
  return proposal("stable", from, to, cutBy(context, to));
}

/**
 * The violation is measured, so an emergency acts with any confidence. The confidence limits the size: what the load needs
 * even by the most optimistic estimate, the lower bound, is reached in large steps, and more than that in stable ones.
 */
function emergencyTarget({ input, settings, bounds }: Omit<PolicyContext, "proposal">, target: number): number {
  const { current: from, dimension, recommendation } = input;
  const leastStep = isCount(dimension) ? settings.emergencyMinPods : 1;
  const large = stepTowards(from, target, settings.emergencyMaxDelta, leastStep);
  if (!isUncertain(input, settings)) return large;
  const certain = clampTarget(recommendation?.lowerBound ?? 0, bounds, dimension);
  return Math.min(large, Math.max(certain, stepTowards(from, target, settings.maxDelta, leastStep)));
}

/** Whether the size of the recommendation has too little confidence for the large steps of an emergency. */
export function isUncertain({ recommendation }: PolicyInput, settings: PolicySettings): boolean {
  return !((recommendation?.confidence ?? 0) >= settings.emergencyMinConfidence);
}

function proposal(lane: Lane, from: number, to: number, clampedBy: Limit | undefined): Proposal {
  return { lane, from, to, ...(clampedBy ? { clampedBy } : {}) };
}

/** The smallest target of the up window, or the largest one of the down window. */
function steadyTarget({ input, settings, state, bounds, direction }: Omit<PolicyContext, "proposal">) {
  const windowMs = direction === "up" ? settings.upWindowMs : settings.downWindowMs;
  const window = windowOf(state.targets, input.nowMs, windowMs, settings.maxGapMs);
  if (!window.isFull) return undefined;
  const targets = window.targets.map((target) => clampTarget(target, bounds, input.dimension));
  return direction === "up" ? Math.min(...targets) : Math.max(...targets);
}

/** The limit that cut the change: the proposal is at the limit and the recommendation beyond it. */
function cutBy({ input, bounds }: Omit<PolicyContext, "proposal">, to: number): Limit | undefined {
  const wanted = input.recommendation?.target ?? to;
  if (to === bounds.max.value && wanted > to) return bounds.max;
  return to === bounds.min.value && wanted < to ? bounds.min : undefined;
}

/** Whether a change goes against the last action. */
export function isDirectionChange(
  { lastAction }: PolicyState,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return (
    to !== from && lastAction !== undefined && Math.sign(lastAction.to - lastAction.from) === -Math.sign(to - from)
  );
}
