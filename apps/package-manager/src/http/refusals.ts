import { Fault, ROOT_PATH, invalidArgumentMessage } from "@oaas/foundation";
import { faultToProblem, HEADERS, PROBLEM_TYPE, retryAfterOf, type HttpRefusal } from "@oaas/contracts/rest";
import type { HttpReply } from "./handler.ts";
import { RefusedRequest } from "./read-request.ts";

/** Every 401 must say how to get in (RFC 9110, 11.6.1). */
const WAYS_IN = { "www-authenticate": 'Bearer realm="oaas"' };

/** What a thrown thing is answered with: the only place where a fault becomes an answer. */
export function refusalReply(
  thrown: unknown,
  at: { readonly instance: string; readonly correlationId: string },
): { readonly fault: Fault; readonly reply: HttpReply } {
  const { fault: original, refusal } = refusalOf(thrown);
  const fault = bounded(original).withCorrelationId(at.correlationId);
  const problem = faultToProblem(fault, { instance: at.instance, ...(refusal === undefined ? {} : { refusal }) });
  const isSoon = problem.status === 503 || problem.status === 429 || fault.code === "OAAS_REQUEST_RUNNING";
  const retryAfter = retryAfterOf(fault) ?? (isSoon ? "1" : undefined);
  return {
    fault,
    reply: {
      status: problem.status,
      content: { type: PROBLEM_TYPE, text: JSON.stringify(problem) },
      ...(retryAfter === undefined ? {} : { headers: { [HEADERS.retryAfter]: retryAfter } }),
      ...(problem.status === 401 ? { headers: WAYS_IN } : {}),
    },
  };
}

/** A list of mistakes longer than this is read by nobody; the rest is counted. */
const MOST_VIOLATIONS = 1_000;
/** Those of them that are told in the sentence, which stands in the answer twice and in the log. */
const MOST_IN_SENTENCE = 20;

/** The fault in a size that does not multiply what was sent: a body of many small mistakes would be answered with many times its bytes. */
function bounded(fault: Fault): Fault {
  const { detail } = fault;
  if (detail.kind !== "invalid-argument" || detail.violations.length <= MOST_IN_SENTENCE) return fault;
  const { subject = "the request", violations } = detail;
  const more = violations.length - MOST_VIOLATIONS;
  const kept =
    more <= 0
      ? violations
      : [
          ...violations.slice(0, MOST_VIOLATIONS),
          { path: ROOT_PATH, message: `has ${more} more mistakes`, fix: "correct these first, then send it again" },
        ];
  const message = invalidArgumentMessage(subject, violations, MOST_IN_SENTENCE);
  return fault.with({ detail: { ...detail, violations: kept }, message });
}

interface Refusal {
  readonly fault: Fault;
  readonly refusal?: HttpRefusal;
}

function refusalOf(thrown: unknown): Refusal {
  return thrown instanceof RefusedRequest ? thrown : { fault: Fault.from(thrown) };
}
