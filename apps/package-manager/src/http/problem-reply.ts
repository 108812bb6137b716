import { Fault, ROOT_PATH, invalidArgumentMessage } from "@oaas/foundation";
import { faultToProblem, HEADERS, PROBLEM_TYPE, RefusedRequest, retryAfterHeader } from "@oaas/contracts/rest";
import type { HttpReply } from "./handler.ts";

/** Violations per problem document; the rest is counted. */
const MAX_VIOLATIONS = 1_000;
/** Violations in the message, which is in the document twice and in the log. */
const MAX_IN_MESSAGE = 20;

/** The problem document for anything thrown while a request was served. */
export function problemReply(
  thrown: unknown,
  { instance, correlationId }: { readonly instance: string; readonly correlationId: string },
): { readonly fault: Fault; readonly reply: HttpReply } {
  const refused = thrown instanceof RefusedRequest ? thrown : undefined;
  const fault = bounded(refused?.fault ?? Fault.from(thrown)).withCorrelationId(correlationId);
  const problem = faultToProblem(fault, refused ? { instance, refusal: refused.refusal } : { instance });
  const isTransient = problem.status === 503 || problem.status === 429 || fault.code === "OAAS_REQUEST_RUNNING";
  const retryAfter = retryAfterHeader(fault) ?? (isTransient ? "1" : undefined);
  const headers = {
    ...refused?.headers,
    ...(retryAfter === undefined ? {} : { [HEADERS.retryAfter]: retryAfter }),
    // RFC 9110, 11.6.1
    ...(problem.status === 401 ? { "www-authenticate": 'Bearer realm="oaas"' } : {}),
  };
  const content = { type: PROBLEM_TYPE, text: JSON.stringify(problem) };
  return { fault, reply: { status: problem.status, headers, content } };
}

/** Limits the violations of a fault: a body of many small mistakes must not cause a response of many times its size. */
function bounded(fault: Fault): Fault {
  const { detail } = fault;
  if (detail.kind !== "invalid-argument" || detail.violations.length <= MAX_IN_MESSAGE) return fault;
  const { subject = "the request", violations } = detail;
  const more = violations.length - MAX_VIOLATIONS;
  const rest = {
    path: ROOT_PATH,
    message: `has ${more} more mistakes`,
    fix: "correct these first, then send it again",
  };
  const kept = more <= 0 ? violations : [...violations.slice(0, MAX_VIOLATIONS), rest];
  const message = invalidArgumentMessage(subject, violations, MAX_IN_MESSAGE);
  return fault.with({ detail: { ...detail, violations: kept }, message });
}
