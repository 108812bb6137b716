import type { ClassRuntime } from "@oaas/contracts/crd";
import { classParts } from "../mapping/unit/class-runtime-to-unit.ts";
import { phaseOf } from "../mapping/status/class-runtime-to-wire.ts";
import { deploymentIdOf } from "../mapping/object-identity.ts";

/** A part of the cluster. */
export interface TopologyPart {
  readonly id: string;
  readonly nodeType: "environment" | "package" | "class" | "function" | "odgm" | "router";
  readonly status: "healthy" | "degraded" | "pending";
  readonly metadata: Readonly<Record<string, string>>;
  /** Ids of the deployments it serves. */
  readonly deployedClasses: readonly string[];
}

/** From the whole to its part, or from a user to what it uses. */
export interface TopologyLink {
  readonly fromId: string;
  readonly toId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What runs where. */
export interface Topology {
  readonly nodes: readonly TopologyPart[];
  readonly edges: readonly TopologyLink[];
}

type Health = TopologyPart["status"];

/** The graph of a cluster: packages, classes, functions, state stores and routers, each once, as their class runtimes show them. */
export function topologyOf(environment: string, objects: Iterable<ClassRuntime>): Topology {
  const graph = new Graph();
  const cluster = graph.part("environment", environment, "healthy", {});
  for (const object of objects) addClass(graph, cluster, object);
  return graph.topology();
}

function addClass(graph: Graph, cluster: string, object: ClassRuntime): void {
  const { metadata, spec, status = {} } = object;
  const { packageName, classKey } = classParts(spec.package_class_key ?? "");
  const id = deploymentIdOf(object);
  const where = `${metadata.namespace ?? ""}/${metadata.name}`;
  const phase = phaseOf(object);
  const health: Health = phase === "available" ? "healthy" : phase === "degraded" ? "degraded" : "pending";
  const facts = { namespace: metadata.namespace ?? "", phase, package: packageName, class: classKey };
  const own = graph.part("class", where, health, { ...facts, ...text({ template: status.template?.name }) }, id);
  if (packageName !== "") graph.link(graph.part("package", packageName, "healthy", {}, id), own, "has");
  graph.link(own, cluster, "runs-in");
  const store = addStore(graph, own, where, object, id);
  const routers = (status.routers ?? []).map(({ service, port }) =>
    graph.part("router", `${metadata.namespace ?? ""}/${service}:${port}`, "healthy", { service, port: `${port}` }, id),
  );
  if (store !== undefined) for (const router of routers) graph.link(store, router, "connects-to");
  for (const one of status.functions ?? []) {
    const { function_key: key, ready, observed_url: observed, predicted_url: predicted, reason } = one;
    const url = observed ?? predicted;
    const replicas =
      one.ready_replicas === undefined ? undefined : `${one.ready_replicas}/${one.desired_replicas ?? 0}`;
    const details = text({ url, replicas, reason, workload: one.workload?.name });
    const fn = graph.part("function", `${where}::${key}`, readiness(ready), { function: key, ...details }, id);
    graph.link(own, fn, "has");
    if (store !== undefined) graph.link(fn, store, "uses");
  }
}

function addStore(graph: Graph, own: string, where: string, object: ClassRuntime, id: string): string | undefined {
  const store = object.status?.odgm_cluster_status;
  if (store === undefined) return undefined;
  const collections = (store.collections_status ?? []).map(({ name }) => name).join(",");
  const details = text({ service: store.service, collections });
  const node = graph.part("odgm", where, readiness(store.ready), details, id);
  graph.link(own, node, "has");
  return node;
}

function readiness(ready: boolean | undefined): Health {
  return ready === undefined ? "pending" : ready ? "healthy" : "degraded";
}

function text(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

/** Parts by id, each once however often it is met. */
class Graph {
  readonly #parts = new Map<string, Omit<TopologyPart, "deployedClasses"> & { readonly classes: Set<string> }>();
  readonly #links: TopologyLink[] = [];

  part(
    nodeType: TopologyPart["nodeType"],
    name: string,
    status: Health,
    metadata: TopologyPart["metadata"],
    deploymentId?: string,
  ): string {
    const id = `${nodeType}::${name}`;
    const part = this.#parts.get(id) ?? { id, nodeType, status, metadata, classes: new Set<string>() };
    if (deploymentId !== undefined) part.classes.add(deploymentId);
    this.#parts.set(id, part);
    return id;
  }

  link(fromId: string, toId: string, relation: string): void {
    this.#links.push({ fromId, toId, metadata: { relation } });
  }

  topology(): Topology {
    const nodes = [...this.#parts.values()].map(({ classes, ...part }) => ({ ...part, deployedClasses: [...classes] }));
    return { nodes, edges: this.#links };
  }
}
