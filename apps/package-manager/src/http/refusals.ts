import { Fault } from "@oaas/foundation";
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
  const fault = withCorrelation(original, at.correlationId);
  const problem = faultToProblem(fault, { instance: at.instance, ...(refusal === undefined ? {} : { refusal }) });
  const retryAfter = retryAfterOf(fault) ?? (problem.status === 503 || problem.status === 429 ? "1" : undefined);
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

function withCorrelation(fault: Fault, correlationId: string): Fault {
  if (fault.correlationId !== undefined) return fault;
  const { cause, context, code } = fault;
  return new Fault(fault.detail, fault.message, { cause, context, code, correlationId });
}

interface Refusal {
  readonly fault: Fault;
  readonly refusal?: HttpRefusal;
}

function refusalOf(thrown: unknown): Refusal {
  return thrown instanceof RefusedRequest ? thrown : { fault: Fault.from(thrown) };
}
