import { expect, test } from "vitest";
import { stackVerdict } from "./status.ts";

const stack = (
  conditions: Readonly<Record<string, string>>,
  status: "healthy" | "starting" | "unhealthy" = "healthy",
) => ({
  status,
  package_manager: {
    state: "running" as const,
    deployments: Object.entries(conditions).map(([key, condition]) => ({ key, condition, clusters: [] })),
  },
});

test.each([
  { of: stack({ a: "Running", b: "Deploying" }), word: "Healthy", causes: "", why: "a roll-out is normal" },
  { of: stack({ a: "Running", b: "Down" }), word: "Unhealthy", causes: "deployment b is Down, ", why: "one is down" },
  { of: stack({ b: "Degraded" }), word: "Degraded", causes: "deployment b is Degraded, ", why: "one is degraded" },
  { of: stack({ b: "Unknown" }), word: "Degraded", causes: "deployment b is Unknown, ", why: "one cannot be read" },
  { of: stack({ a: "Running" }, "unhealthy"), word: "Unhealthy", causes: "", why: "a component failed" },
  { of: stack({}, "starting"), word: "Starting", causes: "", why: "it starts" },
])("the stack is $word: $why", ({ of, word, causes }) => {
  expect(stackVerdict(of)).toEqual({ word, causes });
});
