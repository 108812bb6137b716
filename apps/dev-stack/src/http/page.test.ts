import { expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import { listComponents, type Component, type StackState } from "../components.ts";
import type { PackageManagerState } from "../package-manager/ports.ts";
import { renderPage } from "./page.ts";

const starts = { count: 3, previousAt: "earlier", clockWentBack: false };
const order = { namespace: "default", name: "order-edge", phase: "available", condition: "Running", message: "Ready." };
const edge: ClusterState = {
  name: "edge",
  labels: { env: "edge", zone: "a" },
  nodes: 2,
  availability: 0.99,
  context: "oaas-edge",
  metricsUrl: undefined,
  loads: [],
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
  consoleUrl: "http://x:1/",
  broken: undefined,
  deployments: [{ key: "order", condition: "Running", clusters: [{ name: "edge", condition: "Running" }] }],
};
const whole: StackState = { packageManager: pm, clusters: [edge] };
const statesOf = (state: StackState): Record<string, Component["state"]> =>
  Object.fromEntries(listComponents(state).map(({ name, state: of }) => [name.trim(), of]));

test.each([
  { case: "all runs", cluster: edge, states: ["running", "running", "running"] },
  {
    case: "the cluster is starting",
    cluster: { ...edge, state: "starting", managerUrl: undefined, classes: [] } as const,
    states: ["starting", "starting", undefined],
  },
  {
    case: "the manager runs before its cluster is up",
    cluster: { ...edge, state: "starting", classes: [] } as const,
    states: ["starting", "running", undefined],
  },
  {
    case: "a process of the cluster ended",
    cluster: { ...edge, state: "failed", classes: [] } as const,
    states: ["failed", "failed", undefined],
  },
  {
    case: "a class is degraded",
    cluster: { ...edge, classes: [{ ...order, phase: "degraded", condition: "Down" }] },
    states: ["running", "running", "failed"],
  },
  {
    case: "a class is progressing",
    cluster: { ...edge, classes: [{ ...order, phase: "applying", condition: "Deploying" }] },
    states: ["running", "running", "starting"],
  },
])("shows a cluster component as running only if it runs: $case", ({ cluster, states }) => {
  const found = statesOf({ packageManager: pm, clusters: [cluster] });
  expect([found["Cluster edge"], found["manager"], found["class"]]).toEqual(states);
  expect(found).toMatchObject({ Store: "running" });
});

test("shows the load of a class and the newest change by enforcement", () => {
  const load = {
    namespace: "default",
    owner: "order-edge",
    function: "Order.place",
    requests_per_second: 150.4,
    failed_per_second: 0,
    ready_replicas: 3,
    mean_latency_ms: 10,
  };
  const lastChange = "Order.place replicas 2 to 3, stable lane, 12:00:05 UTC";
  const cluster: ClusterState = { ...edge, loads: [load], classes: [{ ...order, lastChange }] };
  const found = listComponents({ packageManager: pm, clusters: [cluster] }).find(({ name }) => name === "  class");
  expect(found?.details).toBe(
    "order-edge in default, Running, 150 requests/s on 3 replicas: Ready. Enforcement: Order.place replicas 2 to 3, stable lane, 12:00:05 UTC.",
  );
});

test.each([
  {
    case: "a killed manager",
    over: { managerUrl: undefined, broken: "injected fault: class runtime manager killed" },
    parts: { "Cluster edge": "running", manager: "failed", fault: "failed" },
  },
  {
    case: "a partitioned cluster whose components run",
    over: { broken: "cut off" },
    parts: { "Cluster edge": "running", manager: "running", fault: "failed" },
  },
  {
    case: "a cluster that is down, shown once",
    over: { state: "failed", detail: "down", broken: "down", managerUrl: undefined, classes: [] } as const,
    parts: { "Cluster edge": "failed", manager: "failed", fault: undefined },
  },
])("shows injected faults: $case", ({ over, parts }) => {
  const found = statesOf({ packageManager: pm, clusters: [{ ...edge, ...over }] });
  expect({ fault: undefined, ...found }).toMatchObject(parts);
});

test.each([
  { case: "all runs", over: {}, states: ["running", "running"] },
  {
    case: "it is waiting for its clusters",
    over: { state: "starting", url: undefined, deployments: [] } as const,
    states: ["starting", undefined],
  },
  { case: "it does not respond", over: { state: "failed", deployments: [] } as const, states: ["failed", undefined] },
  {
    case: "a deployment is down",
    over: { deployments: [{ key: "order", condition: "Down", clusters: [] }] },
    states: ["running", "failed"],
  },
  {
    case: "a deployment is progressing",
    over: { deployments: [{ key: "order", condition: "Deploying", clusters: [] }] },
    states: ["running", "starting"],
  },
])("shows the package manager as running only if it runs: $case", ({ over, states }) => {
  const found = statesOf({ packageManager: { ...pm, ...over }, clusters: [] });
  expect([found["Package manager"], found["Deployment order"]]).toEqual(states);
});

test.each([
  { over: { consoleUrl: undefined }, state: "off" },
  { over: { consoleUrl: undefined, state: "starting" }, state: "starting" },
  { over: {}, state: "running" },
] as const)("shows the console as $state with $over", ({ over, state }) => {
  expect(statesOf({ ...whole, packageManager: { ...pm, ...over } })).toMatchObject({ Console: state });
});

test("shows cluster components as disabled without clusters", () => {
  expect(statesOf({ ...whole, clusters: [] })).toMatchObject({
    "Kubernetes clusters": "off",
    "Class runtime managers": "off",
  });
});

test("the page lists the components and links to the package manager", () => {
  const page = renderPage({ version: "1", state: whole, starts, revision: 7 });
  expect(page).toContain("<td>running</td><td>Deployment order</td><td>edge Running</td>");
  expect(page).toContain("order-edge in default, Running: Ready.");
  expect(page).toContain("<td>running</td><td>Console</td><td>http://x:1/</td>");
  expect(page).toContain('<a href="http://x:1/docs">');
});

test("escapes text from outside", () => {
  const strange = { key: "<script>alert(1)</script>", condition: 'a "quoted" & b', clusters: [] };
  const state = { ...whole, packageManager: { ...pm, url: 'http://"><b>', deployments: [strange] } };
  const page = renderPage({ version: "<1>", state, starts: { ...starts, previousAt: "<now>" }, revision: 1 });
  expect(page).not.toMatch(/<script>|<1>|<now>|<b>/);
  expect(page).toContain("&lt;script&gt;");
});
