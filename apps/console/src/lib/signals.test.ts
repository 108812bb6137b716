import { expect, test } from "vitest";
import { newestValue, signalCharts } from "./signals.ts";

const SIGNALS = {
  start: "2026-01-01T00:00:00Z",
  step_seconds: 10,
  series: [
    { component: "f", signal: "cpu_millicores", values: [1, null, 3, null], target: 100, target_kind: "requested" },
    { component: "g", signal: "ready_replicas", values: [] },
  ],
  marks: [
    { at: "2026-01-01T00:00:15Z", component: "f", dimension: "cpu", from: 50, to: 100 },
    { at: "2026-01-01T00:00:16Z", component: "f", dimension: "memory", to: 7 },
  ],
};

test("places values at their steps, keeps gaps, and marks the changes of the component", () => {
  const startMs = Date.parse(SIGNALS.start);
  const [cpu, replicas] = signalCharts(SIGNALS);
  expect(cpu).toEqual({
    component: "f",
    signal: "cpu_millicores",
    unit: "m",
    points: [
      { atMs: startMs, value: 1 },
      { atMs: startMs + 10_000, value: null },
      { atMs: startMs + 20_000, value: 3 },
      { atMs: startMs + 30_000, value: null },
    ],
    target: 100,
    targetKind: "requested",
    marks: [
      { atMs: startMs + 15_000, label: "cpu 50 → 100" },
      { atMs: startMs + 16_000, label: "memory ? → 7" },
    ],
  });
  expect(replicas).toMatchObject({ unit: "", marks: [], target: undefined });
});

test("finds the newest measured value", () => {
  const [cpu, replicas] = signalCharts(SIGNALS);
  expect(newestValue(cpu?.points ?? [])).toBe(3);
  expect(newestValue(replicas?.points ?? [])).toBeUndefined();
});
