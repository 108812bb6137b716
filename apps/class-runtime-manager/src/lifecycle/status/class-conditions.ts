import type { LifecyclePhase } from "@oaas/models";
import type { Assessment, Cause, ComponentHealth } from "../diagnosis/assess.ts";
import {
  markAvailabilityUnknown,
  markAvailable,
  markDegraded,
  markLayoutChangeRefused,
  markOdgmNotReady,
  markNotReady,
  markOdgmReady,
  markOdgmUnknown,
  markRestartRefused,
  markProgressing,
  markReadinessUnknown,
  markReady,
  markReconciling,
  markStalled,
  markPrometheusDisabled,
  markPrometheusEnabled,
  markNotDegraded,
  markNotProgressing,
  markTelemetryNotConfigured,
  markTelemetryConfigured,
  markUnavailable,
  type ConditionUpdate,
} from "./conditions.ts";
import { finding } from "../diagnosis/finding.ts";
import type { Observation, Problem } from "../observation/observation.ts";
import { isServing } from "./phase.ts";
import { causeText, componentsText } from "./cause-text.ts";

/** All conditions of a class for the observation. */
export function classConditions(
  observation: Observation,
  assessment: Assessment,
  phase: LifecyclePhase,
): readonly ConditionUpdate[] {
  if (phase === "deleting") return deletionConditions(observation, assessment);
  return [
    ...runningConditions(observation, assessment, phase),
    ...odgmConditions(observation, assessment),
    ...layoutConditions(observation),
    ...telemetryConditions(observation),
    ...monitoringConditions(observation),
    ...kstatusConditions(observation, assessment, phase),
  ];
}

/** Whether the desired state is reached without a change from outside. */
function isMoving({ fault }: Assessment): boolean {
  return fault === undefined || fault.finding.verdict === "transient";
}

function kstatusConditions(observation: Observation, assessment: Assessment, phase: LifecyclePhase): ConditionUpdate[] {
  if (phase === "available") return [markReady("All components are ready.")];
  const { cause } = assessment;
  const reason = cause?.finding.reason ?? "Pending";
  const message = cause === undefined ? "Waiting for the first reconcile." : causeText(cause, observation.subject);
  return [
    (phase === "pending" ? markReadinessUnknown : markNotReady)(reason, message),
    (isMoving(assessment) ? markReconciling : markStalled)(reason, message),
  ];
}

function runningConditions(observation: Observation, assessment: Assessment, phase: LifecyclePhase): ConditionUpdate[] {
  const { cause, fault } = assessment;
  const text = (one: Cause): string => causeText(one, observation.subject);
  const reason = cause?.finding.reason ?? "Pending";
  const message = cause === undefined ? "Waiting for the first reconcile." : text(cause);
  const moves = phase !== "available" && isMoving(assessment);
  return [
    availabilityCondition(assessment, reason, message),
    phase === "available"
      ? markNotProgressing("Ready", "All components are ready.")
      : (moves ? markProgressing : markNotProgressing)(reason, message),
    fault === undefined ? markNotDegraded() : markDegraded(fault.finding.reason, text(fault)),
  ];
}

function availabilityCondition(
  assessment: Assessment,
  reason: ConditionUpdate["reason"],
  message: string,
): ConditionUpdate {
  const { functions, odgm, cause } = assessment;
  if (isServing(assessment)) return markAvailable(servingText(assessment));
  if (functions.length === 0 && odgm === undefined && cause !== undefined)
    return markAvailabilityUnknown(reason, message);
  return markUnavailable(reason, message);
}

function servingText(assessment: Assessment): string {
  const parts = componentsText(assessment);
  return assessment.cause === undefined
    ? `Serves with ${parts}.`
    : `Serves with ${parts}, but not in the desired state.`;
}

function odgmConditions(observation: Observation, { odgm }: Assessment): ConditionUpdate[] {
  const disabled = observation.problems.find(({ reason }) => reason === "OdgmDisabled");
  if (disabled !== undefined)
    return [markOdgmNotReady("OdgmDisabled", causeText(problemCause(disabled, observation), observation.subject))];
  if (odgm === undefined) return [];
  const { odgmRestart: restart } = observation;
  const refused = restart?.state === "Refused" ? [markRestartRefused(restart.message)] : [];
  return [readyOfOdgm(observation, odgm), ...refused];
}

function readyOfOdgm(
  { odgmChecks, odgmReading: reading, subject }: Observation,
  odgm: ComponentHealth,
): ConditionUpdate {
  if (odgm.readiness.ready) {
    if (odgmChecks !== "off") return markOdgmReady("Every partition of the state store acknowledged a write.");
    return markOdgmUnknown(
      "NotChecked",
      "The pods of the state store are ready; whether it can be written is not checked.",
    );
  }
  const [first] = odgm.findings;
  if (first === undefined) return markOdgmNotReady(odgm.readiness.reason, odgm.readiness.message);
  const isUnknown =
    first.reason === "StoreUnreachable" ||
    (first.reason === "OdgmSettling" && reading?.details?.writable === undefined);
  const mark = isUnknown ? markOdgmUnknown : markOdgmNotReady;
  return mark(first.reason, causeText({ source: "observation", component: odgm, finding: first }, subject));
}

function layoutConditions({ expected }: Observation): ConditionUpdate[] {
  const refused = expected?.odgm?.refusedLayout;
  return refused === undefined ? [] : [markLayoutChangeRefused(`${refused.message}.`)];
}

function telemetryConditions({ expected }: Observation): ConditionUpdate[] {
  switch (expected?.telemetry) {
    case undefined:
      return [];
    case "configured":
      return [markTelemetryConfigured()];
    case "no-endpoint":
      return [
        markTelemetryNotConfigured("NoEndpoint", "Telemetry is enabled, but no OpenTelemetry endpoint is configured."),
      ];
  }
}

function monitoringConditions({ expected }: Observation): ConditionUpdate[] {
  const monitoring = expected?.monitoring;
  switch (monitoring?.state) {
    case undefined:
      return [];
    case "monitored":
      return [markPrometheusEnabled(`A ${monitoring.kind} selects the pods of the class.`)];
    case "missing-kinds": {
      const kinds = monitoring.kinds.join(" or ");
      const message = `The cluster does not serve ${kinds} of the Prometheus operator (monitoring.coreos.com/v1). Services have scrape annotations instead.`;
      return [markPrometheusDisabled("MissingCRDs", message)];
    }
    case "disabled": {
      const message =
        "The class enforces its requirements, but metrics are neither collected (OPRC_CRM_FEATURES_PROMETHEUS) nor queried (OPRC_CRM_PROM_URL).";
      return [markPrometheusDisabled("FeatureDisabled", message)];
    }
  }
}

function problemCause({ reason, verdict, message, object }: Problem, { subject }: Pick<Observation, "subject">): Cause {
  return { source: "problem", finding: finding(reason, object ?? subject, message, { verdict }) };
}

function deletionConditions({ subject }: Observation, { cause, fault }: Assessment): ConditionUpdate[] {
  const message = "The class is being deleted.";
  return [
    markUnavailable("Deleting", message),
    markProgressing(cause?.finding.reason ?? "Deleting", cause === undefined ? message : causeText(cause, subject)),
    fault === undefined ? markNotDegraded() : markDegraded(fault.finding.reason, causeText(fault, subject)),
    markNotReady("Deleting", message),
  ];
}
