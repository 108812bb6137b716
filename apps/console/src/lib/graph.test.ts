import { expect, test } from "vitest";
import type { Topology } from "../api/contract.ts";
import { groupTopology, MAX_NODES } from "./graph.ts";

function topology(classes: number, functions: number): Topology {
  const nodes: Topology["nodes"][number][] = [];
  const edges: Topology["edges"][number][] = [];
  const add = (id: string, kind: string, health = "Running") =>
    nodes.push({ id, node_type: kind, status: "healthy", metadata: { health }, deployed_classes: [] });
  for (let c = 0; c < classes; c++) {
    add(`package::p${c}`, "package");
    add(`class::p${c}.C`, "class");
    edges.push({ from_id: `package::p${c}`, to_id: `class::p${c}.C`, metadata: {} });
    for (let f = 0; f < functions; f++) {
      add(`function::p${c}.C::f${f}`, "function", c === 0 && f === 0 ? "Down" : "Running");
      edges.push({ from_id: `class::p${c}.C`, to_id: `function::p${c}.C::f${f}`, metadata: {} });
    }
  }
  return { nodes, edges } as unknown as Topology;
}

test("draws everything that fits", () => {
  expect(groupTopology(topology(3, 2)).nodes).toHaveLength(12);
});

test("groups the functions of each class, and a group has the worst state of its members", () => {
  const { nodes, edges } = groupTopology(topology(40, 10));
  expect(nodes).toHaveLength(120);
  expect(nodes.find(({ id }) => id === "group::function::class::p0.C")).toMatchObject({ state: "Down", count: 10 });
  expect(edges).toHaveLength(80);
});

test.each([
  [500, 3],
  [5000, 1],
])("never draws more than the limit: %d classes", (classes, functions) => {
  const { nodes, edges } = groupTopology(topology(classes, functions));
  expect(nodes.length).toBeLessThanOrEqual(MAX_NODES);
  const ids = new Set(nodes.map(({ id }) => id));
  expect(edges.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
});
