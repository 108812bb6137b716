import type { AttributeValue, FinishedSpan, SpanKind } from "./tracer.ts";
import type { SpanContext } from "./trace-context.ts";

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
const STATUS_ERROR = 2;
const FLAG_SAMPLED = 1;

/** An `ExportTraceServiceRequest` in the JSON encoding of OTLP 1: ids in hexadecimal, 64-bit integers as text. */
export function otlpTraceRequest(
  resource: Readonly<Record<string, AttributeValue>>,
  scope: { readonly name: string; readonly version: string },
  spans: readonly FinishedSpan[],
): object {
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(otlpSpan) }] },
    ],
  };
}

function otlpSpan(span: FinishedSpan): object {
  return {
    ...ids(span.context),
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: keyValues(span.attributes),
    ...(span.links.length === 0 ? {} : { links: span.links.map(ids) }),
    ...(span.failure === undefined ? {} : { status: { code: STATUS_ERROR, message: span.failure } }),
  };
}

function ids({ traceId, spanId, sampled, traceState }: SpanContext): object {
  return { traceId, spanId, flags: sampled ? FLAG_SAMPLED : 0, ...(traceState === undefined ? {} : { traceState }) };
}

function keyValues(attributes: Readonly<Record<string, AttributeValue>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Milliseconds with a fraction, in nanoseconds: more digits than a number holds. */
function nanoseconds(epochMs: number): string {
  const whole = Math.floor(epochMs);
  const rest = Math.min(999_999, Math.round((epochMs - whole) * 1e6));
  return `${BigInt(whole) * 1_000_000n + BigInt(rest)}`;
}
