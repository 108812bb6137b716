import type { SkipReason } from "../enforcement.ts";

const SENTENCES: Readonly<Record<SkipReason, string>> = {
  off: "enforcement is off for this class",
  observe: "enforcement only observes: set mode enforce to apply recommendations",
  "dimension-not-allowed": "the class does not allow enforcement of this dimension: add it to enforcement.dimensions",
  "no-recommendation": "nothing is recommended",
  "recommendation-outdated": "the recommendation is outdated: see the condition NfrObserved",
  "within-tolerance": "the value in effect is within the tolerance of the target",
  "within-bounds": "the value in effect is within the bounds of the recommendation",
  "at-maximum": "the maximum is reached: raise it to allow more",
  "at-minimum": "the minimum is reached: lower it to allow less",
  stability: "the target must stay in one direction for the whole stability window",
  cooldown: "the cooldown after the last change has not passed",
  verifying: "the result of the last change is being verified",
  frozen: "a change made a requirement worse and was reverted: nothing changes until the freeze ends",
  paused: "enforcement is paused by annotation",
  rejected: "the same change was reverted before",
  "leader-change": "no decrease for one window after a start or change of leader",
  "after-emergency": "no decrease until a stable window has passed after an emergency",
  "direction-changes": "too many changes of direction in the last hour",
  "rolling-out": "the class is rolling out",
  progressing: "the class is progressing",
  degraded: "the class is degraded",
  "data-outdated": "the data is outdated",
  "no-data": "nothing was measured",
  conflict: "another controller owns the field",
  budget: "the action budget of the cluster for this minute is spent",
};

/** Why the enforcer does not act, in one sentence; the reason itself when it is not known. */
export function explainSkip(reason: string): string {
  return (SENTENCES as Readonly<Record<string, string>>)[reason] ?? reason;
}
