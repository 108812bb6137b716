import type { Topology, TopologyEdge, TopologyNode, TopologyNodeType } from "@oaas/models";
import { expect, test } from "vitest";
import { groupTopology, topologyOfPackage } from "./group-topology.ts";

function topology(classes: number, functions: number, deployments = 1): Topology {
  const nodes: TopologyNode[] = [];
  const edges: TopologyEdge[] = [];
  const add = (id: string, nodeType: TopologyNodeType, health = "Running") =>
    nodes.push({ id, nodeType, status: health.toLowerCase(), metadata: { health }, deployedClasses: ["p0.C"] });
  add("env::edge", "environment", "Healthy");
  for (let c = 0; c < classes; c++) {
    add(`package::p${c}`, "package");
    add(`class::p${c}.C`, "class");
    edges.push({ from: `package::p${c}`, to: `class::p${c}.C`, metadata: { relation: "has" } });
    for (let f = 0; f < functions; f++) {
      add(`function::p${c}.C::f${f}`, "function", c === 0 && f === 1 ? "Down" : "Running");
      edges.push({ from: `class::p${c}.C`, to: `function::p${c}.C::f${f}`, metadata: { relation: "has" } });
    }
    for (let d = 0; d < deployments; d++)
      edges.push({ from: `class::p${c}.C`, to: "env::edge", metadata: { relation: "runs-in", deployment: `d${d}` } });
  }
  return { nodes, edges, timestamp: "2026-11-19T00:00:00.000Z" };
}

test("keeps every node that fits, without lists of deployed classes", () => {
  const { nodes, edges, timestamp } = groupTopology(topology(3, 2), 200);
  expect(nodes).toHaveLength(13);
  expect(nodes.flatMap(({ deployedClasses }) => deployedClasses)).toEqual([]);
  expect(edges).toHaveLength(12);
  expect(timestamp).toBe("2026-11-19T00:00:00.000Z");
});

test("merges the edges of 10,000 deployments between a class and a cluster into one with their number", () => {
  const { edges } = groupTopology(topology(1, 1, 10_000), 200);
  expect(edges).toHaveLength(3);
  expect(edges.at(-1)).toEqual({
    from: "class::p0.C",
    to: "env::edge",
    metadata: { relation: "runs-in", count: "10000" },
  });
});

test("groups the functions of each class first; a group has the worst health of its members", () => {
  const { nodes, edges } = groupTopology(topology(40, 10), 200);
  expect(nodes).toHaveLength(121);
  expect(nodes.find(({ id }) => id === "group::function::class::p0.C")).toEqual({
    id: "group::function::class::p0.C",
    nodeType: "function",
    status: "down",
    metadata: { count: "10", health: "Down" },
    deployedClasses: [],
  });
  expect(edges).toHaveLength(120);
});

test.each([
  [500, 3, 200],
  [5000, 1, 200],
  [10, 2, 4],
])("returns at most the limit: %d classes with %d functions, %d nodes", (classes, functions, limit) => {
  const whole = topology(classes, functions);
  const { nodes, edges } = groupTopology(whole, limit);
  expect(nodes.length).toBeLessThanOrEqual(limit);
  const ids = new Set(nodes.map(({ id }) => id));
  expect(edges.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
  const members = nodes.reduce((sum, { metadata }) => sum + Number(metadata["count"] ?? 1), 0);
  expect(members, "every node is in one group").toBe(whole.nodes.length);
});

test("limits the topology to a package, its classes, functions and clusters", () => {
  const { nodes, edges } = topologyOfPackage(topology(3, 2), "p1");
  expect(nodes.map(({ id }) => id)).toEqual([
    "env::edge",
    "package::p1",
    "class::p1.C",
    "function::p1.C::f0",
    "function::p1.C::f1",
  ]);
  expect(edges).toHaveLength(4);
  expect(topologyOfPackage(topology(3, 2), "missing").nodes).toEqual([]);
});
