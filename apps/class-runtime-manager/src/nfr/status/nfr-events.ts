import type { ObjectRef } from "@oaas/kube-core";
import type { EventInput } from "@oaas/kube-runtime";
import type { Compliance } from "@oaas/nfr";
import type { ComplianceTransition } from "./nfr-status.ts";
import type { ObservedState } from "./observed-condition.ts";

/** Events of requirements that became violated, or are met again. */
export function complianceEvents(transitions: readonly ComplianceTransition[], regarding: ObjectRef): EventInput[] {
  return transitions.flatMap(({ from, to }): EventInput[] => {
    const action = "MeasureRequirements";
    if (to.status === "violated") {
      return [{ type: "Warning", reason: "NFRViolated", action, note: noteOf(to, "is violated"), regarding }];
    }
    if (to.status === "met" && from?.status === "violated") {
      return [{ type: "Normal", reason: "NFRMet", action, note: noteOf(to, "is met again"), regarding }];
    }
    return [];
  });
}

/** The event of a class that is no longer measured, or measured again. */
export function observationEvent({ status, message }: ObservedState, regarding: ObjectRef): EventInput {
  const action = "MeasureRequirements";
  return status === "True"
    ? { type: "Normal", reason: "NFRObserved", action, note: message, regarding }
    : { type: "Warning", reason: "NFRNotObserved", action, note: message, regarding };
}

function noteOf({ component, requirement, measured, target, window }: Compliance, what: string): string {
  const value = measured === undefined ? "unknown" : Number(measured.toPrecision(4));
  return `Requirement ${requirement} of ${component} ${what}: measured ${value}, target ${target}, over ${window}.`;
}
