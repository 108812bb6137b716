import { expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import { partsOf, type Part } from "../parts.ts";
import { readyScreen, type ScreenInput } from "../screen.ts";
import { renderPage } from "./page.ts";

const starts = { count: 3, previousAt: "earlier" };
const order = { namespace: "default", name: "order", phase: "available", message: "Ready." };
const local: ClusterState = {
  name: "local",
  state: "running",
  detail: undefined,
  apiUrl: "https://127.0.0.1:1",
  kubeconfig: "/data/clusters/local/kubeconfig",
  managerUrl: "http://127.0.0.1:2",
  classes: [order],
};
const statesOf = (...clusters: ClusterState[]): Record<string, Part["state"]> =>
  Object.fromEntries(partsOf(clusters).map(({ name, state }) => [name, state]));

test.each([
  { why: "all runs", cluster: local, states: ["running", "running", "running"] },
  {
    why: "Kubernetes is being started",
    cluster: { ...local, state: "starting", managerUrl: undefined, classes: [] } as const,
    states: ["starting", "starting", undefined],
  },
  {
    why: "the manager runs before its cluster is said to be up",
    cluster: { ...local, state: "starting", classes: [] } as const,
    states: ["starting", "running", undefined],
  },
  {
    why: "a program ended",
    cluster: { ...local, state: "failed", classes: [] } as const,
    states: ["failed", "failed", undefined],
  },
  {
    why: "a class is broken",
    cluster: { ...local, classes: [{ ...order, phase: "degraded" }] },
    states: ["running", "running", "failed"],
  },
  {
    why: "a class is on its way",
    cluster: { ...local, classes: [{ ...order, phase: "applying" }] },
    states: ["running", "running", "starting"],
  },
])("a part is said to run only when it does: $why", ({ cluster, states }) => {
  const found = statesOf(cluster);
  expect([found["Kubernetes cluster"], found["Class runtime manager"], found["Class order"]]).toEqual(states);
  expect(found).toMatchObject({ "Durable store": "running", "Package manager": "absent" });
});

test("without a cluster, what belongs to it is switched off, not absent", () => {
  expect(statesOf()).toMatchObject({ "Kubernetes cluster": "off", "Class runtime manager": "off" });
});

test("the page says of each part how it is", () => {
  const page = renderPage({ version: "1", parts: partsOf([local]), starts, revision: 7 });
  expect(page).toContain("<td>running</td><td>Class order</td><td>local: in default, available: Ready.</td>");
  expect(page).toContain("<td>not in the stack yet</td><td>Package manager</td>");
});

test("text from outside cannot become markup", () => {
  const parts: Part[] = [{ name: "<script>alert(1)</script>", what: 'a "quoted" & b', state: "running" }];
  const page = renderPage({ version: "<1>", parts, starts: { count: 2, previousAt: "<now>" }, revision: 1 });
  expect(page).not.toMatch(/<script>|<1>|<now>/);
  expect(page).toContain("a &quot;quoted&quot; &amp; b");
});

const screenOf = (over: Partial<ScreenInput>): string =>
  readyScreen({ url: "http://x:1", dataDir: "/data", starts, clusters: [local], kubectl: "kubectl", ...over });

test("the screen shows the address, where the data is, how to stop, and commands to copy", () => {
  const screen = screenOf({});
  expect(screen).toContain("http://x:1");
  expect(screen).toContain("/data (start 3, the last was earlier)");
  expect(screen).toMatch(/○ Package manager/);
  expect(screen).toMatch(/● Class order/);
  expect(screen).toContain("Ctrl-C");
  expect(screen).toContain("    export KUBECONFIG=/data/clusters/local/kubeconfig\n");
  expect(screen).toContain("    kubectl describe classruntime order\n");
});

test.each([
  {
    why: "a folder with a space and a quote is quoted for the shell",
    over: { clusters: [{ ...local, kubeconfig: "/my data/it's/kubeconfig" }] },
    line: String.raw`    export KUBECONFIG='/my data/it'\''s/kubeconfig'`,
  },
  {
    why: "a class elsewhere is asked for where it is",
    over: { clusters: [{ ...local, classes: [{ ...order, namespace: "shop" }] }] },
    line: "    kubectl describe classruntime order -n shop",
  },
  {
    why: "without a kubectl of its own the machine uses ours",
    over: { kubectl: "/cache/bin/kubectl" },
    line: "    /cache/bin/kubectl get classruntimes",
  },
])("commands fit the place: $why", ({ over, line }) => {
  expect(screenOf(over).split("\n")).toContain(line);
});

test("a screen without a cluster offers no commands for one", () => {
  expect(screenOf({ clusters: [] })).not.toContain("kubectl");
});
