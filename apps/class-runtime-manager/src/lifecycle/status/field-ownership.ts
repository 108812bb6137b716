import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { isLifecycleCondition } from "./conditions.ts";

/**
 * The part of a status that the lifecycle decides, for a writer that applies its own fields only: without what analyzer
 * and enforcer write, which the lifecycle merely hands on.
 */
export function ownStatus(status: ClassRuntimeStatus): ClassRuntimeStatus {
  const {
    nfr_recommendations: _recommendations,
    nfr_compliance: _compliance,
    last_applied_recommendations: _applied,
    last_applied_at: _at,
    enforcement_state: _state,
    conditions = [],
    ...own
  } = status;
  return { ...own, conditions: conditions.filter(({ type }) => isLifecycleCondition(type)) };
}
