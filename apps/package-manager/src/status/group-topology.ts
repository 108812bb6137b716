import { topologyId } from "./topology-graph.ts";
import type { Topology, TopologyEdge, TopologyNode, TopologyNodeType } from "@oaas/models";

type Graph = Pick<Topology, "nodes" | "edges">;

/** The order in which kinds are grouped: those that a reader misses least first. */
const GROUPED_KINDS: readonly TopologyNodeType[] = ["function", "class", "package", "odgm", "router", "environment"];
/** Worst first. */
const HEALTH = ["Down", "Unhealthy", "Unreachable", "Degraded", "Unknown", "Deploying", "Pending"];

/** The part of a topology that a package leads to. */
export function topologyOfPackage({ nodes, edges, ...rest }: Topology, name: string): Topology {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const reached = new Set([topologyId("package", name)]);
  for (const id of reached) for (const { to } of targets.get(id) ?? []) reached.add(to);
  return {
    ...rest,
    nodes: nodes.filter(({ id }) => reached.has(id)),
    edges: edges.filter(({ from, to }) => reached.has(from) && reached.has(to)),
  };
}

/**
 * The topology in at most `maxNodes` nodes, with one edge between two of them: the functions of each class are grouped
 * first, then all functions, classes, packages and clusters. A group has the worst health of its members; lists of
 * deployed classes are left out.
 */
export function groupTopology({ nodes, edges, ...rest }: Topology, maxNodes: number): Topology {
  let graph: Graph = { nodes: nodes.map((node) => ({ ...node, deployedClasses: [] })), edges: mergeEdges(edges) };
  if (nodes.length > maxNodes) graph = groupKind(graph, "function", ownersOf(graph));
  for (const kind of GROUPED_KINDS) if (graph.nodes.length > maxNodes) graph = groupKind(graph, kind, new Map());
  return { ...rest, ...graph };
}

/** The class of each node that a class has. */
function ownersOf({ nodes, edges }: Graph): ReadonlyMap<string, string> {
  const classes = new Set(nodes.filter(({ nodeType }) => nodeType === "class").map(({ id }) => id));
  return new Map(edges.filter(({ from }) => classes.has(from)).map(({ from, to }) => [to, from]));
}

/** Replaces the nodes of a kind with one node for each owner, or with one for all. */
function groupKind({ nodes, edges }: Graph, kind: TopologyNodeType, owners: ReadonlyMap<string, string>): Graph {
  const members = nodes.filter(({ nodeType }) => nodeType === kind);
  const groupIdOf = (id: string): string => `group::${kind}::${owners.get(id) ?? ""}`;
  const groupOf = new Map(members.map(({ id }) => [id, groupIdOf(id)]));
  const groups = [...Map.groupBy(members, ({ id }) => groupIdOf(id))];
  const moved = ({ from, to, metadata }: TopologyEdge): TopologyEdge => ({
    from: groupOf.get(from) ?? from,
    to: groupOf.get(to) ?? to,
    metadata,
  });
  return {
    nodes: [...nodes.filter(({ nodeType }) => nodeType !== kind), ...groups.map(([id, of]) => groupNode(id, kind, of))],
    edges: mergeEdges(edges.map(moved)),
  };
}

function groupNode(id: string, nodeType: TopologyNodeType, members: readonly TopologyNode[]): TopologyNode {
  const count = members.reduce((sum, { metadata }) => sum + Number(metadata["count"] ?? 1), 0);
  const worst = members.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
  const health = worst?.metadata["health"];
  const metadata = { count: String(count), ...(health === undefined ? {} : { health }) };
  return { id, nodeType, status: worst?.status ?? "unknown", metadata, deployedClasses: [] };
}

function rankOf({ metadata }: TopologyNode): number {
  const rank = HEALTH.indexOf(metadata["health"] ?? "");
  return rank < 0 ? HEALTH.length : rank;
}

/** One edge for all between the same two nodes, with their number instead of what tells them apart. */
function mergeEdges(edges: readonly TopologyEdge[]): readonly TopologyEdge[] {
  const between = Map.groupBy(
    edges.filter(({ from, to }) => from !== to),
    ({ from, to }) => `${from}\u0000${to}`,
  );
  return [...between.values()].map((same) => {
    const [first, ...others] = same as [TopologyEdge, ...TopologyEdge[]];
    if (others.length === 0) return first;
    const count = same.reduce((sum, { metadata }) => sum + Number(metadata["count"] ?? 1), 0);
    const { relation } = first.metadata;
    return { ...first, metadata: { ...(relation === undefined ? {} : { relation }), count: String(count) } };
  });
}
