import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { equalJson, timestamp } from "@oaas/foundation";
import { TARGET_UTILIZATION, type PolicyDecision, type PolicyInput, type Recommendation } from "@oaas/nfr";
import { POLICY_VERSION } from "@oaas/nfr/policy";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import { enforcedCondition, NFR_ENFORCED } from "../../enforcement/enforced-condition.ts";
import { policyStateToStatus } from "../../mapping/status/enforcement-state.ts";
import { appliedToStatus, limitRecords } from "../../mapping/status/nfr-recommendations.ts";
import { changedPath, nextStates, type Action, type Decided, type DecidedAction } from "./class-decision.ts";
import { hasExpired, stateKey, type ClassMemory } from "./class-memory.ts";
import { isFieldConflict } from "./policy-input.ts";

/** Running windows are written at most this often: shorter than the gap that interrupts a window. */
const WINDOWS_EVERY_MS = 60_000;
/** The status fields of the enforcer. */
export function enforcementStatus(
  one: EnforceableClass,
  decided: readonly Decided[],
  actions: readonly DecidedAction[],
  memory: ClassMemory,
  nowMs: number,
): ClassRuntimeStatus {
  const { status, enforcement, generation } = one;
  const applied = actions.flatMap(({ input, decision, value, record }) => {
    const { action, lane, from, to, clampedBy } = decision;
    const entry = { action, lane, from, to, path: changedPath(value, decision), ...(clampedBy ? { clampedBy } : {}) };
    const audit = {
      appliedAtMs: nowMs,
      policyVersion: POLICY_VERSION,
      digest: record.digest,
      record: JSON.stringify(record),
    };
    const recommendation = withUtilization(input, decision);
    return recommendation ? [appliedToStatus({ recommendation, ...entry, ...audit })] : [];
  });
  const replaced = new Set(applied.map(stateKey));
  const earlier = (status?.last_applied_recommendations ?? []).filter((entry) => !replaced.has(stateKey(entry)));
  const history = [...limitRecords([...applied, ...earlier])];
  const findings = decided.map(({ value, input, decision }) => ({
    component: input.component,
    dimension: input.dimension,
    reason: decision.action === "hold" ? decision.reason : undefined,
    detail:
      input.whyNotAllowed ??
      value.conflict ??
      memory.conflicts.get(input.component)?.message ??
      (isFieldConflict(status) ? status?.message : undefined) ??
      detailOf(decision),
    isRefused: !input.isAllowed && input.whyNotAllowed !== undefined,
  }));
  const previous = status?.conditions?.find(({ type }) => type === NFR_ENFORCED);
  const failure = hasExpired(memory.failure, nowMs) ? undefined : memory.failure?.message;
  const condition = enforcedCondition(enforcement, findings, failure, previous, { nowMs, generation });
  const appliedAt = applied.length > 0 ? timestamp(nowMs) : status?.last_applied_at;
  return {
    enforcement_state: nextStates(one, decided, memory).map(policyStateToStatus),
    ...(history.length > 0 ? { last_applied_recommendations: history } : {}),
    ...(appliedAt === undefined ? {} : { last_applied_at: appliedAt }),
    ...(condition ? { conditions: [condition] } : {}),
  };
}

/** The recommendation with the target that the autoscaler has from now on, which the status keeps as evidence. */
function withUtilization({ recommendation, utilization }: PolicyInput, decision: Action): Recommendation | undefined {
  if (recommendation === undefined || utilization === undefined) return recommendation;
  const target = decision.utilization?.to ?? utilization;
  const { basis } = recommendation;
  return { ...recommendation, basis: { ...basis, values: { ...basis.values, [TARGET_UTILIZATION]: target } } };
}

function detailOf({ gates }: PolicyDecision): string {
  return gates.find(({ passed }) => !passed)?.detail ?? "";
}

/** Whether anything but the windows changed, or windows are running that a restart must not lose. */
export function isWorthWriting(
  { status }: EnforceableClass,
  decided: readonly Decided[],
  fields: ClassRuntimeStatus,
  { writtenAtMs }: ClassMemory,
  nowMs: number,
): boolean {
  const before = status?.conditions?.find(({ type }) => type === NFR_ENFORCED);
  if (!equalJson(before ?? null, fields.conditions?.[0] ?? null)) return true;
  if (!equalJson(durable(status?.enforcement_state), durable(fields.enforcement_state))) return true;
  const isWindowRunning = decided.some(({ decision }) => decision.action === "hold" && decision.reason === "stability");
  return isWindowRunning && nowMs - writtenAtMs >= WINDOWS_EVERY_MS;
}

/** The state without the windows and without times that expire by themselves. */
function durable(states: ClassRuntimeStatus["enforcement_state"]): unknown {
  return (states ?? []).map(
    ({ targets: _targets, direction_changes: _changes, frozen_until: _frozen, ...rest }) => rest,
  );
}
