import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import { SKIP_REASONS, type Dimension, type PolicyState, type SkipReason } from "@oaas/nfr";
import { omitUndefined } from "../omit-empty.ts";

type StatusState = NonNullable<ClassRuntimeStatus["enforcement_state"]>[number];

/** What the policy remembers of one dimension of one component. */
export interface DimensionState {
  readonly component: string;
  readonly dimension: Dimension;
  readonly state: PolicyState;
}

/** The status keeps the newest entries only. */
const MAX_TARGETS = 128;
const MAX_DIRECTION_CHANGES = 64;

/** The memory of the policy for the status. */
export function policyStateToStatus({ component, dimension, state }: DimensionState): StatusState {
  const { lastAction } = state;
  return omitUndefined({
    component,
    dimension,
    targets: state.targets.slice(-MAX_TARGETS).map(({ atMs, target }) => ({ at: timestamp(atMs), target })),
    last_action:
      lastAction &&
      omitUndefined({
        at: timestamp(lastAction.atMs),
        from: lastAction.from,
        to: lastAction.to,
        lane: lastAction.lane,
        target: lastAction.target,
        badness_before: lastAction.badnessBefore,
        verified: lastAction.isVerified,
      }),
    last_emergency: state.lastEmergencyMs === undefined ? undefined : timestamp(state.lastEmergencyMs),
    direction_changes: state.directionChangesMs.slice(-MAX_DIRECTION_CHANGES).map(timestamp),
    frozen_until: state.frozenUntilMs === undefined ? undefined : timestamp(state.frozenUntilMs),
    last_good: state.lastGood,
    rejected: state.rejected,
    last_skip: state.lastSkip,
  });
}

/** The memory of the policy from the status. An unknown skip reason, from a newer version, counts as none. */
export function policyStateFromStatus(one: StatusState): DimensionState {
  const { component, dimension, last_action: action } = one;
  return {
    component,
    dimension,
    state: omitUndefined({
      targets: (one.targets ?? []).map(({ at, target }) => ({ atMs: Date.parse(at), target })),
      lastAction:
        action &&
        omitUndefined({
          atMs: Date.parse(action.at),
          from: action.from,
          to: action.to,
          lane: action.lane,
          target: action.target ?? action.to,
          badnessBefore: action.badness_before,
          isVerified: action.verified,
        }),
      lastEmergencyMs: one.last_emergency === undefined ? undefined : Date.parse(one.last_emergency),
      directionChangesMs: (one.direction_changes ?? []).map((at) => Date.parse(at)),
      frozenUntilMs: one.frozen_until === undefined ? undefined : Date.parse(one.frozen_until),
      lastGood: one.last_good,
      rejected: one.rejected,
      lastSkip: skipReasonOf(one.last_skip),
    }),
  };
}

function skipReasonOf(word: string | undefined): SkipReason | undefined {
  return SKIP_REASONS.find((reason) => reason === word);
}
