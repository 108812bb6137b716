import { Fault, invalidArgument } from "@oaas/foundation";
import { faultToProblem, HEADERS, PROBLEM_TYPE, retryAfterOf, type HttpRefusal } from "@oaas/contracts/rest";
import type { HttpReply } from "./handler.ts";
import { RefusedRequest } from "./read-request.ts";

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
  if (thrown instanceof RefusedRequest) return thrown;
  const code = (thrown as { readonly code?: unknown } | null)?.code;
  return (typeof code === "string" ? SERVER_REFUSALS.get(code) : undefined)?.() ?? { fault: Fault.from(thrown) };
}

const unusableType = (): Refusal => ({
  refusal: "unsupported-media-type",
  fault: invalidArgument("the request", [
    { path: "$", message: "has a content type that is none", fix: "send application/json or application/yaml" },
  ]),
});

/** What the server library refuses by itself, before a handler is asked. */
const SERVER_REFUSALS = new Map<string, () => Refusal>([
  [
    "FST_ERR_CTP_BODY_TOO_LARGE",
    () => ({
      refusal: "payload-too-large",
      fault: invalidArgument("the body", [
        { path: "$", message: "is larger than this server takes", fix: "send less, or raise SERVER_MAX_BODY_BYTES" },
      ]),
    }),
  ],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", unusableType],
  ["FST_ERR_CTP_EMPTY_TYPE", unusableType],
  [
    "FST_ERR_BAD_URL",
    () => ({
      fault: invalidArgument("the path", [{ path: "$", message: "is not a valid URL path", fix: "encode it" }]),
    }),
  ],
  [
    "FST_ERR_CTP_INVALID_CONTENT_LENGTH",
    () => ({
      fault: invalidArgument("the request", [
        { path: "$", message: "has another length than Content-Length says", fix: "send the length that the body has" },
      ]),
    }),
  ],
]);
