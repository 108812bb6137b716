import { expect, test } from "vitest";
import {
  combineConditions,
  conditionBeforeDegraded,
  conditionOfPhase,
  DeploymentCondition,
  outcomeOfCondition,
  type PartHealth,
} from "./condition.ts";

const part = (condition: DeploymentCondition, serving = condition === "running"): PartHealth => ({
  condition,
  serving,
});

test.each([
  { parts: [part("running"), part("running")], whole: "running", why: "all run" },
  { parts: [], whole: "pending", why: "no parts" },
  { parts: [part("deploying"), part("pending")], whole: "deploying", why: "deploying is worse than pending" },
  { parts: [part("running"), part("down")], whole: "degraded", why: "one part serves" },
  { parts: [part("degraded", true), part("degraded", true)], whole: "degraded", why: "an earlier revision serves" },
  { parts: [part("down"), part("deploying", true)], whole: "degraded", why: "the earlier revision serves elsewhere" },
  { parts: [part("down"), part("unknown")], whole: "down", why: "nothing is known to serve" },
  { parts: [part("running"), part("unknown")], whole: "degraded", why: "a cluster is unreachable" },
  { parts: [part("unknown")], whole: "unknown", why: "no cluster is reachable" },
  { parts: [part("running"), part("pending")], whole: "deploying", why: "a cluster is added" },
  { parts: [part("running"), part("deleted")], whole: "deleted", why: "it is being deleted" },
] as const)("combines conditions: $why", ({ parts, whole }) => {
  expect(combineConditions(parts)).toBe(whole);
});

test("never says down of something that serves", () => {
  const conditions = Object.values(DeploymentCondition);
  for (const a of conditions) {
    for (const b of conditions) {
      expect(combineConditions([part(a, true), part(b, false)]), `${a} and ${b}`).not.toBe("down");
    }
  }
});

test.each([
  ["available", true, "running"],
  ["degraded", true, "degraded"],
  ["degraded", false, "down"],
  ["progressing", true, "deploying"],
  ["deleting", true, "deleted"],
] as const)("phase %s, serving %s is %s", (phase, serving, condition) => {
  expect(conditionOfPhase(phase, serving)).toBe(condition);
});

test("gives a revision an outcome when its clusters have reported one", () => {
  const outcomes = Object.values(DeploymentCondition).map((condition) => [condition, outcomeOfCondition(condition)]);
  expect(outcomes.filter(([, outcome]) => outcome !== undefined)).toEqual([
    ["running", "running"],
    ["degraded", "degraded"],
    ["down", "failed"],
  ]);
});

test("clients that do not know degraded see that the desired state is not reached", () => {
  expect(conditionBeforeDegraded("degraded")).toBe("deploying");
  expect(conditionBeforeDegraded("down")).toBe("down");
});
