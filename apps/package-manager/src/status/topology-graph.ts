import { pascalCase } from "@oaas/contracts/rest";
import {
  combineConditions,
  topologyStatusOf,
  type PartHealth,
  type Topology,
  type TopologyEdge,
  type TopologyNode,
  type TopologyNodeType,
} from "@oaas/models";

/** The id format of earlier releases. */
export function topologyId(nodeType: TopologyNodeType, name: string): string {
  return `${nodeType === "environment" ? "env" : nodeType}::${name}`;
}

type Graph = Pick<Topology, "nodes" | "edges">;

interface GraphNode extends TopologyNode {
  readonly deployedClasses: string[];
  readonly parts: PartHealth[];
}

/** Collects nodes and edges without duplicates. A node that several deployments share has the health of all of them. */
export class TopologyGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #edges = new Map<string, TopologyEdge>();

  /** With `part` the health of the node follows from its parts; with `status` the first call sets it. */
  addNode(
    nodeType: TopologyNodeType,
    name: string,
    metadata: TopologyNode["metadata"],
    { part, status = "unknown", classKey }: { part?: PartHealth; status?: string; classKey?: string | undefined },
  ): string {
    const id = topologyId(nodeType, name);
    const node = this.#nodes.get(id) ?? { id, nodeType, status, metadata, deployedClasses: [], parts: [] };
    if (classKey !== undefined && !node.deployedClasses.includes(classKey)) node.deployedClasses.push(classKey);
    if (part !== undefined) node.parts.push(part);
    this.#nodes.set(id, node);
    return id;
  }

  addEdge(from: string, to: string, relation: string, metadata: TopologyEdge["metadata"] = {}): void {
    const key = [from, to, ...Object.values(metadata)].join("\u0000");
    this.#edges.set(key, { from, to, metadata: { relation, ...metadata } });
  }

  /** The graph, sorted. */
  parts(): Graph {
    return sortTopology({ nodes: [...this.#nodes.values()].map(withHealth), edges: [...this.#edges.values()] });
  }
}

function withHealth({ parts, ...node }: GraphNode): TopologyNode {
  const sorted = { ...node, deployedClasses: node.deployedClasses.toSorted() };
  if (parts.length === 0) return sorted;
  const condition = combineConditions(parts);
  const metadata = { ...node.metadata, health: pascalCase(condition) };
  return { ...sorted, status: topologyStatusOf(condition), metadata };
}

const RANKS = { package: 0, class: 1, function: 2, odgm: 3, router: 4, environment: 5 } as const satisfies Record<
  TopologyNodeType,
  number
>;

/** Sorts nodes by type and id, and edges by their ends, so that equal topologies are equal documents. */
export function sortTopology({ nodes, edges }: Graph): Graph {
  const sorted = nodes.toSorted((a, b) => RANKS[a.nodeType] - RANKS[b.nodeType] || compare(a.id, b.id));
  const places = new Map(sorted.map(({ id }, place) => [id, place]));
  const place = (id: string): number => places.get(id) ?? sorted.length;
  return {
    nodes: sorted,
    edges: edges.toSorted(
      (a, b) =>
        place(a.from) - place(b.from) ||
        place(a.to) - place(b.to) ||
        compare(JSON.stringify(a.metadata), JSON.stringify(b.metadata)),
    ),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
