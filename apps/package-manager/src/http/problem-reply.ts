import { Fault } from "@oaas/foundation";
import { faultToProblem, HEADERS, PROBLEM_TYPE, HttpError, retryAfterHeader } from "@oaas/contracts/rest";
import type { HttpReply } from "./handler.ts";

/** The problem document for anything thrown while a request was served. */
export function problemReply(
  thrown: unknown,
  { instance, correlationId }: { readonly instance: string; readonly correlationId: string },
): { readonly fault: Fault; readonly reply: HttpReply } {
  const rejected = thrown instanceof HttpError ? thrown : undefined;
  const fault = (rejected?.fault ?? Fault.from(thrown)).withCorrelationId(correlationId);
  const problem = faultToProblem(fault, rejected ? { instance, httpError: rejected.httpError } : { instance });
  const isTransient = problem.status === 503 || problem.status === 429 || fault.code === "OAAS_REQUEST_RUNNING";
  const retryAfter = retryAfterHeader(fault) ?? (isTransient ? "1" : undefined);
  const headers = {
    ...rejected?.headers,
    ...(retryAfter === undefined ? {} : { [HEADERS.retryAfter]: retryAfter }),
    // RFC 9110, 11.6.1
    ...(problem.status === 401 ? { "www-authenticate": 'Bearer realm="oaas"' } : {}),
  };
  const content = { type: PROBLEM_TYPE, text: JSON.stringify(problem) };
  return { fault, reply: { status: problem.status, headers, content } };
}
