import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { isJsonObject, type KubeObject } from "@oaas/kube-core";
import type { StoredLayout } from "../../rendering/model/render-input.ts";
import { COLLECTIONS_KEY, isCount, listOf, parseCollections, parseJson } from "../../state-store/store-layout.ts";
import type { StoreLayout } from "./layout-change.ts";

/** Key of the ConfigMap with the nodes. */
export const LAYOUT_KEY = "layout.json";

/** The part of a layout that the collections do not show. */
export function layoutFile({ nodes, members, persistent }: StoreLayout): string {
  return JSON.stringify({ nodes, members, persistent });
}

/** The collections of a state store, from its ConfigMap. */
export function collectionNames(config: KubeObject): ReadonlySet<string> {
  return new Set(parseCollections(dataOf(config)[COLLECTIONS_KEY]).map(({ name }) => name));
}

function dataOf(config: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return objectOf(objectOf(config)["data"]);
}

/**
 * The layout of a running state store: from its ConfigMap, which is written before its workloads, with nodes from the
 * workloads of earlier versions; else from the status.
 */
export function storedLayout(
  config: KubeObject | undefined,
  workloads: readonly KubeObject[],
  status: ClassRuntimeStatus | undefined,
): StoredLayout | undefined {
  const collections = parseCollections(dataOf(config)[COLLECTIONS_KEY]);
  if (collections.length === 0) return layoutFromStatus(status);
  const file = parseJson(dataOf(config)[LAYOUT_KEY]);
  return { collections, ...(isJsonObject(file) ? nodesFromFile(file) : nodesFromWorkloads(workloads)) };
}

function layoutFromStatus(status: ClassRuntimeStatus | undefined): StoredLayout | undefined {
  const store = status?.odgm_cluster_status;
  const collections = store?.collections_status ?? [];
  if (store === undefined || collections.length === 0) return undefined;
  return {
    collections: collections.map(({ name, partition_count: partitions, replica_count: replicas }) => ({
      name,
      ...(partitions ? { partitionCount: partitions } : {}),
      ...(replicas ? { replicaCount: replicas } : {}),
      ...(store.shard_type === undefined || collections.length > 1 ? {} : { shardType: store.shard_type }),
    })),
  };
}

function nodesFromFile({ nodes, members, persistent }: Readonly<Record<string, unknown>>): Partial<StoredLayout> {
  return {
    ...(Array.isArray(nodes) ? { nodes: nodes.filter(isCount) } : {}),
    ...(Array.isArray(members) ? { members: members.filter(isCount) } : {}),
    ...(typeof persistent === "boolean" ? { persistent } : {}),
  };
}

/** Earlier versions stated the nodes only in the environment variables of the workloads. */
function nodesFromWorkloads(workloads: readonly KubeObject[]): Partial<StoredLayout> {
  const [first] = workloads;
  if (first === undefined) return {};
  const nodes = workloads.flatMap(nodesOf).toSorted((a, b) => a - b);
  const members = (envOf(first).get("ODGM_MEMBERS") ?? "").split(",").map(Number).filter(isCount);
  const claims = specOf(first)["volumeClaimTemplates"];
  return {
    ...(nodes.length === 0 ? {} : { nodes }),
    ...(members.length === 0 ? {} : { members }),
    persistent: listOf(claims).length > 0,
  };
}

function nodesOf(workload: KubeObject): readonly number[] {
  const id = envOf(workload).get("ODGM_NODE_ID") ?? "";
  const replicas = Number(specOf(workload)["replicas"] ?? 1);
  const prefix = id.endsWith(POD_INDEX) ? id.slice(0, -POD_INDEX.length) : undefined;
  const ids = prefix === undefined ? [id] : Array.from({ length: replicas }, (_, index) => `${prefix}${index}`);
  return ids
    .filter((text) => text !== "")
    .map(Number)
    .filter(isCount);
}

const POD_INDEX = "$(POD_INDEX)";

function envOf(workload: KubeObject): ReadonlyMap<string, string> {
  const template = objectOf(specOf(workload)["template"]);
  const [container] = listOf(objectOf(template["spec"])["containers"]);
  return new Map(
    listOf(objectOf(container)["env"]).flatMap((one) => {
      const { name, value } = objectOf(one);
      return typeof name === "string" && typeof value === "string" ? [[name, value] as const] : [];
    }),
  );
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return objectOf(objectOf(object)["spec"]);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
