import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import {
  ShardType,
  type ClassDefinition,
  type ClassDeployment,
  type ClusterName,
  type PackageName,
} from "@oaas/models";
import type { RequestedFunction } from "./functions.ts";
import { ownEntry, type PlannedOdgm } from "../plan-types.ts";
import { assignShards } from "./shard-map.ts";
import { chooseLayout, isStrong, layoutViolations } from "./state-layout.ts";

/** The shard map is stored and sent as one value; more shards exceed the size limits of the store and of gRPC. */
const MAX_SHARDS = 16_384;

/** Whether the deployment needs a data grid: requested as an addon, or for state or modules that run inside it. */
export function needsOdgm(
  { stateSpec }: ClassDefinition,
  { addons, odgm }: ClassDeployment,
  functions: readonly RequestedFunction[],
): boolean {
  if (addons !== undefined) return addons.includes("odgm");
  const isModule = ({ spec }: RequestedFunction): boolean => spec.provision.wasmModuleUrl !== undefined;
  return stateSpec !== undefined || odgm !== undefined || functions.some(isModule);
}

/** The inputs of a data grid. */
export interface OdgmTask {
  readonly packageName: PackageName;
  readonly definition: ClassDefinition;
  readonly deployment: ClassDeployment;
  readonly replicas: number;
  /** Nodes in each chosen cluster. */
  readonly nodes: ReadonlyMap<ClusterName, number>;
  /** The data grid of the running deployment. */
  readonly previous?: PlannedOdgm | undefined;
  /** The plan answers a what-if question: a layout that would be refused is shown, with a warning. */
  readonly isHypothetical: boolean;
}

/** Plans the data grid over all clusters. Node and shard ids are deterministic, and those that run are kept. */
export function planOdgm(task: OdgmTask): Result<PlannedOdgm, readonly Violation[]> {
  const { deployment, replicas, previous } = task;
  const { odgm } = deployment;
  const layout = chooseLayout(task);
  const nodeIds = planNodeIds(task);
  const members = [...new Set(Object.values(nodeIds).flat())].sort((a, b) => a - b);
  const shards = layout.collections.length * layout.partitionCount * replicas;
  const violations = [
    ...idViolations(task),
    ...shardTypeViolations(task),
    ...memberViolations(members.length, replicas),
    ...(shards > MAX_SHARDS ? [tooManyShards(shards)] : []),
    ...(previous === undefined || task.isHypothetical
      ? []
      : layoutViolations({ ...layout, replicaCount: replicas }, previous, odgm)),
  ];
  if (violations.length > 0) return err(violations);

  return ok({
    ...layout,
    replicaCount: replicas,
    log: odgm?.log ?? "info",
    nodeIds,
    assignments: assignShards({ ...layout, replicas, members, previous: previous?.assignments }),
  });
}

/**
 * The ids that the user fixed, else nine digits derived from deployment and cluster plus the node number, which a class
 * runtime manager recognises as the pods of one workload. On a collision, the cluster later by name takes the next prefix.
 */
function planNodeIds({ deployment, nodes }: OdgmTask): Record<string, readonly number[]> {
  const names = [...nodes.keys()].sort();
  const ids = new Map<string, readonly number[]>();
  for (const name of names) {
    const fixed = ownEntry(deployment.odgm?.nodeIds, name) ?? [];
    if (fixed.length > 0) ids.set(name, [...new Set(fixed)]);
  }
  const taken = new Set([...ids.values()].flat());
  for (const name of names) {
    if (ids.has(name)) continue;
    const count = nodes.get(name) ?? 1;
    let attempt = 0;
    let own = generateNodeIds(deployment.key, name, attempt, count);
    while (own.some((id) => taken.has(id))) {
      attempt += 1;
      own = generateNodeIds(deployment.key, name, attempt, count);
    }
    for (const id of own) taken.add(id);
    ids.set(name, own);
  }
  return Object.fromEntries(names.map((name) => [name, ids.get(name) ?? []]));
}

function generateNodeIds(key: string, cluster: string, attempt: number, count: number): number[] {
  const hash = Number.parseInt(hashJson([key, cluster, attempt]).slice(0, 12), 16);
  const prefix = 100_000_000 + (hash % 900_000_000);
  return Array.from({ length: count }, (_, index) => Number(`${prefix}${index}`));
}

function idViolations({ deployment, nodes }: OdgmTask): Violation[] {
  const seen = new Map<number, string>();
  return Object.entries(deployment.odgm?.nodeIds ?? {})
    .filter(([cluster]) => nodes.has(cluster as ClusterName))
    .flatMap(([cluster, ids]) =>
      ids.flatMap((id, index) => {
        const owner = seen.get(id);
        seen.set(id, cluster);
        if (owner === undefined) return [];
        const path = pathOf(ROOT_PATH, "odgm", "env_node_ids", cluster, index);
        return [{ path, message: `node id ${id} is already used in ${owner}`, fix: "use a unique id for each node" }];
      }),
    );
}

function shardTypeViolations({ definition, deployment }: OdgmTask): Violation[] {
  const requested = deployment.odgm?.shardType;
  if (!isStrong(definition) || requested === undefined || requested === ShardType.raft) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "shard_type"),
      message: `${requested} does not provide the STRONG consistency that class ${definition.key} requires`,
      fix: "omit it or set it to raft",
    },
  ];
}

function memberViolations(members: number, replicas: number): Violation[] {
  if (members >= replicas) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "env_node_ids"),
      message: `${replicas} replicas need ${replicas} nodes, but only ${members} are listed`,
      fix: "list more nodes, or omit the ids",
    },
  ];
}

function tooManyShards(shards: number): Violation {
  return {
    path: pathOf(ROOT_PATH, "odgm", "partition_count"),
    message: `${shards} shards (collections × partitions × replicas) exceed the limit of ${MAX_SHARDS}`,
    fix: "lower partition_count",
  };
}
