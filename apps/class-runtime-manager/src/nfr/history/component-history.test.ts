import { expect, it } from "vitest";
import { measuredFunction } from "../testing/measured-function.ts";
import { componentHistory, type ReadSignal } from "./component-history.ts";

const RANGE = { startMs: 10_000, endMs: 13_000, stepMs: 1000 };

const history = (
  over: Parameters<typeof measuredFunction>[0],
  series: Partial<Record<ReadSignal, readonly (readonly [number, number])[]>> = {},
) => {
  const seriesOf = (name: ReadSignal) => (series[name] ?? []).map(([atMs, value]) => ({ atMs, value }));
  return new Map(componentHistory(measuredFunction(over), seriesOf, RANGE).map((one) => [one.signal, one]));
};

it("has one value for each step and NaN in gaps, without samples outside of the range", () => {
  const samples = [
    [9000, 1],
    [10_000, 2],
    [12_000, 4],
    [14_000, 5],
  ] as const;
  expect(history({}, { requests_per_second: samples }).get("requests_per_second")).toEqual({
    component: "f",
    signal: "requests_per_second",
    values: [2, Number.NaN, 4, Number.NaN],
    target: undefined,
  });
});

it("turns failed requests into a share of the requests, unknown without requests", () => {
  const found = history(
    {},
    {
      requests_per_second: [
        [10_000, 4],
        [11_000, 0],
        [12_000, 8],
      ],
      errors_per_second: [
        [10_000, 1],
        [11_000, 0],
        [12_000, 8],
      ],
    },
  );
  expect(found.get("error_ratio")?.values).toEqual([0.25, Number.NaN, 1, Number.NaN]);
});

it("leaves out signals without samples and without target", () => {
  expect([...history({}).keys()]).toEqual(["ready_replicas"]);
});

it("has the requirements as targets, and the requested amounts of all replicas", () => {
  const found = history({
    requirements: { minThroughputRps: 50, maxLatencyMs: 200, availability: 0.75 },
    container: { cpuRequest: 100, memoryRequest: 1024 },
    scale: { current: 3 },
  });
  expect(Object.fromEntries([...found].map(([signal, { target }]) => [signal, target]))).toEqual({
    requests_per_second: { kind: "at_least", value: 50 },
    latency_p99_ms: { kind: "at_most", value: 200 },
    error_ratio: { kind: "at_most", value: 0.25 },
    cpu_millicores: { kind: "requested", value: 300 },
    memory_bytes: { kind: "requested", value: 3072 },
    ready_replicas: { kind: "requested", value: 3 },
  });
});

it("has the latency requirement on the percentile that it limits", () => {
  const found = history({ requirements: { maxLatencyMs: 200, latencyPercentile: 95, maxErrorRate: 0.1 } });
  expect(found.get("latency_p95_ms")?.target).toEqual({ kind: "at_most", value: 200 });
  expect(found.has("latency_p99_ms")).toBe(false);
  expect(found.get("error_ratio")?.target).toEqual({ kind: "at_most", value: 0.1 });
});
