import type { LifecyclePhase } from "@oaas/models";
import type { Assessment, Cause } from "../diagnosis/assess.ts";
import {
  markAvailabilityUnknown,
  markAvailable,
  markDegraded,
  markOdgmNotReady,
  markOdgmReady,
  markProgressing,
  markSound,
  markStill,
  markTelemetryNotConfigured,
  markTelemetryConfigured,
  markUnavailable,
  type Claim,
} from "./conditions.ts";
import { finding } from "../diagnosis/finding.ts";
import type { Observation, Problem } from "../observation/observation.ts";
import { isServing } from "./phase.ts";
import { causeText, counted } from "./cause-text.ts";

/** Every condition that follows from the observation. */
export function claimsOf(observation: Observation, assessment: Assessment, phase: LifecyclePhase): readonly Claim[] {
  if (phase === "deleting") return deletionClaims(observation, assessment);
  return [
    ...lifeClaims(observation, assessment, phase),
    ...odgmClaims(observation, assessment),
    ...telemetryClaims(observation),
  ];
}

function lifeClaims(observation: Observation, assessment: Assessment, phase: LifecyclePhase): Claim[] {
  const { cause, fault } = assessment;
  const text = (one: Cause): string => causeText(one, observation.subject);
  const reason = cause?.finding.reason ?? "Pending";
  const message = cause === undefined ? "Waiting for the first reconcile." : text(cause);
  const moves = phase !== "available" && (fault === undefined || fault.finding.verdict === "transient");
  return [
    availability(assessment, reason, message),
    phase === "available"
      ? markStill("Ready", "All components are ready.")
      : (moves ? markProgressing : markStill)(reason, message),
    fault === undefined ? markSound() : markDegraded(fault.finding.reason, text(fault)),
  ];
}

function availability(assessment: Assessment, reason: Claim["reason"], message: string): Claim {
  const { functions, odgm, cause } = assessment;
  if (isServing(assessment)) return markAvailable(servingText(assessment));
  if (functions.length === 0 && odgm === undefined && cause !== undefined)
    return markAvailabilityUnknown(reason, message);
  return markUnavailable(reason, message);
}

function servingText({ functions, odgm, cause }: Assessment): string {
  const parts = [
    ...(functions.length === 0 ? [] : [counted(functions.length, "function")]),
    ...(odgm === undefined ? [] : ["the state store"]),
  ].join(" and ");
  return cause === undefined ? `Serves with ${parts}.` : `Serves with ${parts}, but not in the desired state.`;
}

function odgmClaims(observation: Observation, { odgm }: Assessment): Claim[] {
  const disabled = observation.problems.find(({ reason }) => reason === "OdgmDisabled");
  if (disabled !== undefined)
    return [markOdgmNotReady("OdgmDisabled", causeText(passCause(disabled, observation), observation.subject))];
  if (odgm === undefined) return [];
  if (odgm.readiness.ready) return [markOdgmReady("The state store is ready.")];
  const [first] = odgm.findings;
  if (first === undefined) return [markOdgmNotReady(odgm.readiness.reason, odgm.readiness.message)];
  return [
    markOdgmNotReady(first.reason, causeText({ met: "world", component: odgm, finding: first }, observation.subject)),
  ];
}

function telemetryClaims({ expected }: Observation): Claim[] {
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

function passCause({ reason, verdict, message, object }: Problem, { subject }: Pick<Observation, "subject">): Cause {
  return { met: "pass", finding: finding(reason, object ?? subject, message, { verdict }) };
}

function deletionClaims({ subject }: Observation, { cause, fault }: Assessment): Claim[] {
  const message = "The class is being deleted.";
  return [
    markUnavailable("Deleting", message),
    markProgressing(cause?.finding.reason ?? "Deleting", cause === undefined ? message : causeText(cause, subject)),
    fault === undefined ? markSound() : markDegraded(fault.finding.reason, causeText(fault, subject)),
  ];
}
