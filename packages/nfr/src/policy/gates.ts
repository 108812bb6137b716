import type { Blocker, GateResult, SkipReason } from "../enforcement.ts";
import { directionOf, isDirectionChange, isUncertain, type PolicyContext } from "./context.ts";
import { clampTarget, isCount, percentText, round, secondsText, valueText } from "./limits.ts";
import { isHotter, utilizationText } from "./utilization.ts";
import { HOUR_MS, stabilityMs } from "./windows.ts";

/** A rule that was checked. */
export interface Gate extends GateResult {
  readonly reason: SkipReason;
  /** When the gate opens by time alone. */
  readonly retryAtMs?: number;
}

const passed = (gate: string, reason: SkipReason, detail: string): Gate => ({ gate, reason, passed: true, detail });

const stopped = (gate: string, reason: SkipReason, detail: string, retryAtMs?: number): Gate => ({
  gate,
  reason,
  passed: false,
  detail,
  ...(retryAtMs === undefined ? {} : { retryAtMs }),
});

/** In the order of precedence: the first gate that does not pass is the reason to hold. */
const GATES: readonly ((context: PolicyContext) => Gate)[] = [
  checkMode,
  checkDimension,
  checkPause,
  checkGlobalFreeze,
  checkRecommendation,
  checkTolerance,
  checkBounds,
  checkBlockers,
  checkFreeze,
  checkRejected,
  checkStability,
  checkCooldown,
  checkVerification,
  checkLeader,
  checkAfterEmergency,
  checkDirectionChanges,
  checkBudget,
  checkObserve,
];

/** Checks all gates. */
export function checkGates(context: PolicyContext): { readonly gates: readonly GateResult[]; readonly failed?: Gate } {
  const checked = GATES.map((check) => check(context));
  const failed = checked.find((gate) => !gate.passed);
  const gates = checked.map(({ gate, passed: isPassed, detail }) => ({ gate, passed: isPassed, detail }));
  return failed ? { gates, failed } : { gates };
}

function checkMode({ input }: PolicyContext): Gate {
  return input.mode === "off"
    ? stopped("mode", "off", "enforcement is off")
    : passed("mode", "off", `enforcement is ${input.mode}`);
}

function checkDimension({ input }: PolicyContext): Gate {
  return input.isAllowed
    ? passed("dimension", "dimension-not-allowed", `the class allows changes of ${input.dimension}`)
    : stopped(
        "dimension",
        "dimension-not-allowed",
        input.whyNotAllowed ?? `the class does not allow changes of ${input.dimension}`,
      );
}

function checkPause({ input }: PolicyContext): Gate {
  const { pausedUntilMs, nowMs } = input;
  if (pausedUntilMs === undefined || pausedUntilMs <= nowMs) return passed("pause", "paused", "not paused");
  const detail = `paused until ${new Date(pausedUntilMs).toISOString()}, for another ${secondsText(pausedUntilMs - nowMs)}`;
  return stopped("pause", "paused", detail, pausedUntilMs);
}

function checkGlobalFreeze({ input }: PolicyContext): Gate {
  return input.isFrozen
    ? stopped("global freeze", "frozen", "enforcement is frozen in this cluster")
    : passed("global freeze", "frozen", "enforcement is not frozen in this cluster");
}

function checkRecommendation({ input, target, proposal }: PolicyContext): Gate {
  const { recommendation, nowMs, dimension, blockers } = input;
  for (const blocker of ["no-data", "data-outdated"] as const)
    if (blockers.includes(blocker)) return stopped("recommendation", blocker, BLOCKER_DETAILS[blocker]);
  if (target !== undefined) {
    const { confidence, observedAtMs, target: wanted } = recommendation ?? { confidence: 0, observedAtMs: nowMs };
    const age = secondsText(Math.max(0, nowMs - observedAtMs));
    return passed(
      "recommendation",
      "no-recommendation",
      `${valueText(dimension, wanted ?? target)}, ${age} old, confidence ${round(confidence)}`,
    );
  }
  if (proposal?.lane === "verification")
    return passed("recommendation", "no-recommendation", "not needed to revert an action");
  if (recommendation && recommendation.validUntilMs < nowMs) {
    const age = secondsText(nowMs - recommendation.validUntilMs);
    return stopped("recommendation", "recommendation-outdated", `the recommendation expired ${age} ago`);
  }
  const detail = recommendation
    ? `the recommendation ${recommendation.target} or the current value ${input.current} is not a valid number`
    : "nothing is recommended";
  return stopped("recommendation", "no-recommendation", detail);
}

/** Whether there is something to change, and whether a limit prevents it. */
function checkTolerance({ input, settings, target, direction, bounds, proposal }: PolicyContext): Gate {
  const { current, dimension, recommendation } = input;
  const now = valueText(dimension, current);
  if (proposal?.lane === "verification")
    return passed("tolerance", "within-tolerance", `reverts ${now} to ${valueText(dimension, proposal.to)}`);
  if (proposal?.utilization)
    return passed("tolerance", "within-tolerance", `${now} stay; ${utilizationText(proposal.utilization)}`);
  if (target === undefined || recommendation === undefined)
    return stopped("tolerance", "within-tolerance", `stays at ${now} without a recommendation`);
  const wanted = valueText(dimension, recommendation.target);
  const band = `up ${percentText(settings.upTolerance)}, down ${percentText(settings.downTolerance)}`;
  if (direction !== "none")
    return passed("tolerance", "within-tolerance", `${wanted} is outside the tolerance of ${now} (${band})`);
  const unlimited = directionOf(recommendation.target, current, settings);
  if (unlimited === "up" && recommendation.target > bounds.max.value) {
    const limit = `${bounds.max.source} (${valueText(dimension, bounds.max.value)})`;
    return stopped("tolerance", "at-maximum", `${wanted} needed, but ${limit} is the maximum and ${now} are in effect`);
  }
  if (unlimited === "down" && recommendation.target < bounds.min.value) {
    const limit = `${bounds.min.source} (${valueText(dimension, bounds.min.value)})`;
    return stopped(
      "tolerance",
      "at-minimum",
      `${wanted} would do, but ${limit} is the minimum and ${now} are in effect`,
    );
  }
  return stopped("tolerance", "within-tolerance", `${wanted} is within the tolerance of ${now} (${band})`);
}

/** CPU and memory change only when the current value is outside the bounds of the estimate, as in the VPA. */
function checkBounds({ input, proposal }: PolicyContext): Gate {
  const { recommendation, dimension, current } = input;
  if (isCount(dimension) || !recommendation || proposal?.lane === "verification")
    return passed("bounds", "within-bounds", "the bounds of the estimate do not apply");
  const [low, high] = [recommendation.lowerBound, recommendation.upperBound];
  const range = `${valueText(dimension, low)} to ${valueText(dimension, high)}`;
  const isWithin = current >= low && current <= high;
  const detail = `${valueText(dimension, current)} is ${isWithin ? "within" : "outside"} the bounds of the estimate, ${range}`;
  return isWithin ? stopped("bounds", "within-bounds", detail) : passed("bounds", "within-bounds", detail);
}

const BLOCKER_DETAILS: Readonly<Record<Blocker, string>> = {
  "rolling-out": "a roll-out is in progress",
  progressing: "the class is progressing",
  degraded: "the class is degraded",
  "data-outdated": "the measurements are outdated",
  "no-data": "there are no measurements",
  conflict: "another controller sets the field",
  budget: "the actions of this minute are used up",
};

/** Blockers that have gates themselves. */
const JUDGED_ELSEWHERE: ReadonlySet<Blocker> = new Set(["no-data", "data-outdated", "budget"]);

/** Blockers that replicas without a node cause, which a revert removes. */
const CAUSED_BY_MISSING_NODES: ReadonlySet<Blocker> = new Set(["progressing", "degraded"]);

function checkBlockers({ input, proposal }: PolicyContext): Gate {
  const isRelief = proposal?.lane === "verification" && input.schedulable !== undefined;
  const blocker = input.blockers.find(
    (one) => !JUDGED_ELSEWHERE.has(one) && !(isRelief && CAUSED_BY_MISSING_NODES.has(one)),
  );
  return blocker === undefined
    ? passed("blockers", "rolling-out", "no roll-out, no problem and no other controller")
    : stopped("blockers", blocker, BLOCKER_DETAILS[blocker]);
}

/** A reverted action is not repeated until the target moves further in its direction. */
function checkRejected({ input, settings, state, direction, target, proposal }: PolicyContext): Gate {
  const { rejected } = state;
  if (!rejected || target === undefined || proposal?.lane === "verification" || direction === "none")
    return passed("rejected", "rejected", "no action in this direction was reverted");
  const isIncrease = rejected.to > rejected.from;
  if (isIncrease !== (direction === "up"))
    return passed("rejected", "rejected", "no action in this direction was reverted");
  const limit = rejected.target * (isIncrease ? 1 + settings.upTolerance : 1 - settings.downTolerance);
  const raw = input.recommendation?.target ?? target;
  const isFurther = isIncrease ? raw > limit : raw < limit;
  const detail = `a change to ${valueText(input.dimension, rejected.to)} made a requirement worse; the next needs a recommendation ${isIncrease ? "above" : "below"} ${valueText(input.dimension, limit)}`;
  return isFurther ? passed("rejected", "rejected", detail) : stopped("rejected", "rejected", detail);
}

/** How the confidence limits the step of an emergency. */
function uncertaintyText({ input, settings }: PolicyContext): string {
  const { recommendation, dimension } = input;
  if (recommendation === undefined || !isUncertain(input, settings)) return "";
  const step = isCount(dimension) ? ` or ${settings.emergencyMinPods} pods` : "";
  const bound = valueText(dimension, recommendation.lowerBound);
  return `; with confidence ${round(recommendation.confidence)}, below ${settings.emergencyMinConfidence}, at most ${percentText(settings.maxDelta)}${step} beyond the lower bound of ${bound}`;
}

function checkStability(context: PolicyContext): Gate {
  const { input, settings, bounds, direction, window, proposal, emergency } = context;
  if (proposal?.lane === "emergency") {
    const detail = `skipped in an emergency: ${emergency}${uncertaintyText(context)}`;
    return passed("stability", "stability", detail);
  }
  if (proposal?.lane === "verification") return passed("stability", "stability", "not needed to revert an action");
  if (proposal?.utilization) {
    const { hour = 0, sixHours = 0 } = input.recommendation?.lasting?.spent ?? {};
    const detail = `${percentText(hour)} of the error budget of the last hour and ${percentText(sixHours)} of the last six hours are spent`;
    return passed("stability", "stability", detail);
  }
  if (direction === "none") return stopped("stability", "stability", "no direction to be stable in");
  const needed = stabilityMs(direction, settings);
  if (!window.isFull) {
    const left = needed - window.coveredMs;
    const detail = `the direction ${direction} is known for ${secondsText(window.coveredMs)} of ${secondsText(needed)}`;
    return stopped("stability", "stability", detail, input.nowMs + left);
  }
  const others = window.targets.filter(
    (target) => directionOf(clampTarget(target, bounds, input.dimension), input.current, settings) !== direction,
  ).length;
  return others > 0
    ? stopped(
        "stability",
        "stability",
        `${others} of ${window.targets.length} targets in ${secondsText(needed)} do not point ${direction}`,
      )
    : passed(
        "stability",
        "stability",
        `all ${window.targets.length} targets in ${secondsText(needed)} point ${direction}`,
      );
}

function checkCooldown({ input, settings, state, proposal }: PolicyContext): Gate {
  const { lastAction } = state;
  if (proposal?.lane === "verification") return passed("cooldown", "cooldown", "not needed to revert an action");
  if (!lastAction) return passed("cooldown", "cooldown", "no action yet");
  const cooldownMs = proposal?.lane === "emergency" ? settings.emergencyCooldownMs : settings.cooldownMs;
  const elapsedMs = input.nowMs - lastAction.atMs;
  const detail = `the last action was ${secondsText(elapsedMs)} ago, cooldown ${secondsText(cooldownMs)}`;
  return elapsedMs < cooldownMs
    ? stopped("cooldown", "cooldown", detail, lastAction.atMs + cooldownMs)
    : passed("cooldown", "cooldown", detail);
}

function checkVerification({ verification, proposal }: PolicyContext): Gate {
  const { result, detail, untilMs } = verification;
  if (result !== "pending") return passed("verification", "verifying", detail);
  if (proposal?.lane === "emergency") return passed("verification", "verifying", `skipped in an emergency: ${detail}`);
  return stopped("verification", "verifying", detail, untilMs);
}

function checkFreeze({ input, state, proposal }: PolicyContext): Gate {
  const { frozenUntilMs } = state;
  if (frozenUntilMs === undefined || frozenUntilMs <= input.nowMs)
    return passed("freeze", "frozen", "no action was reverted recently");
  const detail = `an action was reverted; frozen for another ${secondsText(frozenUntilMs - input.nowMs)}`;
  if (proposal?.lane === "emergency") return passed("freeze", "frozen", `skipped in an emergency: ${detail}`);
  return stopped("freeze", "frozen", detail, frozenUntilMs);
}

/** Whether less capacity is kept: fewer replicas, or hotter ones. */
function isDecrease({ proposal }: PolicyContext): boolean {
  return proposal !== undefined && (proposal.to < proposal.from || isHotter(proposal.utilization));
}

/** No decrease for one window after a restart or a change of the leader. */
function checkLeader(context: PolicyContext): Gate {
  const { input, settings } = context;
  const windowMs = stabilityMs("down", settings);
  const ledMs = Math.max(0, input.nowMs - input.leaderSinceMs);
  const detail = `this process has led for ${secondsText(ledMs)}; a decrease needs ${secondsText(windowMs)}`;
  return isDecrease(context) && ledMs < windowMs
    ? stopped("leader", "leader-change", detail, input.nowMs + windowMs - ledMs)
    : passed("leader", "leader-change", detail);
}

/** No decrease in an emergency, nor until a stable window has passed since. */
function checkAfterEmergency(context: PolicyContext): Gate {
  const { input, settings, state, emergency } = context;
  if (!isDecrease(context)) return passed("after emergency", "after-emergency", "limits decreases only");
  if (emergency !== undefined) return stopped("after emergency", "after-emergency", `emergency: ${emergency}`);
  if (state.lastEmergencyMs === undefined) return passed("after emergency", "after-emergency", "no emergency yet");
  const windowMs = stabilityMs("down", settings);
  const elapsedMs = input.nowMs - state.lastEmergencyMs;
  const detail = `the last emergency was ${secondsText(elapsedMs)} ago; a decrease needs ${secondsText(windowMs)}`;
  return elapsedMs < windowMs
    ? stopped("after emergency", "after-emergency", detail, state.lastEmergencyMs + windowMs)
    : passed("after emergency", "after-emergency", detail);
}

/** A change to a decrease must leave room for the change back, so that an increase is never held back. */
function checkDirectionChanges(context: PolicyContext): Gate {
  const { settings, state, proposal } = context;
  const used = state.directionChangesMs.length;
  const limit = settings.maxDirectionChangesPerHour;
  if (!proposal || !isDirectionChange(state, proposal))
    return passed("direction changes", "direction-changes", `${used} of ${limit} in the last hour, this is none`);
  const needed = isDecrease(context) ? 2 : 1;
  const detail = `${used} of ${limit} in the last hour, this needs ${needed}`;
  if (used + needed <= limit) return passed("direction changes", "direction-changes", detail);
  const oldest = state.directionChangesMs[used + needed - limit - 1];
  return stopped("direction changes", "direction-changes", detail, oldest === undefined ? undefined : oldest + HOUR_MS);
}

function checkBudget({ input }: PolicyContext): Gate {
  return input.blockers.includes("budget")
    ? stopped("budget", "budget", BLOCKER_DETAILS.budget)
    : passed("budget", "budget", "actions of this minute are left");
}

function checkObserve({ input, proposal }: PolicyContext): Gate {
  if (input.mode !== "observe") return passed("observe", "observe", "actions are applied");
  const { dimension } = input;
  const change = proposal && `${valueText(dimension, proposal.from)} to ${valueText(dimension, proposal.to)}`;
  return stopped("observe", "observe", change ? `would change ${change}` : "would change nothing");
}
