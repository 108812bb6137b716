import type { Topology } from "../api/contract.ts";

export interface GraphNode {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly state: string;
  readonly detail: string;
  readonly href: string | undefined;
  /** How many nodes it stands for. */
  readonly count: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string | undefined;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** More nodes than this are grouped: no one can read them, and browsers cannot draw thousands. */
export const MAX_NODES = 200;

/** The topology of at most `limit` nodes: the functions of each class are grouped first, then all functions, classes, packages and clusters. */
export function groupTopology(topology: Topology, limit = MAX_NODES): Graph {
  const all = graphOf(topology);
  if (all.nodes.length <= limit) return all;
  let graph = groupKind(all, "function", parentsOf(all));
  for (const kind of ["function", "class", "package", "environment"]) {
    if (graph.nodes.length <= limit) return graph;
    graph = groupKind(graph, kind, new Map());
  }
  return graph;
}

const KIND_PATHS: Readonly<Record<string, string>> = { package: "/packages/", environment: "/clusters/" };

function graphOf({ nodes, edges }: Topology): Graph {
  return {
    nodes: nodes.map(({ id, node_type: kind, status, metadata }) => {
      const name = id.split("::").at(-1) ?? id;
      const path = KIND_PATHS[kind];
      const classQuery = kind === "class" ? classHref(name) : undefined;
      return {
        id,
        label: metadata["function"] ?? metadata["name"] ?? name,
        kind,
        state: metadata["health"] ?? status,
        detail: metadata["replicas"] ?? "",
        href: path === undefined ? classQuery : path + encodeURIComponent(name),
        count: 1,
      };
    }),
    edges: edges.map(({ from_id: from, to_id: to, metadata }) => ({ from, to, label: metadata["deployment"] })),
  };
}

function classHref(name: string): string {
  return `/deployments?package_name=${encodeURIComponent(name.slice(0, name.lastIndexOf(".")))}`;
}

function parentsOf({ edges, nodes }: Graph): ReadonlyMap<string, string> {
  const classes = new Set(nodes.filter(({ kind }) => kind === "class").map(({ id }) => id));
  return new Map(edges.filter(({ from }) => classes.has(from)).map(({ from, to }) => [to, from]));
}

const WORST = ["Down", "Unhealthy", "Unreachable", "Degraded", "Unknown", "Deploying", "Pending"];

/** Replaces the nodes of a kind with one node for each parent, or with one for all. */
function groupKind(graph: Graph, kind: string, parents: ReadonlyMap<string, string>): Graph {
  const groups = new Map<string, GraphNode[]>();
  const groupOf = new Map<string, string>();
  for (const node of graph.nodes) {
    if (node.kind !== kind) continue;
    const id = `group::${kind}::${parents.get(node.id) ?? ""}`;
    groupOf.set(node.id, id);
    groups.set(id, [...(groups.get(id) ?? []), node]);
  }
  const nodes = [
    ...graph.nodes.filter((node) => node.kind !== kind),
    ...[...groups].map(([id, members]): GraphNode => {
      const states = new Set(members.map(({ state }) => state));
      const total = members.reduce((sum, { count }) => sum + count, 0);
      return {
        id,
        label: `${total} × ${kind}`,
        kind,
        state: WORST.find((state) => states.has(state)) ?? members[0]?.state ?? "Unknown",
        detail: "",
        href: undefined,
        count: total,
      };
    }),
  ];
  const edges = new Map<string, GraphEdge>();
  for (const { from, to, label } of graph.edges) {
    const edge = {
      from: groupOf.get(from) ?? from,
      to: groupOf.get(to) ?? to,
      label: groupOf.has(from) || groupOf.has(to) ? undefined : label,
    };
    if (edge.from !== edge.to) edges.set(`${edge.from} ${edge.to}`, edge);
  }
  return { nodes, edges: [...edges.values()] };
}
