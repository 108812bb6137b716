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

const KIND_PATHS: Readonly<Record<string, string>> = { package: "/packages/", environment: "/clusters/" };

/** The graph of a topology. The server groups nodes, with their number in the metadata. */
export function graphOf({ nodes, edges }: Topology): Graph {
  return {
    nodes: nodes.map(({ id, node_type: kind, status, metadata }) => {
      const name = id.split("::").at(-1) ?? id;
      const path = KIND_PATHS[kind];
      const classQuery = kind === "class" ? classHref(name) : undefined;
      const members = metadata["count"];
      if (members !== undefined) return groupNode(id, kind, metadata["health"] ?? status, Number(members));
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

function groupNode(id: string, kind: string, state: string, count: number): GraphNode {
  return { id, label: `${count} × ${kind}`, kind, state, detail: "", href: undefined, count };
}

function classHref(name: string): string {
  return `/deployments?package_name=${encodeURIComponent(name.slice(0, name.lastIndexOf(".")))}`;
}
