import { expect, test } from "vitest";
import type { Topology } from "../api/contract.ts";
import { graphOf } from "./graph.ts";

type Node = Topology["nodes"][number];

const node = (id: string, node_type: Node["node_type"], metadata: Node["metadata"]): Node => ({
  id,
  node_type,
  status: "healthy",
  metadata,
  deployed_classes: [],
});

test("links a package and a cluster to their pages, and a class to the deployments of its package", () => {
  const { nodes } = graphOf({
    nodes: [
      node("package::shop", "package", { health: "Running" }),
      node("class::shop.Order", "class", {}),
      node("env::edge", "environment", { name: "edge" }),
      node("function::shop.Order::Order.place", "function", { function: "Order.place", replicas: "3/3" }),
    ],
    edges: [],
    timestamp: null,
  });
  expect(nodes.map(({ label, state, detail, href }) => [label, state, detail, href])).toEqual([
    ["shop", "Running", "", "/packages/shop"],
    ["shop.Order", "healthy", "", "/deployments?package_name=shop"],
    ["edge", "healthy", "", "/clusters/edge"],
    ["Order.place", "healthy", "3/3", undefined],
  ]);
});

test("shows a group of the server with its number and without a link", () => {
  const metadata = { count: "12", health: "Down" };
  const { nodes } = graphOf({ nodes: [node("group::package::", "package", metadata)], edges: [], timestamp: null });
  expect(nodes).toEqual([
    {
      id: "group::package::",
      label: "12 × package",
      kind: "package",
      state: "Down",
      detail: "",
      href: undefined,
      count: 12,
    },
  ]);
});
