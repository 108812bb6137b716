import { violationText, type Fault, type Violation } from "@oaas/foundation";
import { fieldConflictsOf, statusReasonOf, type ObjectRef } from "@oaas/kube-core";
import type { Problem } from "./observation.ts";
import { REASONS, type Reason } from "./reasons.ts";

/** Creates a problem with the default verdict of its reason. */
export function problem(reason: Reason, message: string, object?: ObjectRef): Problem {
  return { reason, verdict: REASONS[reason].verdict, message, ...(object === undefined ? {} : { object }) };
}

/** Problem for an invalid spec, with all violations. */
export function problemFromViolations(violations: readonly Violation[], reason: Reason = "InvalidSpec"): Problem {
  return problem(reason, violations.map(violationText).join("; "));
}

/** Problem for a fault while reading or writing a child. */
export function problemFromFault(fault: Fault, object?: ObjectRef): Problem {
  return problem(reasonOf(fault), messageOf(fault), object);
}

function reasonOf(fault: Fault): Reason {
  const { detail } = fault;
  switch (detail.kind) {
    case "invalid-argument":
      return "ApplyInvalid";
    case "permission-denied":
      return deniedReason(fault.message);
    case "unauthenticated":
      return "Forbidden";
    case "already-exists":
      return "NameTaken";
    case "not-found":
    case "unimplemented":
      return "KindMissing";
    case "failed-precondition":
      if (fieldConflictsOf(fault).length > 0) return "Conflict";
      return statusReasonOf(fault) === "Forbidden" ? "NamespaceTerminating" : "ApplyInvalid";
    case "conflict":
    case "resource-exhausted":
    case "unavailable":
    case "deadline-exceeded":
    case "cancelled":
    case "partial-failure":
      return "ApiUnavailable";
    case "internal":
      return "InternalFault";
  }
}

/** Kubernetes responds 403 to missing permissions, exceeded quotas and admission policies. */
function deniedReason(message: string): Reason {
  if (/exceeded quota/i.test(message)) return "Quota";
  if (/violates PodSecurity|admission|denied the request/i.test(message)) return "AdmissionDenied";
  return "Forbidden";
}

function messageOf(fault: Fault): string {
  if (fault.detail.kind !== "invalid-argument" || fault.detail.violations.length === 0) return fault.message;
  return problemFromViolations(fault.detail.violations).message;
}
