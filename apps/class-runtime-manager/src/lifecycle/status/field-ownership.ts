import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { isLifecycleCondition } from "./conditions.ts";

/** The status fields that the lifecycle owns, for server-side apply: without the fields of analyzer and enforcer. */
export function ownStatus(status: ClassRuntimeStatus): ClassRuntimeStatus {
  const {
    nfr_recommendations: _recommendations,
    nfr_compliance: _compliance,
    nfr_capacity: _capacity,
    last_applied_recommendations: _applied,
    last_applied_at: _at,
    enforcement_state: _state,
    conditions = [],
    ...own
  } = status;
  return { ...own, conditions: conditions.filter(({ type }) => isLifecycleCondition(type)) };
}

/** Fields that analyzer and enforcer own; the lifecycle keeps them. */
export function foreignFields(previous: ClassRuntimeStatus | undefined): ClassRuntimeStatus {
  if (previous === undefined) return {};
  const { nfr_recommendations, nfr_compliance, nfr_capacity } = previous;
  const { last_applied_recommendations, last_applied_at, enforcement_state } = previous;
  return {
    ...(nfr_recommendations === undefined ? {} : { nfr_recommendations }),
    ...(nfr_compliance === undefined ? {} : { nfr_compliance }),
    ...(nfr_capacity === undefined ? {} : { nfr_capacity }),
    ...(last_applied_recommendations === undefined ? {} : { last_applied_recommendations }),
    ...(last_applied_at === undefined ? {} : { last_applied_at }),
    ...(enforcement_state === undefined ? {} : { enforcement_state }),
  };
}
