import { expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import { partsOf, type Part, type StackState } from "../parts.ts";
import type { PackageManagerState } from "../platform/platform-state.ts";
import { renderPage } from "./page.ts";

const starts = { count: 3, previousAt: "earlier", clockWentBack: false };
const order = { namespace: "default", name: "order-edge", phase: "available", message: "Ready." };
const edge: ClusterState = {
  name: "edge",
  labels: { env: "edge", zone: "a" },
  nodes: 2,
  availability: 0.99,
  context: "oaas-edge",
  broken: undefined,
  state: "running",
  detail: undefined,
  apiUrl: "https://127.0.0.1:1",
  kubeconfig: "/data/clusters/edge/kubeconfig",
  managerUrl: "http://127.0.0.1:2",
  classes: [order],
};
const pm: PackageManagerState = {
  state: "running",
  detail: undefined,
  url: "http://x:1",
  broken: undefined,
  deployments: [{ key: "order", condition: "Running", clusters: [{ name: "edge", condition: "Running" }] }],
};
const whole: StackState = { packageManager: pm, clusters: [edge] };
const statesOf = (state: StackState): Record<string, Part["state"]> =>
  Object.fromEntries(partsOf(state).map(({ name, state: of }) => [name.trim(), of]));

test.each([
  { why: "all runs", cluster: edge, states: ["running", "running", "running"] },
  {
    why: "Kubernetes is being started",
    cluster: { ...edge, state: "starting", managerUrl: undefined, classes: [] } as const,
    states: ["starting", "starting", undefined],
  },
  {
    why: "the manager runs before its cluster is said to be up",
    cluster: { ...edge, state: "starting", classes: [] } as const,
    states: ["starting", "running", undefined],
  },
  {
    why: "a program ended",
    cluster: { ...edge, state: "failed", classes: [] } as const,
    states: ["failed", "failed", undefined],
  },
  {
    why: "a class is broken",
    cluster: { ...edge, classes: [{ ...order, phase: "degraded" }] },
    states: ["running", "running", "failed"],
  },
  {
    why: "a class is on its way",
    cluster: { ...edge, classes: [{ ...order, phase: "applying" }] },
    states: ["running", "running", "starting"],
  },
])("a part of a cluster is said to run only when it does: $why", ({ cluster, states }) => {
  const found = statesOf({ packageManager: pm, clusters: [cluster] });
  expect([found["Cluster edge"], found["its manager"], found["class"]]).toEqual(states);
  expect(found).toMatchObject({ "Durable store": "running" });
});

test.each([
  {
    why: "its manager is killed",
    over: { managerUrl: undefined, broken: "its manager is killed, on purpose" },
    parts: { "Cluster edge": "running", "its manager": "failed", broken: "failed" },
  },
  {
    why: "it is cut off: all of it runs",
    over: { broken: "cut off" },
    parts: { "Cluster edge": "running", "its manager": "running", broken: "failed" },
  },
  {
    why: "it is down as a whole, said once",
    over: { state: "failed", detail: "down", broken: "down", managerUrl: undefined, classes: [] } as const,
    parts: { "Cluster edge": "failed", "its manager": "failed", broken: undefined },
  },
])("what was broken on purpose is shown: $why", ({ over, parts }) => {
  const found = statesOf({ packageManager: pm, clusters: [{ ...edge, ...over }] });
  expect({ broken: undefined, ...found }).toMatchObject(parts);
});

test.each([
  { why: "all runs", over: {}, states: ["running", "running"] },
  {
    why: "it waits for its clusters",
    over: { state: "starting", url: undefined, deployments: [] } as const,
    states: ["starting", undefined],
  },
  { why: "it does not answer", over: { state: "failed", deployments: [] } as const, states: ["failed", undefined] },
  {
    why: "a deployment is down",
    over: { deployments: [{ key: "order", condition: "Down", clusters: [] }] },
    states: ["running", "failed"],
  },
  {
    why: "a deployment is on its way",
    over: { deployments: [{ key: "order", condition: "Deploying", clusters: [] }] },
    states: ["running", "starting"],
  },
])("the package manager is said to run only when it does: $why", ({ over, states }) => {
  const found = statesOf({ packageManager: { ...pm, ...over }, clusters: [] });
  expect([found["Package manager"], found["Deployment order"]]).toEqual(states);
});

test("without clusters, what belongs to them is switched off, not absent", () => {
  expect(statesOf({ ...whole, clusters: [] })).toMatchObject({
    "Kubernetes clusters": "off",
    "Class runtime managers": "off",
  });
});

test("the page says of each part how it is, and leads to the package manager", () => {
  const page = renderPage({ version: "1", state: whole, starts, revision: 7 });
  expect(page).toContain("<td>running</td><td>Deployment order</td><td>edge running</td>");
  expect(page).toContain("order-edge in default, available: Ready.");
  expect(page).toContain("<td>not in the stack yet</td>");
  expect(page).toContain('<a href="http://x:1/docs">');
});

test("text from outside cannot become markup", () => {
  const strange = { key: "<script>alert(1)</script>", condition: 'a "quoted" & b', clusters: [] };
  const state = { ...whole, packageManager: { ...pm, url: 'http://"><b>', deployments: [strange] } };
  const page = renderPage({ version: "<1>", state, starts: { ...starts, previousAt: "<now>" }, revision: 1 });
  expect(page).not.toMatch(/<script>|<1>|<now>|<b>/);
  expect(page).toContain("&lt;script&gt;");
});
