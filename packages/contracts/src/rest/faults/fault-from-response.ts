import { FAULT_CODES, Fault, unreachable, type FaultCode, type FaultDetail, type FaultKind } from "@oaas/foundation";
import { z } from "zod";
import { FAULT_KINDS, violationView } from "./problem.ts";
import { omitUndefined } from "../reading/fields.ts";
import { evidenceView } from "../resources/deployment/plan-refusal.ts";
import { kindOfStatus } from "./http-status.ts";
import { retryAfterMsFrom } from "./http-status.ts";

/** An error response, as received by a client. */
export interface ErrorResponse {
  readonly status: number;
  /** The body as text, of any format. */
  readonly body: string;
  readonly retryAfter?: string | null;
  /** The client's clock, for a Retry-After header with a date. */
  readonly nowMs: number;
}

/** Maximum nesting of parts, against responses of other servers. */
const MAX_DEPTH = 8;
const MAX_PLAIN_TEXT = 300;

/**
 * Converts an error response back to the fault.
 *
 * Our own problem bodies give the same fault; the plain `{"error"}` of earlier peers, a proxy's text, an empty body and an
 * unknown code or kind give the fault of the status. Never throws.
 */
export function faultFromResponse(response: ErrorResponse): Fault {
  const retryAfterMs = retryAfterMsFrom(response.retryAfter, response.nowMs);
  const body = parsedJson(response.body);
  if (typeof body === "object" && body !== null) {
    return faultFromProblem(body, response.status, retryAfterMs);
  }
  const text = response.body.trim();
  const readable = text !== "" && !text.startsWith("<");
  const message = readable ? text.slice(0, MAX_PLAIN_TEXT) : `the server returned status ${response.status}`;
  const kind = kindOfStatus(response.status);
  return new Fault(detailOf(kind, omitUndefined({ retryAfterMs }), [], []), message);
}

/** Each field is read independently: an invalid one is ignored. */
const problemMembers = z.object({
  error: z.string().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  status: z.int().optional().catch(undefined),
  code: z.string().optional().catch(undefined),
  kind: z.enum(FAULT_KINDS).optional().catch(undefined),
  correlationId: z.string().optional().catch(undefined),
  details: z.record(z.string(), z.unknown()).catch({}),
  violations: z.array(violationView).catch([]),
  parts: z.array(z.object({ name: z.string(), problem: z.unknown() })).catch([]),
  evidence: evidenceView.optional().catch(undefined),
});

/** Converts a parsed problem body back to the fault. */
export function faultFromProblem(body: unknown, status: number, retryAfterMs?: number, depth = 0): Fault {
  const members = problemMembers.safeParse(body).data ?? problemMembers.parse({});
  const kind = members.kind ?? kindOfStatus(status);
  const parts = depth < MAX_DEPTH ? members.parts : [];
  const detail = detailOf(
    kind,
    { ...omitUndefined({ retryAfterMs }), ...members.details },
    members.violations.map((violation) => omitUndefined(violation)),
    parts.map(({ name, problem }) => ({ name, fault: faultFromProblem(problem, status, undefined, depth + 1) })),
  );
  const message = members.error ?? members.detail ?? members.title ?? `the server returned status ${status}`;
  const { correlationId, evidence } = members;
  return new Fault(detail, message, omitUndefined({ code: knownCode(members.code), correlationId, evidence }));
}

function knownCode(code: string | undefined): FaultCode | undefined {
  return code !== undefined && Object.hasOwn(FAULT_CODES, code) ? (code as FaultCode) : undefined;
}

type PartsOf<K extends FaultKind, Member extends string> =
  Extract<FaultDetail, { kind: K }> extends Record<Member, infer Value> ? Value : never;

function detailOf(
  kind: FaultKind,
  details: Readonly<Record<string, unknown>>,
  violations: PartsOf<"invalid-argument", "violations">,
  parts: PartsOf<"partial-failure", "parts">,
): FaultDetail {
  const word = (name: string): string => (typeof details[name] === "string" ? details[name] : "");
  const amount = (name: string): number | undefined =>
    typeof details[name] === "number" && Number.isFinite(details[name]) ? details[name] : undefined;
  switch (kind) {
    case "invalid-argument":
      return { kind, violations, ...(word("subject") === "" ? {} : { subject: word("subject") }) };
    case "partial-failure":
      return { kind, parts };
    case "unauthenticated":
    case "cancelled":
    case "internal":
      return { kind };
    case "permission-denied":
      return { kind, action: word("action") };
    case "not-found":
    case "already-exists":
    case "conflict":
      return { kind, resource: word("resource"), name: word("name") };
    case "failed-precondition":
      return { kind, subject: word("subject") };
    case "resource-exhausted":
      return omitUndefined({ kind, limit: word("limit"), retryAfterMs: amount("retryAfterMs") });
    case "unavailable":
      return omitUndefined({ kind, dependency: word("dependency"), retryAfterMs: amount("retryAfterMs") });
    case "deadline-exceeded":
      return { kind, afterMs: amount("afterMs") ?? 0 };
    case "unimplemented":
      return { kind, feature: word("feature") };
    default:
      return unreachable(kind);
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
