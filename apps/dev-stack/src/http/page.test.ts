import { expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import { partsOf, type Part, type StackState } from "../parts.ts";
import type { PackageManagerState } from "../platform/platform-state.ts";
import { readyScreen, type ScreenInput } from "../screen.ts";
import { renderPage } from "./page.ts";

const starts = { count: 3, previousAt: "earlier" };
const order = { namespace: "default", name: "order-edge", phase: "available", message: "Ready." };
const edge: ClusterState = {
  name: "edge",
  labels: { env: "edge", zone: "a" },
  nodes: 2,
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
  const page = renderPage({ version: "<1>", state, starts: { count: 2, previousAt: "<now>" }, revision: 1 });
  expect(page).not.toMatch(/<script>|<1>|<now>|<b>/);
  expect(page).toContain("&lt;script&gt;");
});

const screenOf = (over: Partial<ScreenInput>): string =>
  readyScreen({
    url: "http://x:1",
    pageUrl: "http://x:2",
    dataDir: "/data",
    starts,
    state: whole,
    kubectl: "kubectl",
    ...over,
  });
const within = (cluster: Partial<ClusterState>): Partial<ScreenInput> => ({
  state: { ...whole, clusters: [{ ...edge, ...cluster }] },
});

test("the screen shows the addresses, where the data is, how to stop, and commands to copy", () => {
  const screen = screenOf({});
  expect(screen).toContain("http://x:1/api/v1 (reference: http://x:1/docs)");
  expect(screen).toContain("http://x:2");
  expect(screen).toContain("/data (start 3, the last was earlier)");
  expect(screen).toMatch(/● Package manager/);
  expect(screen).toMatch(/● Deployment order +edge running/);
  expect(screen).toContain("Ctrl-C");
  expect(screen).toContain("    curl http://x:1/api/v1/deployments/order/status\n");
});

test.each([
  {
    why: "each cluster by its kubeconfig",
    over: {},
    line: "    kubectl --kubeconfig /data/clusters/edge/kubeconfig get classruntimes,deployments,pods",
  },
  {
    why: "a folder with a space and a quote is quoted for the shell",
    over: within({ kubeconfig: "/my data/it's/kubeconfig" }),
    line: String.raw`    kubectl --kubeconfig '/my data/it'\''s/kubeconfig' get classruntimes,deployments,pods`,
  },
  {
    why: "without a kubectl of its own the machine uses ours",
    over: { kubectl: "/cache/bin/kubectl" },
    line: "    /cache/bin/kubectl --kubeconfig /data/clusters/edge/kubeconfig get classruntimes,deployments,pods",
  },
])("commands fit the place: $why", ({ over, line }) => {
  expect(screenOf(over).split("\n")).toContain(line);
});

test("a screen without clusters offers no commands for them", () => {
  const screen = screenOf({ state: { packageManager: { ...pm, deployments: [] }, clusters: [] } });
  expect(screen).not.toContain("kubectl");
  expect(screen).toContain("    curl http://x:1/api/v1/packages\n");
});
