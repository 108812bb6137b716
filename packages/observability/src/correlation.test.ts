import { seededIds, seededRandom } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextFromHeaders, ensureCorrelationId, headersFromContext, parseCorrelationId } from "./correlation.ts";
import { formatTraceparent, parseTraceparent, type SpanContext } from "./trace-context.ts";

/** Any sequence of UTF-16 code units, including lone surrogates and control characters. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

const ids = seededIds(seededRandom(1));
const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";

describe("correlation ids", () => {
  test.each(["a", "req-1", "A:b/c+d=", "0".repeat(128)])("keeps the valid id %s", (text) => {
    expect(ensureCorrelationId(text, ids)).toBe(text);
  });

  test.each(["", " a", "a b", "a\nb", "-a", "ü", "0".repeat(129), "a\u0000"])("replaces the invalid id %j", (text) => {
    expect(parseCorrelationId(text)).toBeUndefined();
    expect(ensureCorrelationId(text, ids)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("traceparent", () => {
  const hex = (digits: number) =>
    fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcdef")), minLength: digits, maxLength: digits });
  const contexts: fc.Arbitrary<SpanContext> = fc
    .record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() })
    .filter(({ traceId, spanId }) => !/^0+$/.test(traceId) && !/^0+$/.test(spanId));

  test("parses every formatted header", () => {
    fc.assert(
      fc.property(contexts, (context) => {
        expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });

  test.each([
    { case: "version 00", header: `00-${trace}-${span}-01`, sampled: true },
    { case: "unknown flags are ignored", header: `00-${trace}-${span}-fe`, sampled: false },
    { case: "a later version may append fields", header: `01-${trace}-${span}-01-more`, sampled: true },
  ])("$case", ({ header, sampled }) => {
    expect(parseTraceparent(header)).toEqual({ traceId: trace, spanId: span, sampled });
  });

  test.each([
    ["no value", undefined],
    ["version ff", `ff-${trace}-${span}-01`],
    ["version 00 with appended fields", `00-${trace}-${span}-01-more`],
    ["capitals", `00-${trace.toUpperCase()}-${span}-01`],
    ["zero trace", `00-${"0".repeat(32)}-${span}-01`],
    ["zero span", `00-${trace}-${"0".repeat(16)}-01`],
    ["too short", `00-${trace}-${span}`],
  ])("ignores a header with %s", (_why, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  test("does not throw for any header", () => {
    fc.assert(
      fc.property(anyText, (header) => {
        parseTraceparent(header, header);
      }),
    );
  });
});

test("converts headers to a context and back", () => {
  const headers: Record<string, string> = {
    "x-correlation-id": "c1",
    traceparent: `00-${trace}-${span}-01`,
    tracestate: "a=1",
  };
  const context = contextFromHeaders(ensureCorrelationId(headers["x-correlation-id"], ids), (name) => headers[name]);
  expect(context).toEqual({
    correlationId: "c1",
    span: { traceId: trace, spanId: span, sampled: true, traceState: "a=1" },
  });
  expect(headersFromContext(context)).toEqual(headers);
  expect(headersFromContext({})).toEqual({});
  expect(ensureCorrelationId(undefined, ids)).toMatch(/^[0-9a-f-]{36}$/);
});
