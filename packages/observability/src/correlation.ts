import type { Brand, Ids } from "@oaas/foundation";
import { formatTraceparent, parseTraceparent, TRACEPARENT_HEADER, TRACESTATE_HEADER } from "./trace-context.ts";
import type { WorkContext } from "./work-context.ts";

/** Identifies one user request in all log lines, events and calls that it causes. */
export type CorrelationId = Brand<string, "CorrelationId">;

/** HTTP header and gRPC metadata key of the correlation id. */
export const CORRELATION_HEADER = "x-correlation-id";

const VALID = /^[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,127}$/;

/** Returns the id if it is safe in headers, logs and annotations: 1 to 128 letters, digits and `._:/+=-`. */
export function parseCorrelationId(text: string | undefined): CorrelationId | undefined {
  return text !== undefined && VALID.test(text) ? (text as CorrelationId) : undefined;
}

/** Returns the caller's id if it is valid, else a new one. */
export function ensureCorrelationId(text: string | undefined, ids: Ids): CorrelationId {
  return parseCorrelationId(text) ?? (ids.uuid() as CorrelationId);
}

/** Returns the context of a request with this id; reads its trace from the headers or metadata. */
export function contextFromHeaders(
  correlationId: CorrelationId,
  header: (name: string) => string | undefined,
): WorkContext {
  return { correlationId, span: parseTraceparent(header(TRACEPARENT_HEADER), header(TRACESTATE_HEADER)) };
}

/** Returns the headers or metadata that forward a context to another service. */
export function headersFromContext(context: WorkContext): Record<string, string> {
  const headers: Record<string, string> = {};
  if (context.correlationId !== undefined) headers[CORRELATION_HEADER] = context.correlationId;
  if (context.span !== undefined) {
    headers[TRACEPARENT_HEADER] = formatTraceparent(context.span);
    if (context.span.traceState !== undefined) headers[TRACESTATE_HEADER] = context.span.traceState;
  }
  return headers;
}
