import { LifecyclePhase } from "@oaas/models";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Assessment } from "../diagnosis/assess.ts";
import type { Observation } from "../observation/observation.ts";
import type { Reason } from "../observation/reasons.ts";

/*
 *   pending ──► applying ──► progressing ──► available
 *      │            │             │  ▲           │
 *      └────────────┴──────┬──────┘  └───────────┤        any ──► deleting
 *                          ▼                     │
 *                      degraded ◄────────────────┘
 *
 * The phase depends only on the observation, so every transition is reversible.
 */

/** The lifecycle phase. */
export function phaseOf(observation: Observation, assessment: Assessment): LifecyclePhase {
  if (observation.deleting) return LifecyclePhase.deleting;
  if (assessment.fault !== undefined) return LifecyclePhase.degraded;
  if (observation.expected === undefined && observation.problems.length === 0) return LifecyclePhase.pending;
  if (observation.problems.length > 0 || assessment.missing.length > 0) return LifecyclePhase.applying;
  return assessment.cause === undefined ? LifecyclePhase.available : LifecyclePhase.progressing;
}

/** Whether all components serve; false without known components. */
export function isServing({ functions, odgm }: Assessment): boolean {
  const parts = [...functions, ...(odgm === undefined ? [] : [odgm])];
  return parts.length > 0 && parts.every(({ readiness }) => readiness.serving);
}

/** The state in the terms of the first design documents. */
export function legacyCondition(phase: LifecyclePhase, assessment: Assessment): ClassRuntimeStatus["condition"] {
  switch (phase) {
    case "pending":
      return "Pending";
    case "applying":
      return "Provisioning";
    case "progressing":
      return isServing(assessment) && isOnlyScaling(assessment) ? "Scaling" : "Provisioning";
    case "available":
      return "Running";
    case "degraded":
      return "Failed";
    case "deleting":
      return "Terminated";
  }
}

function isOnlyScaling({ functions, odgm }: Assessment): boolean {
  const parts = [...functions, ...(odgm === undefined ? [] : [odgm])];
  return parts.every(({ readiness }) => readiness.ready || readiness.reason === "Scaling");
}

/** Reasons for pods without a node. */
const UNPLACED: ReadonlySet<string> = new Set<Reason>([
  "Quota",
  "AdmissionDenied",
  "Unschedulable",
  "ScaleUpTriggered",
  "SchedulingGated",
]);

/** The first unfinished step in the terms of the first design documents. */
export function legacyStep(
  observation: Observation,
  { functions, odgm, missing, cause }: Assessment,
): ClassRuntimeStatus["deployment_phase"] {
  if (observation.deleting) return undefined;
  if (observation.expected === undefined) return "TemplateSelection";
  if (missing.some(({ kind, apiVersion }) => kind !== "Service" || apiVersion !== "v1")) return "ResourceProvisioning";
  const parts = [...functions, ...(odgm === undefined ? [] : [odgm])];
  if (parts.some(({ findings: [first] }) => first !== undefined && UNPLACED.has(first.reason))) return "PodScheduling";
  if (missing.length > 0) return "ServiceBinding";
  return cause === undefined ? "Ready" : "HealthChecking";
}
