import type { Brand, Ids } from "@oaas/foundation";
import { formatTraceparent, parseTraceparent, TRACEPARENT_HEADER, TRACESTATE_HEADER } from "./trace-context.ts";
import type { WorkContext } from "./work-context.ts";

/** One id for a user's wish, from the first request to the last log line and Event. */
export type CorrelationId = Brand<string, "CorrelationId">;

/** Header and gRPC metadata key of the correlation id; also the annotation's name. */
export const CORRELATION_HEADER = "x-correlation-id";

const VALID = /^[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,127}$/;

/** The id if it can safely go into headers, logs and annotations: 1 to 128 letters, digits and `._:/+=-`. */
export function parseCorrelationId(text: string | undefined): CorrelationId | undefined {
  return text !== undefined && VALID.test(text) ? (text as CorrelationId) : undefined;
}

/** The caller's id when it is valid, else a new one. */
export function ensureCorrelationId(text: string | undefined, ids: Ids): CorrelationId {
  return parseCorrelationId(text) ?? (ids.uuid() as CorrelationId);
}

/** The context that a request's headers or metadata name; the correlation id is made when there is none. */
export function contextFromHeaders(header: (name: string) => string | undefined, ids: Ids): WorkContext {
  return {
    correlationId: ensureCorrelationId(header(CORRELATION_HEADER), ids),
    span: parseTraceparent(header(TRACEPARENT_HEADER), header(TRACESTATE_HEADER)),
  };
}

/** The headers or metadata by which a call carries its context on. */
export function headersFromContext(context: WorkContext): Record<string, string> {
  const headers: Record<string, string> = {};
  if (context.correlationId !== undefined) headers[CORRELATION_HEADER] = context.correlationId;
  if (context.span !== undefined) {
    headers[TRACEPARENT_HEADER] = formatTraceparent(context.span);
    if (context.span.traceState !== undefined) headers[TRACESTATE_HEADER] = context.span.traceState;
  }
  return headers;
}
