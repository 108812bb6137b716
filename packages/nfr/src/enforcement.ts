import type { Dimension, Recommendation } from "./recommendation.ts";

/** off: nothing is measured. observe: recommendations only. enforce: recommendations are applied. */
export type EnforcementMode = "off" | "observe" | "enforce";

/** stable: after a stability window. emergency: at once, when the error budget burns. verification: the result of an action is worse. */
export type Lane = "stable" | "emergency" | "verification";

/** The limits of the policy; the defaults are in `policy/`. All times are in milliseconds. */
export interface PolicySettings {
  /** Stored with every decision, so that a decision can be recomputed. */
  readonly version: string;
  readonly stabilityMs: number;
  readonly cooldownMs: number;
  /** The largest change of one stable action, as a share of the current value. */
  readonly maxDelta: number;
  /** A target above the current value by at most this share is not worth an increase. */
  readonly upTolerance: number;
  readonly downTolerance: number;
  /** An increase goes to the smallest target of this window, a decrease to the largest one of its window. */
  readonly upWindowMs: number;
  readonly downWindowMs: number;
  /** A longer time without a target interrupts every window. */
  readonly maxGapMs: number;
  readonly emergencyBurnRate: number;
  readonly emergencyRatio: number;
  readonly emergencyRatioMs: number;
  readonly emergencyCooldownMs: number;
  readonly emergencyMinPods: number;
  readonly emergencyMaxDelta: number;
  /** With less confidence, an emergency goes beyond the lower bound of the estimate by stable steps only. */
  readonly emergencyMinConfidence: number;
  readonly maxDirectionChangesPerHour: number;
  /** How long the result of an action is watched. */
  readonly verificationMs: number;
  /** An action is reverted when a requirement is violated by this share more than before. */
  readonly verificationTolerance: number;
  /** How long nothing but the emergency lane acts after an action was reverted. */
  readonly freezeMs: number;
  readonly maxReplicas: number;
}

/** A limit on a dimension and where it comes from, such as `max_scale` or `HPA web maxReplicas`. */
export interface Limit {
  readonly value: number;
  readonly source: string;
}

/** How urgent a change is, from the compliance of the component. */
export interface Urgency {
  readonly burnRate5m?: number;
  readonly burnRate1h?: number;
  /** Demand relative to capacity, or latency relative to its requirement; above 1 the requirement is violated. */
  readonly ratio?: number;
  /** Since when the ratio has been at or above the emergency ratio. */
  readonly ratioSinceMs?: number;
}

/** Why a class must not be changed now. */
export const BLOCKERS = [
  "rolling-out",
  "progressing",
  "degraded",
  "data-outdated",
  "no-data",
  "conflict",
  "budget",
] as const;

export type Blocker = (typeof BLOCKERS)[number];

/** A change of the target of an autoscaler, 0 to 1. */
export interface UtilizationMove {
  readonly from: number;
  readonly to: number;
}

/** One question to the policy: one dimension of one component at one time. */
export interface PolicyInput {
  readonly nowMs: number;
  readonly mode: EnforcementMode;
  readonly component: string;
  readonly dimension: Dimension;
  /** Whether the class allows enforcement of this dimension. */
  readonly isAllowed: boolean;
  /** Why it is not allowed, when the class is not the reason. */
  readonly whyNotAllowed?: string;
  /** Absent when nothing is known: then nothing changes. */
  readonly recommendation?: Recommendation;
  /** The value in effect; pods that are starting count. */
  readonly current: number;
  /** The value is the minimum of an autoscaler, and the recommendation is one for it. */
  readonly isMinimum?: true;
  /** The share of the requested CPU that this autoscaler keeps, 0 to 1; absent where the policy does not move it. */
  readonly utilization?: number;
  /** All limits; the largest minimum and the smallest maximum bind. */
  readonly minimums: readonly Limit[];
  readonly maximums: readonly Limit[];
  readonly urgency: Urgency;
  readonly blockers: readonly Blocker[];
  readonly pausedUntilMs?: number;
  readonly isFrozen: boolean;
  /** When this process became the leader. */
  readonly leaderSinceMs: number;
  /** The worst requirement relative to its target, above 1 when violated, to verify the last action; absent when unknown. */
  readonly badness?: number;
  /** The replicas that the nodes hold, while others find no node; absent when all do. */
  readonly schedulable?: number;
  readonly state: PolicyState;
}

/** What the policy remembers of one dimension of one component. Plain JSON: it is stored in the status. */
export interface PolicyState {
  /** Targets of the last windows, oldest first, bounded. */
  readonly targets: readonly { readonly atMs: number; readonly target: number }[];
  readonly lastAction?: AppliedAction;
  /** The last action of the emergency lane; nothing decreases until a stable window has passed. */
  readonly lastEmergencyMs?: number;
  /** Times of changes of direction in the last hour. */
  readonly directionChangesMs: readonly number[];
  readonly frozenUntilMs?: number;
  /** The last value that was verified. */
  readonly lastGood?: number;
  /** The last reverted action; it is not repeated until the target moves further. */
  readonly rejected?: RejectedAction;
  /** The last reason not to act, so that only a change of it becomes an event. */
  readonly lastSkip?: SkipReason;
}

export interface AppliedAction {
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly lane: Lane;
  /** The target that the action followed. */
  readonly target: number;
  readonly badnessBefore?: number;
  readonly isVerified: boolean;
}

/** An action that made a requirement worse. */
export interface RejectedAction {
  readonly from: number;
  readonly to: number;
  /** The target that the action followed. */
  readonly target: number;
}

/** Why the policy holds. */
export const SKIP_REASONS = [
  "off",
  "observe",
  "dimension-not-allowed",
  "no-recommendation",
  "recommendation-outdated",
  "within-tolerance",
  "within-bounds",
  "at-maximum",
  "at-minimum",
  "stability",
  "cooldown",
  "verifying",
  "frozen",
  "paused",
  "rejected",
  "leader-change",
  "after-emergency",
  "direction-changes",
  ...BLOCKERS,
] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/** One rule that was checked, with its numbers, in the order of checking. */
export interface GateResult {
  readonly gate: string;
  readonly passed: boolean;
  /** One sentence with the numbers. */
  readonly detail: string;
}

/** A change of the value. */
export interface Proposal {
  readonly lane: Lane;
  readonly from: number;
  readonly to: number;
  /** The limit that cut the change, when one did. */
  readonly clampedBy?: Limit;
  /** The target of the autoscaler moves instead of its minimum, which stays. */
  readonly utilization?: UtilizationMove;
}

/** The answer of the policy. */
export type PolicyDecision = {
  readonly gates: readonly GateResult[];
  /** The state after the decision. When an action fails, `rememberTarget` has the state without it. */
  readonly next: PolicyState;
} & (
  | ({ readonly action: "apply" | "revert" } & Proposal)
  | {
      readonly action: "hold";
      readonly reason: SkipReason;
      /** When the answer may change by time alone. */
      readonly retryAtMs?: number;
      /** The change that waits, when there is one. */
      readonly proposal?: Proposal;
    }
);
