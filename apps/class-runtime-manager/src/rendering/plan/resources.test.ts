import { expect, test } from "vitest";
import {
  containerResources,
  environmentAmounts,
  raiseForLatency,
  withEnforcedRequests,
  type StatedAmounts,
} from "./resources.ts";

const DEFAULTS = { cpu_request: "100m", memory_request: "256Mi", cpu_limit: "500m", memory_limit: "512Mi" };

test.each<{ case: string; sources: (StatedAmounts | undefined)[]; want: [string, string, string, string] }>([
  { case: "nothing stated: the defaults", sources: [], want: ["100m", "256Mi", "500m", "512Mi"] },
  {
    case: "the first source that states a member wins",
    sources: [{ cpu_request: "1m" }, { cpu_request: "2m", cpu_limit: "3m" }],
    want: ["1m", "256Mi", "3m", "512Mi"],
  },
  {
    case: "a request above the default limit raises it",
    sources: [{ cpu_request: "2", memory_request: "1Gi" }],
    want: ["2", "1Gi", "2", "1Gi"],
  },
  {
    case: "a limit below the default request lowers it",
    sources: [{ cpu_limit: "50m", memory_limit: "64Mi" }],
    want: ["50m", "64Mi", "50m", "64Mi"],
  },
  {
    case: "amounts compare by size, not by text",
    sources: [{ memory_request: "400M" }],
    want: ["100m", "400M", "500m", "512Mi"],
  },
])("$case", ({ sources, want }) => {
  const { requests, limits } = containerResources(DEFAULTS, ...sources);
  expect([requests["cpu"], requests["memory"], limits["cpu"], limits["memory"]]).toEqual(want);
});

test("raises resources for a class that requires low latency", () => {
  expect(raiseForLatency(DEFAULTS, 99)).toEqual({
    cpu_request: "500m",
    memory_request: "512Mi",
    cpu_limit: "500m",
    memory_limit: "512Mi",
  });
  expect(raiseForLatency(DEFAULTS, 100)).toEqual(DEFAULTS);
});

test("accepts numbers in an environment", () => {
  expect(environmentAmounts({ requests: { cpu: 1 } }).cpu_request).toBe("1");
});

test("enforced requests replace the defaults and raise their limits by the same factor; stated ones win", () => {
  const enforced = withEnforcedRequests(DEFAULTS, { cpu: 649.2, memory: 3 * 1024 ** 3 });
  expect(containerResources(enforced)).toEqual({
    requests: { cpu: "650m", memory: "3221225472" },
    limits: { cpu: "3250m", memory: "6442450944" },
  });
  expect(containerResources(enforced, { cpu_request: "200m" }).requests["cpu"]).toBe("200m");
  expect(containerResources(enforced, { memory_limit: "4Gi" }).limits["memory"]).toBe("4Gi");
});

test("smaller enforced requests keep the default limits", () => {
  expect(withEnforcedRequests(DEFAULTS, { cpu: 20 })).toEqual({ ...DEFAULTS, cpu_request: "20m" });
});
