import {
  faultMeaning,
  unreachable,
  type Fault,
  type FaultDetail,
  type FaultEvidence,
  type FaultKind,
} from "@oaas/foundation";
import { z } from "zod";
import { omitUndefined, view } from "../reading/fields.ts";
import { planRefusalView } from "../resources/deployment/plan-refusal.ts";
import { faultStatus, HTTP_REFUSALS, HTTP_STATUS_OF_KIND, type HttpRefusal } from "./http-status.ts";

export const FAULT_KINDS = Object.keys(HTTP_STATUS_OF_KIND) as readonly FaultKind[];

/** A validation error in a response. */
export const violationView = view(
  { path: z.string(), message: z.string(), fix: z.string().optional() },
  { path: "JSONPath of the field.", message: "Description of the error.", fix: "How to fix it." },
);

/**
 * The body of an error response: RFC 9457 with extensions. `error` repeats the message for earlier clients; `evidence` has
 * the candidates and remedies of a failed plan.
 */
export interface Problem {
  /** URN of the error code; not a link. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly error: string;
  readonly code: string;
  readonly kind: FaultKind;
  readonly retryable: boolean;
  readonly correlationId?: string;
  /** Attributes of the kind: resource and name, limit, dependency, … */
  readonly details?: Readonly<Record<string, string | number>>;
  readonly violations?: readonly z.output<typeof violationView>[];
  readonly parts?: readonly ProblemPart[];
  readonly evidence?: FaultEvidence;
}

/** The error of one part of a partial failure. */
export interface ProblemPart {
  readonly name: string;
  readonly problem: Problem;
}

/** The schema of `Problem`. */
export const problemView = view(
  {
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().optional(),
    error: z.string(),
    code: z.string(),
    kind: z.enum(FAULT_KINDS),
    retryable: z.boolean(),
    correlationId: z.string().optional(),
    details: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    violations: z.array(violationView).optional(),
    parts: z.lazy(() => z.array(problemPartView)).optional(),
    evidence: planRefusalView.optional(),
  },
  {
    type: "URN of the error code; not a link.",
    title: "Meaning of the error code.",
    status: "HTTP status of the response.",
    detail: "Description of this occurrence.",
    instance: "Request path.",
    error: "Same as `detail`.",
    code: "Stable error code; see the list of errors.",
    kind: "Error category for programs.",
    retryable: "Whether retrying the same request may succeed.",
    correlationId: "Correlation id of the request in all logs.",
    details: "Attributes of the kind: resource and name, limit, dependency, …",
    violations: "All validation errors of the request.",
    parts: "Errors of the parts of a partial failure.",
    evidence: "For a deployment that cannot be planned: the candidates and possible remedies.",
  },
);

/** The schema of `ProblemPart`. */
export const problemPartView: z.ZodType = view(
  { name: z.string(), problem: problemView },
  { name: "Part name, such as a cluster.", problem: "Error of the part." },
);

/** What the HTTP server adds to a fault. */
export interface ProblemOptions {
  /** An error specific to HTTP; its status replaces that of the fault's kind. */
  readonly refusal?: HttpRefusal;
  /** The request path. */
  readonly instance?: string;
}

/** Converts a fault to the body of a response. Cause and context are not included. */
export function faultToProblem(fault: Fault, options: ProblemOptions = {}): Problem {
  return omitUndefined({
    type: `urn:oaas:fault:${fault.code}`,
    title: faultMeaning(fault),
    status: options.refusal === undefined ? faultStatus(fault) : HTTP_REFUSALS[options.refusal].status,
    detail: fault.message,
    instance: options.instance,
    error: fault.message,
    code: fault.code,
    kind: fault.kind,
    retryable: fault.retryable,
    correlationId: fault.correlationId,
    ...membersOf(fault.detail),
    evidence: fault.evidence,
  });
}

function membersOf(detail: FaultDetail): Pick<Problem, "details" | "violations" | "parts"> {
  switch (detail.kind) {
    case "invalid-argument":
      return { violations: detail.violations };
    case "partial-failure":
      return { parts: detail.parts.map(({ name, fault }) => ({ name, problem: faultToProblem(fault) })) };
    case "unauthenticated":
    case "cancelled":
    case "internal":
      return {};
    case "permission-denied":
    case "not-found":
    case "already-exists":
    case "conflict":
    case "failed-precondition":
    case "resource-exhausted":
    case "unavailable":
    case "deadline-exceeded":
    case "unimplemented": {
      const { kind: _, ...details } = detail;
      return { details: omitUndefined(details) };
    }
    default:
      return unreachable(detail);
  }
}
