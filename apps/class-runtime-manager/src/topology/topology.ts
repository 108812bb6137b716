import type { ClassRuntime } from "@oaas/contracts/crd";
import { pascalCase } from "@oaas/contracts/health";
import { conditionOfPhase, topologyStatusOf } from "@oaas/models";
import { classParts } from "../mapping/unit/class-runtime-to-unit.ts";
import { isServing, phaseOf } from "../mapping/status/class-runtime-to-wire.ts";
import { functionPhase } from "../mapping/status/status-parts-to-wire.ts";
import { deploymentIdOf } from "../mapping/object-identity.ts";

/** A node of the graph. */
export interface TopologyNode {
  readonly id: string;
  readonly nodeType: "environment" | "package" | "class" | "function" | "odgm" | "router";
  readonly status: ReturnType<typeof topologyStatusOf>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Ids of the deployments that use it. */
  readonly deployedClasses: readonly string[];
}

/** An edge from a whole to its part, or from a user to a resource. */
export interface TopologyEdge {
  readonly fromId: string;
  readonly toId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The graph of a cluster. */
export interface Topology {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
}

type Health = TopologyNode["status"];

/** Builds the graph from class runtimes: packages, classes, functions, state stores and routers, each once. */
export function buildTopology(environment: string, objects: Iterable<ClassRuntime>): Topology {
  const graph = new Graph();
  const cluster = graph.addNode("environment", environment, "healthy", {});
  for (const object of objects) addClass(graph, cluster, object);
  return graph.topology();
}

function addClass(graph: Graph, cluster: string, object: ClassRuntime): void {
  const { metadata, spec, status = {} } = object;
  const { packageName, classKey } = classParts(spec.package_class_key ?? "");
  const id = deploymentIdOf(object);
  const key = `${metadata.namespace ?? ""}/${metadata.name}`;
  const phase = phaseOf(object);
  const condition = conditionOfPhase(phase, isServing(object));
  const facts = { namespace: metadata.namespace ?? "", phase, package: packageName, class: classKey };
  const own = graph.addNode(
    "class",
    key,
    topologyStatusOf(condition),
    { ...facts, health: pascalCase(condition), ...definedOnly({ template: status.template?.name }) },
    id,
  );
  if (packageName !== "") graph.addEdge(graph.addNode("package", packageName, "healthy", {}, id), own, "has");
  graph.addEdge(own, cluster, "runs-in");
  const store = addStore(graph, own, key, object, id);
  const routers = (status.routers ?? []).map(({ service, port }) =>
    graph.addNode(
      "router",
      // The host of a router in another namespace names that namespace, so that its classes share one node.
      service.includes(".") ? `${service}:${port}` : `${metadata.namespace ?? ""}/${service}:${port}`,
      "healthy",
      { service, port: `${port}` },
      id,
    ),
  );
  if (store !== undefined) for (const router of routers) graph.addEdge(store, router, "connects-to");
  for (const one of status.functions ?? []) {
    const { function_key: functionKey, observed_url: observed, predicted_url: predicted, reason } = one;
    const health = conditionOfPhase(functionPhase(one), one.serving ?? one.ready ?? false);
    const url = observed ?? predicted;
    const replicas =
      one.ready_replicas === undefined ? undefined : `${one.ready_replicas}/${one.desired_replicas ?? 0}`;
    const details = definedOnly({ url, replicas, reason, workload: one.workload?.name, health: pascalCase(health) });
    const fn = graph.addNode(
      "function",
      `${key}::${functionKey}`,
      topologyStatusOf(health),
      { function: functionKey, ...details },
      id,
    );
    graph.addEdge(own, fn, "has");
    if (store !== undefined) graph.addEdge(fn, store, "uses");
  }
}

function addStore(graph: Graph, own: string, key: string, object: ClassRuntime, id: string): string | undefined {
  const store = object.status?.odgm_cluster_status;
  if (store === undefined) return undefined;
  const collections = (store.collections_status ?? []).map(({ name }) => name).join(",");
  // As for a function: only a fault makes it degraded or down.
  const condition = conditionOfPhase(functionPhase(store), store.ready === true || isServing(object));
  const details = definedOnly({ service: store.service, collections, health: pascalCase(condition) });
  const node = graph.addNode("odgm", key, topologyStatusOf(condition), details, id);
  graph.addEdge(own, node, "has");
  return node;
}

function definedOnly(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

/** Collects nodes by id, each once. */
class Graph {
  readonly #nodes = new Map<string, Omit<TopologyNode, "deployedClasses"> & { readonly classes: Set<string> }>();
  readonly #edges: TopologyEdge[] = [];

  addNode(
    nodeType: TopologyNode["nodeType"],
    name: string,
    status: Health,
    metadata: TopologyNode["metadata"],
    deploymentId?: string,
  ): string {
    const id = `${nodeType}::${name}`;
    const node = this.#nodes.get(id) ?? { id, nodeType, status, metadata, classes: new Set<string>() };
    if (deploymentId !== undefined) node.classes.add(deploymentId);
    this.#nodes.set(id, node);
    return id;
  }

  addEdge(fromId: string, toId: string, relation: string): void {
    this.#edges.push({ fromId, toId, metadata: { relation } });
  }

  topology(): Topology {
    const nodes = [...this.#nodes.values()].map(({ classes, ...node }) => ({ ...node, deployedClasses: [...classes] }));
    return { nodes, edges: this.#edges };
  }
}
