import { expect, it } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import type { Node, Pod } from "../../lifecycle/observation/observed-objects.ts";
import { listPods, type PodSource } from "./list-pods.ts";

const OBJECT = {
  metadata: { name: "web", namespace: "shop", uid: "u" },
  spec: { functions: [{ function_key: "greet.all" }] },
} as StoredClass;

function pod(name: string, over: { labels?: object; metadata?: object; spec?: object; status?: object } = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: over.labels ?? { "oaas.io/function": "greet.all" },
      ...over.metadata,
    },
    spec: { nodeName: "n1", ...over.spec },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...over.status },
  } as Pod;
}
const NODES = [
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  },
] as readonly Node[];
const list = (pods: readonly Pod[], over: Partial<PodSource> = {}) =>
  listPods(OBJECT, { arePodsKnown: true, podsOf: () => pods, nodesOf: () => NODES, ...over });

it("lists pods by component and name, with node, phase, restarts and start", () => {
  const state = pod("a-store", { labels: { "oaas.io/component": "odgm" } });
  const restarted = pod("b", {
    status: {
      containerStatuses: [{ name: "function", restartCount: 3 }],
      initContainerStatuses: [{ name: "wait", restartCount: 1 }],
    },
  });
  const { pods = [], morePods } = list([state, restarted, pod("a")]);
  expect(pods.map(({ name, component, restarts }) => [name, component, restarts])).toEqual([
    ["a", "greet.all", 0],
    ["b", "greet.all", 4],
    ["a-store", "odgm", 0],
  ]);
  expect(pods[0]).toMatchObject({
    node: "n1",
    phase: "Running",
    ready: true,
    createdAt: "2026-01-01T00:00:00Z",
    reason: "",
    message: "",
  });
  expect(morePods).toBe(0);
});

it.each([
  { why: "of a lost node", given: pod("p", { spec: { nodeName: "n2" } }), reason: "NodeLost", phase: "Running" },
  {
    why: "that no node can run",
    given: pod("p", {
      spec: { nodeName: undefined },
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }] },
    }),
    reason: "Unschedulable",
    phase: "Pending",
  },
  {
    why: "that is being deleted",
    given: pod("p", { metadata: { deletionTimestamp: "2026-01-01T00:00:01Z" } }),
    reason: "",
    phase: "Terminating",
  },
])("says why a pod $why is not ready", ({ given, reason, phase }) => {
  expect(list([given]).pods?.[0]).toMatchObject({ phase, reason, ...(reason === "NodeLost" ? {} : { ready: false }) });
});

it("lists at most 500 pods and counts the others", () => {
  const { pods = [], morePods } = list(Array.from({ length: 620 }, (_, index) => pod(`p${index}`)));
  expect(pods).toHaveLength(500);
  expect(morePods).toBe(120);
});

it("fails instead of listing nothing while the pods are not known", () => {
  expect(() => list([], { arePodsKnown: false })).toThrow("may not list pods");
});
