import {
  faultMeaning,
  unreachable,
  type Fault,
  type FaultDetail,
  type FaultEvidence,
  type FaultKind,
} from "@oaas/foundation";
import { z } from "zod";
import { field, omitUndefined, view } from "../reading/fields.ts";
import { evidenceView } from "../resources/deployment/plan-refusal.ts";
import { faultStatus, HTTP_ERRORS, HTTP_STATUS_OF_KIND, type HttpErrorName } from "./http-status.ts";

export const FAULT_KINDS = Object.keys(HTTP_STATUS_OF_KIND) as readonly FaultKind[];

/** A validation error in a response. */
export const violationView = view({
  path: field("JSONPath of the field.", z.string()),
  message: field("Description of the error.", z.string()),
  fix: field("How to fix it.", z.string().optional()),
  omitted: field("In the last entry: number of errors that are not listed.", z.int().optional()),
});

/**
 * The body of an error response: RFC 9457 with extensions. `error` repeats the message for earlier clients; `evidence` has
 * the candidates and remedies of a failed plan, or the changes since an outdated one.
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
export const problemView = view({
  type: field("URN of the error code; not a link.", z.string()),
  title: field("Meaning of the error code.", z.string()),
  status: field("HTTP status of the response.", z.int()),
  detail: field("Description of this occurrence.", z.string()),
  instance: field("Request path.", z.string().optional()),
  error: field("Same as `detail`.", z.string()),
  code: field("Stable error code; see the list of errors.", z.string()),
  kind: field("Error category for programs.", z.enum(FAULT_KINDS)),
  retryable: field("Whether retrying the same request may succeed.", z.boolean()),
  correlationId: field("Correlation id of the request in all logs.", z.string().optional()),
  details: field(
    "Attributes of the kind: resource and name, limit, dependency, …",
    z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  ),
  violations: field(
    "Validation errors of the request, at most 100; the last entry counts the others.",
    z.array(violationView).optional(),
  ),
  parts: field("Errors of the parts of a partial failure.", z.lazy(() => z.array(problemPartView)).optional()),
  evidence: field(
    "For a deployment that cannot be planned: the candidates and possible remedies. For an outdated plan: what changed.",
    evidenceView.optional(),
  ),
});

/** The schema of `ProblemPart`. */
export const problemPartView: z.ZodType = view({
  name: field("Part name, such as a cluster.", z.string()),
  problem: field("Error of the part.", problemView),
});

/** What the HTTP server adds to a fault. */
export interface ProblemOptions {
  /** An error specific to HTTP; its status replaces that of the fault's kind. */
  readonly httpError?: HttpErrorName;
  /** The request path. */
  readonly instance?: string;
}

/** Converts a fault to the body of a response. Cause and context are not included. */
export function faultToProblem(fault: Fault, options: ProblemOptions = {}): Problem {
  return omitUndefined({
    type: `urn:oaas:fault:${fault.code}`,
    title: faultMeaning(fault),
    status: options.httpError === undefined ? faultStatus(fault) : HTTP_ERRORS[options.httpError].status,
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
      return {
        violations: detail.violations,
        ...(detail.subject === undefined ? {} : { details: { subject: detail.subject } }),
      };
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
