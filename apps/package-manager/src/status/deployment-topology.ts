import {
  combineConditions,
  qualifyClassKey,
  type ClassDefinition,
  type ClusterDeploymentStatus,
  type ClusterName,
  type FunctionKey,
  type FunctionStatus,
  type PartHealth,
  type Topology,
  type TopologyNode,
  type TopologyNodeType,
} from "@oaas/models";
import { pascalCase } from "@oaas/contracts/rest";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { HealthReading } from "../ports.ts";
import type { UnitAddress } from "../records/unit-table.ts";
import { aggregateStatus, type UnitObservation } from "./aggregate-status.ts";
import { sortTopology, topologyId, TopologyGraph } from "./topology-graph.ts";

/** The inputs of a topology graph. */
export interface TopologyInput {
  readonly records: Iterable<DeploymentRecord>;
  readonly readings: readonly HealthReading[];
  /** The classes of all packages, with qualified keys. */
  readonly classes: readonly ClassDefinition[];
  readonly observe: (cluster: ClusterName, unit: UnitAddress) => UnitObservation;
}

/** The topology: packages, their classes and functions with their health, and the clusters they are placed in. */
export function deploymentTopology({ records, readings, classes, observe }: TopologyInput, at: string): Topology {
  const graph = new TopologyGraph();
  const bound = new Map<string, readonly FunctionKey[]>(
    classes.map(({ key, bindings }) => [key, bindings.map(({ functionKey }) => functionKey)]),
  );
  for (const { cluster, health } of readings) addCluster(graph, cluster, health.status);
  for (const record of records) addDeployment(graph, record, bound, observe);
  return { ...graph.parts(), timestamp: at };
}

/** Merges the graphs of several clusters. Ids are prefixed with the cluster, because clusters may use the same ids. */
export function mergeTopologies(
  parts: readonly { readonly cluster: string; readonly topology: Topology | string }[],
  at: string,
): Topology {
  const merged = parts.map(({ cluster, topology }) => {
    if (typeof topology === "string") return { nodes: [unreachableNode(cluster, topology)], edges: [] };
    const prefixed = (id: string): string => `${cluster}/${id}`;
    return {
      nodes: topology.nodes.map((node) => ({
        ...node,
        id: prefixed(node.id),
        metadata: { ...node.metadata, cluster },
      })),
      edges: topology.edges.map((edge) => ({ ...edge, from: prefixed(edge.from), to: prefixed(edge.to) })),
    };
  });
  const all = { nodes: merged.flatMap(({ nodes }) => nodes), edges: merged.flatMap(({ edges }) => edges) };
  return { ...sortTopology(all), timestamp: at };
}

function unreachableNode(cluster: string, error: string): TopologyNode {
  const nodeType: TopologyNodeType = "environment";
  const id = `${cluster}/${topologyId(nodeType, cluster)}`;
  return { id, nodeType, status: "unreachable", metadata: { cluster, error }, deployedClasses: [] };
}

function addCluster(graph: TopologyGraph, cluster: string, status: string, classKey?: string): string {
  return graph.addNode("environment", cluster, { name: cluster, health: pascalCase(status) }, { status, classKey });
}

function addDeployment(
  graph: TopologyGraph,
  record: DeploymentRecord,
  bound: ReadonlyMap<string, readonly FunctionKey[]>,
  observe: TopologyInput["observe"],
): void {
  const { packageName, classKey, key, odgm, functions } = record.deployment;
  const placements = placementEntries(record).filter(([, { state }]) => state !== "withdrawn");
  const observed = new Map(placements.map(([cluster, placement]) => [cluster, observe(cluster, placement)]));
  const { clusters, condition } = aggregateStatus(key, record, observed, undefined);
  const part = { condition, serving: clusters.some(({ serving }) => serving) };
  const qualified = qualifyClassKey(packageName, classKey);
  const partitions = odgm?.partitionCount;
  const metadata = { package: packageName, ...(partitions === undefined ? {} : { partitions: String(partitions) }) };
  const owner = graph.addNode("package", packageName, {}, { part, classKey: qualified });
  const classNode = graph.addNode("class", qualified, metadata, { part, classKey: qualified });
  graph.addEdge(owner, classNode, "has");
  const wanted = clusters.filter(({ cluster }) => record.placements[cluster]?.state === "wanted");
  const listed = functions.map(({ functionKey }) => functionKey);
  for (const functionKey of listed.length > 0 ? listed : (bound.get(qualified) ?? [])) {
    const statuses = wanted.map((one) => functionIn(one, functionKey));
    const health = { condition: combineConditions(statuses), serving: statuses.some(({ serving }) => serving) };
    const details = { function: functionKey, ...replicasText(statuses) };
    const name = `${qualified}::${functionKey}`;
    graph.addEdge(classNode, graph.addNode("function", name, details, { part: health, classKey: qualified }), "has");
  }
  for (const [cluster, { unitId }] of placements) {
    const to = addCluster(graph, cluster, "unknown", qualified);
    graph.addEdge(classNode, to, "runs-in", { deployment: key, unit: unitId });
  }
}

type FunctionPart = PartHealth & Pick<FunctionStatus, "readyReplicas" | "desiredReplicas">;

/** A function in one cluster; unknown while the cluster is unreachable or has not reported it. */
function functionIn({ reachable, functions }: ClusterDeploymentStatus, key: FunctionKey): FunctionPart {
  const found = reachable ? functions.find(({ functionKey }) => functionKey === key) : undefined;
  const { condition = "unknown", serving = found?.ready ?? false, ...replicas } = found ?? {};
  return { ...replicas, condition, serving };
}

/** Ready and desired replicas in all clusters, as `3/4`. */
function replicasText(parts: readonly FunctionPart[]): { readonly replicas?: string } {
  const counted = parts.filter(({ desiredReplicas }) => desiredReplicas !== undefined);
  const sum = (count: "readyReplicas" | "desiredReplicas"): number =>
    counted.reduce((total, { [count]: value = 0 }) => total + value, 0);
  return counted.length === 0 ? {} : { replicas: `${sum("readyReplicas")}/${sum("desiredReplicas")}` };
}
