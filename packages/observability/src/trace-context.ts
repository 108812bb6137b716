export const TRACEPARENT_HEADER = "traceparent";
export const TRACESTATE_HEADER = "tracestate";

/** Trace context by W3C: ids of 32 and 16 lower-case hexadecimal digits, neither all zero. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  /** Vendor-specific data, forwarded unchanged. */
  readonly traceState?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_TRACESTATE = 512;

/** Parses a `traceparent` header. Returns undefined for a malformed header, as the standard requires. */
export function parseTraceparent(header: string | undefined, traceState?: string): SpanContext | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  const keepState = traceState !== undefined && traceState !== "" && traceState.length <= MAX_TRACESTATE;
  return keepState ? { traceId, spanId, sampled, traceState } : { traceId, spanId, sampled };
}

/** Formats a `traceparent` header of version 00. */
export function formatTraceparent(span: SpanContext): string {
  return `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`;
}
