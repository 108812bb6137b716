import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Meter } from "../meter.ts";
import { createRecordingMeter } from "../testing/index.ts";
import { createPrometheusMeter } from "./prometheus-meter.ts";

/** Any sequence of UTF-16 code units, including lone surrogates and control characters. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

/** Parses the text format into values by series. */
function parseText(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, series = "", value = ""] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    samples.set(series, Number(value));
  }
  return samples;
}

type Read = (name: string, labels?: Readonly<Record<string, string>>) => Promise<number | undefined>;

const METERS: readonly { name: string; create: () => { meter: Meter; read: Read } }[] = [
  {
    name: "prometheus",
    create: () => {
      const meter = createPrometheusMeter({ strict: true });
      const read: Read = async (name, labels = {}) => {
        const inside = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
        return parseText(await meter.text()).get(inside.length > 0 ? `${name}{${inside.join(",")}}` : name);
      };
      return { meter, read };
    },
  },
  {
    name: "recording",
    create: () => {
      const meter = createRecordingMeter();
      return { meter, read: async (name, labels) => meter.value(name, labels) };
    },
  },
];

describe.each(METERS)("the $name meter", ({ create }) => {
  const spec = { name: "crm_deployments_total", help: "h", labels: ["cluster", "result"] } as const;

  test("counts by labels", async () => {
    const { meter, read } = create();
    const counter = meter.counter(spec);
    counter.add(1, { cluster: "eu", result: "ok" });
    counter.add(2, { cluster: "eu", result: "ok" });
    expect(await read(spec.name, { cluster: "eu", result: "ok" })).toBe(3);
    expect(await read(spec.name, { cluster: "us", result: "ok" })).toBeUndefined();
    counter.remove({ cluster: "eu", result: "ok" });
    expect(await read(spec.name, { cluster: "eu", result: "ok" })).toBeUndefined();
  });

  test("creates declared series and unlabelled metrics at zero", async () => {
    const { meter, read } = create();
    meter.counter({ ...spec, startAtZero: [{ cluster: "eu", result: "ok" }] });
    meter.counter({ name: "plain_total", help: "h" });
    expect(await read(spec.name, { cluster: "eu", result: "ok" })).toBe(0);
    expect(await read("plain_total")).toBe(0);
  });

  test("increases and decreases gauges", async () => {
    const { meter, read } = create();
    const gauge = meter.gauge({ name: "queue_depth", help: "h" });
    gauge.set(5);
    gauge.add(-2);
    expect(await read("queue_depth")).toBe(3);
  });

  test("returns the same metric for the same declaration and rejects a different one", async () => {
    const { meter, read } = create();
    meter.counter(spec).add(1, { cluster: "eu", result: "ok" });
    meter.counter(spec).add(1, { cluster: "eu", result: "ok" });
    expect(await read(spec.name, { cluster: "eu", result: "ok" })).toBe(2);
    expect(() => meter.gauge({ name: spec.name, help: "h" })).toThrow("is already declared");
    expect(() => meter.counter({ ...spec, help: "other" })).toThrow("is already declared");
  });

  test.each([
    {
      case: "an undeclared label",
      labels: { cluster: "eu", result: "ok", pod: "p-123" },
      message: 'no label "pod"',
    },
    { case: "a missing label", labels: { cluster: "eu" }, message: 'requires the label "result"' },
  ])("throws on $case", ({ labels, message }) => {
    const { meter } = create();
    expect(() => meter.counter(spec).add(1, labels as never)).toThrow(message);
  });

  test("rejects negative and invalid counter increments", () => {
    const { meter } = create();
    const counter = meter.counter({ name: "plain_total", help: "h" });
    expect(() => counter.add(-1)).toThrow(RangeError);
    expect(() => counter.add(Number.NaN)).toThrow(RangeError);
  });

  test.each([
    ["an invalid metric name", { name: "no-dashes", help: "h" }],
    ["an invalid label name", { name: "ok", help: "h", labels: ["no-dashes"] }],
    ["the reserved label le", { name: "ok", help: "h", labels: ["le"] }],
  ])("rejects %s", (_why, wrong) => {
    expect(() => create().meter.counter(wrong)).toThrow(TypeError);
  });

  test("rejects buckets that are not in ascending order", () => {
    expect(() => create().meter.histogram({ name: "ok", help: "h", buckets: [1, 1] })).toThrow(
      "not in ascending order",
    );
  });
});

describe("the prometheus meter", () => {
  test("writes cumulative buckets, sum and count of a histogram", async () => {
    const meter = createPrometheusMeter();
    const histogram = meter.histogram({ name: "wait_seconds", help: "h", buckets: [0.1, 1, 10] });
    for (const value of [0.05, 0.5, 0.5, 100]) histogram.observe(value);
    const samples = parseText(await meter.text());
    expect([...samples]).toEqual([
      ['wait_seconds_bucket{le="0.1"}', 1],
      ['wait_seconds_bucket{le="1"}', 3],
      ['wait_seconds_bucket{le="10"}', 3],
      ['wait_seconds_bucket{le="+Inf"}', 4],
      ["wait_seconds_sum", 101.05],
      ["wait_seconds_count", 4],
    ]);
  });

  test("escapes label values", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (value) => {
        const meter = createPrometheusMeter({ strict: true });
        meter.counter({ name: "c", help: "h", labels: ["v"] }).add(1, { v: value });
        const text = await meter.text();
        const written = /^c\{v="([^]*)"\} 1$/m.exec(text)?.[1] ?? "missing";
        const read = written.replaceAll(/\\(.)/g, (_whole, escaped: string) => (escaped === "n" ? "\n" : escaped));
        expect(read).toBe(value);
      }),
    );
  });

  test("drops undeclared labels and invalid values when not strict", async () => {
    const meter = createPrometheusMeter();
    const counter = meter.counter({ name: "c", help: "h", labels: ["a"] });
    counter.add(1, { a: "x", b: "y" } as never);
    counter.add(1, {} as never);
    counter.add(-1, { a: "x" });
    expect([...parseText(await meter.text())]).toEqual([
      ['c{a="x"}', 1],
      ['c{a=""}', 1],
    ]);
  });

  test("records series beyond the limit as overflow", async () => {
    const meter = createPrometheusMeter({ maxSeries: 3 });
    const counter = meter.counter({ name: "c", help: "h", labels: ["id"] });
    for (let id = 0; id < 100; id += 1) counter.add(1, { id: String(id) });
    counter.add(1, { id: "0" });
    expect(parseText(await meter.text())).toEqual(
      new Map([
        ['c{id="0"}', 2],
        ['c{id="1"}', 1],
        ['c{id="2"}', 1],
        ['c{id="overflow"}', 97],
      ]),
    );
    counter.remove({ id: "1" });
    counter.add(1, { id: "new" });
    expect(parseText(await meter.text()).get('c{id="new"}')).toBe(1);
  });

  test("separates meters and adds process metrics only on request", async () => {
    const [bare, full] = [createPrometheusMeter(), createPrometheusMeter({ processMetrics: true })];
    bare.counter({ name: "c", help: "h" }).add(1);
    expect([...parseText(await bare.text()).keys()]).toEqual(["c"]);
    const text = await full.text();
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).not.toMatch(/^c /m);
  });
});

describe("the OpenMetrics format", () => {
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
  const histogram = { name: "wait_seconds", help: "h", labels: ["op"], buckets: [0.1, 1] } as const;

  test("has the trace of the last sampled observation of each bucket", async () => {
    let current: typeof span | undefined = span;
    const meter = createPrometheusMeter({ currentSpan: () => current });
    const wait = meter.histogram(histogram);
    wait.observe(0.5, { op: "get" });
    wait.observe(5, { op: "get" });
    current = { ...span, traceId: "f".repeat(32), sampled: false };
    wait.observe(0.5, { op: "get" });
    current = undefined;
    wait.observe(0.05, { op: "get" });
    const lines = (await meter.text("openmetrics")).split("\n");
    const bucket = (le: string) => lines.find((line) => line.startsWith(`wait_seconds_bucket{le="${le}"`)) ?? "";
    const exemplar = `# {trace_id="${span.traceId}",span_id="${span.spanId}"}`;
    expect(bucket("1")).toMatch(new RegExp(`^\\S+ 3 ${exemplar} 0\\.5 [0-9.]+$`));
    expect(bucket("+Inf")).toMatch(new RegExp(`^\\S+ 4 ${exemplar} 5 [0-9.]+$`));
    expect(bucket("0.1")).toBe('wait_seconds_bucket{le="0.1",op="get"} 1');
    expect(lines.slice(-2)).toEqual(["# EOF", ""]);
    expect(await meter.text()).not.toContain("trace_id");
  });

  test("does not rename the counters of the text format", async () => {
    const meter = createPrometheusMeter();
    meter.counter({ name: "calls_total", help: "h", labels: ["op"] }).add(2, { op: "get" });
    meter.gauge({ name: "depth", help: "h" }).set(3);
    const before = await meter.text();
    const open = await meter.text("openmetrics");
    expect(open).toBe(
      '# HELP calls h\n# TYPE calls counter\ncalls_total{op="get"} 2\n# HELP depth h\n# TYPE depth gauge\ndepth 3\n# EOF\n',
    );
    expect(await meter.text()).toBe(before);
    expect(await meter.text("openmetrics")).toBe(open);
  });
});

test("the recording meter keeps observations and rejects undeclared metrics", () => {
  const meter = createRecordingMeter();
  const histogram = meter.histogram({ name: "h_seconds", help: "h", labels: ["op"], buckets: [1] });
  histogram.observe(0.5, { op: "get" });
  histogram.observe(2, { op: "get" });
  expect(meter.observations("h_seconds", { op: "get" })).toEqual([0.5, 2]);
  expect(meter.observations("h_seconds", { op: "put" })).toEqual([]);
  expect(() => meter.value("unknown")).toThrow("metric unknown is not declared");
});
