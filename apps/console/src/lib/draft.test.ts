import { expect, test } from "vitest";
import { draftOf, fieldOf, isActive, isComplete, planRequest, withField } from "./draft.ts";

test("a draft of a deployment is its desired state", () => {
  const deployment = {
    key: "a",
    condition: "RUNNING",
    status: {},
    target_envs: ["x"],
    target_clusters: ["x"],
    functions: [],
    nfr_requirements: { availability: 0.99, max_latency_ms: null },
  };
  expect(draftOf(deployment)).toEqual({ key: "a", target_clusters: ["x"], nfr_requirements: { availability: 0.99 } });
});

test("sets, reads and removes nested fields", () => {
  const draft = withField({ key: "a" }, ["nfr_requirements", "availability"], 0.99);
  expect(fieldOf(draft, ["nfr_requirements", "availability"])).toBe(0.99);
  expect(withField(draft, ["nfr_requirements", "availability"], undefined)).toEqual({ key: "a" });
});

test("is complete with key, package and class", () => {
  expect([
    isComplete({ key: "a", package_name: "p", class_key: "C" }),
    isComplete({ key: "a", package_name: "", class_key: "C" }),
  ]).toEqual([true, false]);
});

test("assumptions are not part of the draft that is applied", () => {
  const draft = { key: "a" };
  const whatIf = { clustersDown: ["edge"], availability: 0.999, load: 50 };
  expect(planRequest(draft, whatIf, true)).toEqual({
    deployment: { key: "a", nfr_requirements: { min_throughput_rps: 50 } },
    what_if: { clusters_down: ["edge"], availability: 0.999 },
    objects: true,
  });
  expect([isActive(whatIf), isActive({ clustersDown: [], availability: undefined, load: undefined })]).toEqual([
    true,
    false,
  ]);
});
