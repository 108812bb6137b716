import type {
  AppliedAction,
  GateResult,
  PolicyDecision,
  PolicyInput,
  PolicySettings,
  PolicyState,
  Proposal,
  SkipReason,
} from "../enforcement.ts";
import { createContext, isDirectionChange, type PolicyContext } from "./context.ts";
import { checkGates, type Gate } from "./gates.ts";

/**
 * Decides on one dimension of one component. The same input and settings give the same decision. Every gate is
 * reported; the first one that does not pass is the reason to hold.
 */
export function decide(input: PolicyInput, settings: PolicySettings): PolicyDecision {
  const context = createContext(input, settings);
  const { gates, failed } = checkGates(context);
  const { proposal } = context;
  if (failed || !proposal) return hold(context, gates, failed);
  const next = stateAfter(context, proposal);
  return { action: proposal.lane === "verification" ? "revert" : "apply", ...proposal, gates, next };
}

function hold(context: PolicyContext, gates: readonly GateResult[], failed: Gate | undefined): PolicyDecision {
  const reason: SkipReason = failed?.reason ?? "within-tolerance";
  return {
    action: "hold",
    reason,
    gates,
    next: { ...closeVerification(context), lastSkip: reason },
    ...(failed?.retryAtMs === undefined ? {} : { retryAtMs: failed.retryAtMs }),
    ...(context.proposal ? { proposal: context.proposal } : {}),
  };
}

/** The state after the verification of the last action ended, whatever its result. */
function closeVerification({ state, verification, input }: PolicyContext): PolicyState {
  if (!state.lastAction || verification.result === "none" || verification.result === "pending") return state;
  // A harmful action whose revert must wait stays open.
  if (verification.result === "worse") return state;
  const closed = { ...state, lastAction: { ...state.lastAction, isVerified: true } };
  return verification.result === "passed" ? { ...closed, lastGood: input.current } : closed;
}

function stateAfter(context: PolicyContext, { lane, from, to, utilization }: Proposal): PolicyState {
  const { input, settings, state } = context;
  const { nowMs, badness } = input;
  const { lastSkip: _, ...kept } = closeVerification(context);
  const target = context.target ?? to;
  if (utilization) {
    // The last change of replicas stays known, and a cooldown starts. The next hour verifies a target.
    const last = kept.lastAction ?? { from, to, lane, target };
    return { ...kept, lastAction: { ...last, atMs: nowMs, isVerified: true } };
  }
  const lastAction: AppliedAction = {
    atMs: nowMs,
    from,
    to,
    lane,
    target,
    ...(badness === undefined ? {} : { badnessBefore: badness }),
    isVerified: lane === "verification",
  };
  const changesMs = isDirectionChange(state, { from, to })
    ? [...state.directionChangesMs, nowMs]
    : state.directionChangesMs;
  return {
    ...kept,
    lastAction,
    directionChangesMs: changesMs,
    ...(lane === "emergency" ? { lastEmergencyMs: nowMs } : {}),
    ...(lane === "verification" && state.lastAction
      ? {
          frozenUntilMs: nowMs + settings.freezeMs,
          rejected: { from: to, to: state.lastAction.to, target: state.lastAction.target },
        }
      : {}),
  };
}
