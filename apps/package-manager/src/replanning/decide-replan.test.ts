import type { ClusterName } from "@oaas/models";
import { expect, test } from "vitest";
import { HOUR_MS } from "../records/automatic-changes.ts";
import { decideReplan, type ReplanFacts } from "./decide-replan.ts";

const NOW_MS = 10 * HOUR_MS;
const FACTS: ReplanFacts = {
  owner: "orders",
  mode: "auto",
  nowMs: NOW_MS,
  lostClusters: ["a" as ClusterName],
  plan: { kind: "new", isPlacementChanged: true, texts: ["units.a was removed", "units.b was added"] },
  keepsState: false,
  changes: { changes: [] },
  settings: { clusterLostMs: 300_000, minIntervalMs: 60_000, deploymentBudget: 2, platformBudget: 3 },
};

const changedAgo = (...minutes: readonly (readonly [string, number])[]): Pick<ReplanFacts, "changes"> => ({
  changes: {
    changes: minutes.map(([owner, ago]) => ({ owner, atMs: NOW_MS - ago * 60_000 })),
  },
});

test.each<{ name: string; facts: Partial<ReplanFacts>; expected: object }>([
  { name: "applies a new plan with auto", facts: {}, expected: { action: "apply", reason: "cluster_lost" } },
  { name: "proposes it by default", facts: { mode: "propose" }, expected: { action: "propose" } },
  {
    name: "does nothing when the plan in force stays and no cluster is lost",
    facts: { lostClusters: [], plan: { kind: "same", namesClusters: false } },
    expected: { action: "none" },
  },
  {
    name: "explains that named clusters are not left",
    facts: { plan: { kind: "same", namesClusters: true } },
    expected: { action: "block", code: "no_other_plan", message: expect.stringContaining("target_clusters") },
  },
  {
    name: "repeats the refusal of the planner",
    facts: { plan: { kind: "refused", message: "0.999 is out of reach" } },
    expected: { action: "block", code: "no_plan", message: expect.stringContaining("0.999 is out of reach") },
  },
  {
    name: "does not move a class with state, and says what does",
    facts: { keepsState: true, plan: { kind: "same", namesClusters: false } },
    expected: {
      action: "block",
      code: "state",
      message: expect.stringMatching(/oaas state copy.* odgm.allow_layout_change.* replan_allow_state_loss/),
    },
  },
  {
    name: "does not drain a class with state, not even for a changed scale",
    facts: {
      keepsState: true,
      plan: { kind: "new", isPlacementChanged: false, texts: ["x"] },
      drain: { clusters: ["a" as ClusterName], by: "ann", namesClusters: false },
    },
    expected: { action: "block", code: "state", message: expect.stringContaining("allow_state_loss") },
  },
  {
    name: "waits for the minimum interval",
    facts: changedAgo(["orders", 0.5]),
    expected: { action: "block", code: "min_interval", retryAtMs: NOW_MS + 30_000 },
  },
  { name: "counts the interval per deployment", facts: changedAgo(["other", 0.5]), expected: { action: "apply" } },
  {
    name: "stops at the budget of the deployment until the oldest change is an hour old",
    facts: changedAgo(["orders", 50], ["orders", 20]),
    expected: { action: "block", code: "deployment_budget", retryAtMs: NOW_MS + 10 * 60_000 },
  },
  {
    name: "stops at the budget of the platform",
    facts: changedAgo(["x", 50], ["y", 40], ["z", 30]),
    expected: { action: "block", code: "platform_budget", retryAtMs: NOW_MS + 10 * 60_000 },
  },
  {
    name: "does not count changes older than an hour",
    facts: changedAgo(["orders", 70], ["orders", 65]),
    expected: { action: "apply" },
  },
  {
    name: "waits until a freeze window ends",
    facts: { lostClusters: [], freeze: { text: "freeze window w", untilMs: NOW_MS + 5 } },
    expected: { action: "block", code: "frozen", retryAtMs: NOW_MS + 5, message: expect.stringContaining("window w") },
  },
  {
    name: "leaves a lost cluster during a freeze window",
    facts: { freeze: { text: "freeze window w", untilMs: NOW_MS + 5 } },
    expected: { action: "apply", reason: "cluster_lost" },
  },
  {
    name: "does not drain during a freeze window",
    facts: {
      drain: { clusters: ["a" as ClusterName], by: "ann", namesClusters: false },
      freeze: { text: "freeze window w", untilMs: NOW_MS + 5 },
    },
    expected: { action: "block", code: "frozen", reason: "drain", retryAtMs: NOW_MS + 5 },
  },
  {
    name: "names a changed scale",
    facts: { lostClusters: [], plan: { kind: "new", isPlacementChanged: false, texts: ["x"] } },
    expected: { action: "apply", reason: "scale" },
  },
])("$name", ({ facts, expected }) => {
  expect(decideReplan({ ...FACTS, ...facts })).toMatchObject(expected);
});
