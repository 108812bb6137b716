import { Fault } from "@oaas/foundation";
import { expect, it } from "vitest";
import { historyRange, type RequestedRange } from "./history-range.ts";

const NOW = 1_000_000_123;

it.each([
  { why: "by default an hour in 120 steps", request: {}, steps: 120, stepMs: 30_000 },
  { why: "the shortest range", request: { rangeSeconds: 60 }, steps: 60, stepMs: 1000 },
  { why: "the longest range", request: { rangeSeconds: 604_800 }, steps: 120, stepMs: 5_040_000 },
  { why: "the most steps", request: { rangeSeconds: 3600, stepSeconds: 5 }, steps: 720, stepMs: 5000 },
  { why: "one step", request: { rangeSeconds: 90, stepSeconds: 90 }, steps: 1, stepMs: 90_000 },
  {
    why: "a step that does not divide the range",
    request: { rangeSeconds: 100, stepSeconds: 30 },
    steps: 3,
    stepMs: 30_000,
  },
])("reads $why", ({ request, steps, stepMs }) => {
  const range = historyRange(request, NOW);
  expect(range.stepMs).toBe(stepMs);
  expect((range.endMs - range.startMs) / stepMs).toBe(steps);
  expect(range.endMs % stepMs).toBe(0);
  expect(NOW - range.endMs).toBeLessThan(stepMs);
});

it.each([
  { why: "a range below a minute", request: { rangeSeconds: 59 }, path: "$.range_seconds" },
  { why: "a range above a week", request: { rangeSeconds: 604_801 }, path: "$.range_seconds" },
  { why: "a range of nothing", request: { rangeSeconds: 0, stepSeconds: 0 }, path: "$.range_seconds" },
  { why: "more than 720 steps", request: { rangeSeconds: 3600, stepSeconds: 4 }, path: "$.step_seconds" },
  { why: "a step of nothing", request: { rangeSeconds: 60, stepSeconds: 0 }, path: "$.step_seconds" },
  { why: "a step beyond the range", request: { rangeSeconds: 60, stepSeconds: 61 }, path: "$.step_seconds" },
] satisfies readonly { readonly why: string; readonly request: RequestedRange; readonly path: string }[])(
  "rejects $why with the limits",
  ({ request, path }) => {
    expect(() => historyRange(request, NOW)).toThrow(Fault);
    try {
      historyRange(request, NOW);
    } catch (thrown) {
      expect(Fault.from(thrown).detail).toMatchObject({
        kind: "invalid-argument",
        violations: [{ path, fix: expect.stringContaining("seconds") }],
      });
    }
  },
);
