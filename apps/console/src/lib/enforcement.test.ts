import { expect, test } from "vitest";
import { explainDecision } from "./enforcement.ts";

const decision = (record: string) =>
  explainDecision({ component: "Sale.buy", dimension: "replicas", applied_at: "2026-11-19T04:25:57Z", record });

test("explains a decision with its numbers and limits", () => {
  const record = {
    input: {
      recommendation: { target: 4, lowerBound: 3, basis: { values: { requests_per_second: 140 } } },
      minimums: [{ value: 1, source: "min_scale" }],
      urgency: { ratio: 0.988 },
    },
    outcome: { action: "apply", lane: "stable", from: 2, to: 3 },
  };
  expect(decision(JSON.stringify(record))).toMatchObject({
    action: "apply",
    lane: "stable",
    from: 2,
    to: 3,
    numbers: [
      ["recommended", 4],
      ["lower bound", 3],
      ["minimum", "1 (min_scale)"],
      ["urgency ratio", 0.988],
      ["requests_per_second", 140],
    ],
  });
});

test("a record of another version still has its place and time", () => {
  expect(decision("not JSON")).toMatchObject({ component: "Sale.buy", action: "unknown", numbers: [] });
});
