import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { TARGET_UTILIZATION, type Dimension } from "@oaas/nfr";
import type { ClassEnforcement } from "./class-enforcement.ts";

/** Values of one component that enforcement chose. CPU in millicores, memory in bytes. */
export type EnforcedValues = Readonly<Partial<Record<Dimension, number>>> & {
  /** The CPU utilization that an autoscaler of the class targets, 0 to 1. */
  readonly targetUtilization?: number;
};

/**
 * The values that the enforcer wrote into the status, by component. They hold while the class is in mode enforce, also
 * when it is paused; a class that leaves the mode returns to its spec. CPU and memory need pods that can be resized in
 * place, or that may restart.
 */
export function enforcedValues(
  status: ClassRuntimeStatus | undefined,
  { mode, dimensions, mayRestart }: ClassEnforcement,
  canResize: boolean,
): ReadonlyMap<string, EnforcedValues> {
  const canChange = (dimension: Dimension): boolean =>
    (dimension !== "cpu" && dimension !== "memory") || canResize || mayRestart;
  const values = new Map<string, EnforcedValues>();
  if (mode !== "enforce") return values;
  for (const { component, dimension, last_action: action } of status?.enforcement_state ?? []) {
    if (action === undefined || !dimensions.has(dimension) || !canChange(dimension)) continue;
    const target = dimension === "replicas" ? appliedTarget(status, component) : {};
    values.set(component, { ...values.get(component), [dimension]: action.to, ...target });
  }
  return values;
}

/** The target of the autoscaler, from the evidence of the last change of replicas; none after a revert. */
function appliedTarget(
  status: ClassRuntimeStatus | undefined,
  component: string,
): Pick<EnforcedValues, "targetUtilization"> {
  const applied = status?.last_applied_recommendations?.find(
    (entry) => entry.component === component && entry.dimension === "replicas",
  );
  const target = applied?.action === "apply" ? applied.evidence?.values?.[TARGET_UTILIZATION] : undefined;
  return target === undefined ? {} : { targetUtilization: target };
}
