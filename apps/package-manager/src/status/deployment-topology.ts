import type { ClassDefinition, Topology, TopologyEdge, TopologyNode, TopologyNodeType } from "@oaas/models";
import { qualifyClassKey } from "@oaas/models";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { HealthReading } from "../ports.ts";

/** The inputs of a topology graph. */
export interface TopologyInput {
  readonly records: Iterable<DeploymentRecord>;
  readonly readings: readonly HealthReading[];
  /** The classes of all packages, with qualified keys. */
  readonly classes: readonly ClassDefinition[];
}

/** The desired topology: packages, their classes and functions, and the clusters they are placed in. */
export function deploymentTopology({ records, readings, classes }: TopologyInput, at: string): Topology {
  const graph = new Graph();
  const bound = new Map<string, readonly string[]>(
    classes.map(({ key, bindings }) => [key, bindings.map(({ functionKey }) => functionKey)]),
  );
  for (const { cluster, health } of readings) graph.node("environment", cluster, health.status, { name: cluster });
  for (const record of records) addDeployment(graph, record, bound);
  return { ...graph.parts(), timestamp: at };
}

/** Merges the graphs of several clusters. Ids are prefixed with the cluster, because clusters may use the same ids. */
export function mergeTopologies(
  parts: readonly { readonly cluster: string; readonly topology: Topology | string }[],
  at: string,
): Topology {
  const nodes: TopologyNode[] = [];
  const edges: TopologyEdge[] = [];
  for (const { cluster, topology } of parts) {
    if (typeof topology === "string") {
      const metadata = { cluster, error: topology };
      const id = `${cluster}/${idOf("environment", cluster)}`;
      nodes.push({ id, nodeType: "environment", status: "unreachable", metadata, deployedClasses: [] });
      continue;
    }
    nodes.push(
      ...topology.nodes.map((node) => ({
        ...node,
        id: `${cluster}/${node.id}`,
        metadata: { ...node.metadata, cluster },
      })),
    );
    edges.push(
      ...topology.edges.map((edge) => ({ ...edge, from: `${cluster}/${edge.from}`, to: `${cluster}/${edge.to}` })),
    );
  }
  return { nodes, edges, timestamp: at };
}

function addDeployment(graph: Graph, record: DeploymentRecord, bound: ReadonlyMap<string, readonly string[]>): void {
  const { deployment } = record;
  const { packageName, classKey, key, odgm } = deployment;
  const qualified = qualifyClassKey(packageName, classKey);
  const owner = graph.node("package", packageName, "healthy", {}, qualified);
  const status = healthOf(record);
  const partitions = odgm?.partitionCount;
  const metadata = { package: packageName, ...(partitions === undefined ? {} : { partitions: String(partitions) }) };
  const classNode = graph.node("class", qualified, status, metadata, qualified);
  graph.edge(owner, classNode, "has");
  const listed = deployment.functions.map(({ functionKey }) => functionKey);
  for (const functionKey of listed.length > 0 ? listed : (bound.get(qualified) ?? [])) {
    graph.edge(
      classNode,
      graph.node("function", `${qualified}::${functionKey}`, status, { function: functionKey }, qualified),
      "has",
    );
  }
  for (const [cluster, placement] of placementEntries(record)) {
    if (placement.state === "withdrawn") continue;
    graph.edge(classNode, graph.node("environment", cluster, "unknown", { name: cluster }, qualified), "runs-in", {
      deployment: key,
      unit: placement.unitId,
    });
  }
}

function healthOf({ condition }: DeploymentRecord): string {
  if (condition === "running") return "healthy";
  return condition === "down" ? "degraded" : "pending";
}

/** The id format of earlier releases. */
function idOf(nodeType: TopologyNodeType, name: string): string {
  return `${nodeType === "environment" ? "env" : nodeType}::${name}`;
}

/** Collects nodes and edges without duplicates. */
class Graph {
  readonly #nodes = new Map<string, TopologyNode & { readonly deployedClasses: string[] }>();
  readonly #edges = new Map<string, TopologyEdge>();

  node(
    nodeType: TopologyNodeType,
    name: string,
    status: string,
    metadata: TopologyNode["metadata"],
    classKey?: string,
  ): string {
    const id = idOf(nodeType, name);
    const node = this.#nodes.get(id) ?? { id, nodeType, status, metadata, deployedClasses: [] };
    if (classKey !== undefined && !node.deployedClasses.includes(classKey)) node.deployedClasses.push(classKey);
    this.#nodes.set(id, node);
    return id;
  }

  edge(from: string, to: string, relation: string, metadata: TopologyEdge["metadata"] = {}): void {
    const key = [from, to, ...Object.values(metadata)].join("\u0000");
    this.#edges.set(key, { from, to, metadata: { relation, ...metadata } });
  }

  parts(): { readonly nodes: readonly TopologyNode[]; readonly edges: readonly TopologyEdge[] } {
    return { nodes: [...this.#nodes.values()], edges: [...this.#edges.values()] };
  }
}
