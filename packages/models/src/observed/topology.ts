/** Kind of a topology node. */
export const TopologyNodeType = {
  package: "package",
  class: "class",
  function: "function",
  environment: "environment",
  router: "router",
  odgm: "odgm",
} as const;
export type TopologyNodeType = (typeof TopologyNodeType)[keyof typeof TopologyNodeType];

export interface TopologyNode {
  readonly id: string;
  readonly nodeType: TopologyNodeType;
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly deployedClasses: readonly string[];
}

export interface TopologyEdge {
  readonly from: string;
  readonly to: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Snapshot of the topology: nodes and their connections. */
export interface Topology {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
  /** RFC 3339. */
  readonly timestamp: string;
}
