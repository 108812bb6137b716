import { create } from "@bufbuild/protobuf";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { EnforcementReportSchema, type EnforcementReport } from "@oaas/contracts/grpc";
import { omitUndefined } from "../omit-empty.ts";
import { conditionToWire } from "./status-parts-to-wire.ts";

type StatusState = NonNullable<ClassRuntimeStatus["enforcement_state"]>[number];
type StatusApplied = NonNullable<ClassRuntimeStatus["last_applied_recommendations"]>[number];

const CONDITIONS: ReadonlySet<string> = new Set(["NfrObserved", "NfrEnforced"]);

/** What enforcement remembers of a class, and the decisions that can be recomputed, newest first. */
export function enforcementToWire(
  status: ClassRuntimeStatus | undefined,
  nameEvent: (digest: string) => string,
): EnforcementReport {
  return create(EnforcementReportSchema, {
    conditions: (status?.conditions ?? []).filter(({ type }) => CONDITIONS.has(type)).map(conditionToWire),
    states: (status?.enforcement_state ?? []).map(stateToWire),
    decisions: (status?.last_applied_recommendations ?? [])
      .flatMap((one) => decisionToWire(one, nameEvent))
      .toSorted((a, b) => Date.parse(b.appliedAt) - Date.parse(a.appliedAt)),
  });
}

function stateToWire({ component, dimension, last_skip, last_action, frozen_until, direction_changes }: StatusState) {
  const { at = "", from = 0, to = 0, lane = "" } = last_action ?? {};
  return omitUndefined({
    component,
    dimension,
    lastSkip: last_skip,
    lastAction: last_action && { at, from, to, lane },
    frozenUntil: frozen_until,
    directionChanges: direction_changes?.length ?? 0,
  });
}

function decisionToWire(one: StatusApplied, nameEvent: (digest: string) => string) {
  const { component, dimension, applied_at: appliedAt = "", digest = "", record } = one;
  return record === undefined
    ? []
    : [{ component, dimension, appliedAt, digest, eventName: nameEvent(digest), record }];
}
