import { VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, it } from "vitest";
import { createRecordingLogger, createRecordingMeter } from "../testing/index.ts";
import type { FinishedSpan } from "../tracer.ts";
import { OtlpExporter } from "./otlp-exporter.ts";

const SPAN: FinishedSpan = {
  name: "GET /x",
  kind: "server",
  context: { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true },
  parentSpanId: "c".repeat(16),
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { text: "t", count: 3, share: 0.5, flag: true },
  links: [{ traceId: "d".repeat(32), spanId: "e".repeat(16), sampled: true }],
  failure: "broken",
};

function setUp(respond: () => Promise<Response>) {
  const time = new VirtualTime();
  const meter = createRecordingMeter();
  const { log: logger, records } = createRecordingLogger();
  const bodies: unknown[] = [];
  const exporter = new OtlpExporter({
    url: "http://collector/v1/traces",
    timeoutMs: 1_000,
    resource: { "service.name": "oprc-pm" },
    version: "1",
    timers: time,
    logger,
    meter,
    fetch: async (_url, init) => {
      bodies.push(JSON.parse(init?.body as string));
      return respond();
    },
  });
  const count = (result: string) => meter.value("oaas_trace_spans_total", { result });
  return { time, exporter, bodies, records, count };
}

describe("OtlpExporter", () => {
  it("encodes spans by the JSON mapping of OTLP", async () => {
    const { exporter, bodies } = setUp(async () => new Response("{}"));
    exporter.add(SPAN);
    await exporter.close();
    expect(bodies).toEqual([
      {
        resourceSpans: [
          {
            resource: { attributes: [{ key: "service.name", value: { stringValue: "oprc-pm" } }] },
            scopeSpans: [
              {
                scope: { name: "oaas", version: "1" },
                spans: [
                  {
                    traceId: "a".repeat(32),
                    spanId: "b".repeat(16),
                    parentSpanId: "c".repeat(16),
                    flags: 1,
                    name: "GET /x",
                    kind: 2,
                    startTimeUnixNano: "1700000000000250000",
                    endTimeUnixNano: "1700000000001000000",
                    attributes: [
                      { key: "text", value: { stringValue: "t" } },
                      { key: "count", value: { intValue: "3" } },
                      { key: "share", value: { doubleValue: 0.5 } },
                      { key: "flag", value: { boolValue: true } },
                    ],
                    links: [{ traceId: "d".repeat(32), spanId: "e".repeat(16), flags: 1 }],
                    status: { code: 2, message: "broken" },
                  },
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  it("drops spans beyond its queue while the receiver is away, and never throws", async () => {
    const { exporter, count } = setUp(() => Promise.reject(new Error("connection refused")));
    for (let at = 0; at < 3_000; at += 1) exporter.add(SPAN);
    expect(count("dropped")).toBe(952);
    await exporter.close();
    expect(count("exported")).toBe(0);
    expect((count("failed") ?? 0) + (count("dropped") ?? 0)).toBe(3_000);
  });

  it("sends spans again after 503, and discards them after 400", async () => {
    const statuses = [503, 400];
    const { exporter, time, bodies, count, records } = setUp(
      async () => new Response(null, { status: statuses.shift() ?? 200 }),
    );
    exporter.add(SPAN);
    await time.advance(5_000);
    expect([bodies.length, count("failed")]).toEqual([1, 0]);
    await time.advance(5_000);
    expect([bodies.length, count("failed")]).toEqual([2, 1]);
    exporter.add(SPAN);
    await time.advance(5_000);
    expect([bodies.length, count("exported")]).toEqual([3, 1]);
    expect(records.map(({ message }) => message)).toEqual(["export traces failed", "export traces works again"]);
  });
});
