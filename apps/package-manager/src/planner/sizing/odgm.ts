import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import {
  ConsistencyModel,
  qualifyClassKey,
  ShardType,
  StateShape,
  type ClassDefinition,
  type ClassDeployment,
  type ClusterName,
  type PackageName,
} from "@oaas/models";
import type { RequestedFunction } from "./functions.ts";
import { ownEntry } from "../own-entry.ts";
import type { PlannedOdgm, ShardAssignment } from "../plan-types.ts";

/** A shard map is stored and sent whole; beyond this many shards it would fit neither a store nor a message. */
const MOST_SHARDS = 16_384;

/** Whether the deployment has a data grid: the user says so, or the class has state or modules that run inside one. */
export function needsOdgm(
  { stateSpec }: ClassDefinition,
  { addons, odgm }: ClassDeployment,
  functions: readonly RequestedFunction[],
): boolean {
  if (addons !== undefined) return addons.includes("odgm");
  const inside = ({ spec }: RequestedFunction): boolean => spec.provision.wasmModuleUrl !== undefined;
  return stateSpec !== undefined || odgm !== undefined || functions.some(inside);
}

/** What a data grid is planned from. */
export interface OdgmTask {
  readonly packageName: PackageName;
  readonly definition: ClassDefinition;
  readonly deployment: ClassDeployment;
  readonly replicas: number;
  /** Nodes in each chosen cluster. */
  readonly nodes: ReadonlyMap<ClusterName, number>;
}

/** The data grid over all clusters: every node and every shard has its id, the same whenever it is planned again. */
export function planOdgm(task: OdgmTask): Result<PlannedOdgm, readonly Violation[]> {
  const { packageName, definition, deployment, replicas } = task;
  const odgm = deployment.odgm;
  const named = [...new Set(odgm?.collections)];
  const collections = named.length === 0 ? [qualifyClassKey(packageName, definition.key)] : named;
  const partitionCount = odgm?.partitionCount ?? defaultPartitions(definition, deployment);
  const nodeIds = planNodeIds(task);
  const members = [...new Set(Object.values(nodeIds).flat())].sort((a, b) => a - b);
  const shards = collections.length * partitionCount * replicas;
  const violations = [
    ...idViolations(task),
    ...shardTypeViolations(task),
    ...memberViolations(members.length, replicas),
    ...(shards > MOST_SHARDS ? [tooManyShards(shards)] : []),
  ];
  if (violations.length > 0) return err(violations);

  const shardType = isStrong(definition) ? ShardType.raft : odgm?.shardType;
  return ok({
    collections,
    partitionCount,
    replicaCount: replicas,
    ...(shardType === undefined ? {} : { shardType }),
    log: odgm?.log ?? "info",
    nodeIds,
    assignments: shardMap(collections, partitionCount, replicas, members),
  });
}

/** Whether the state of a class must be read as it was last written. */
export function isStrong({ stateSpec }: ClassDefinition): boolean {
  return stateSpec?.consistencyModel === ConsistencyModel.strong;
}

/** The same numbers that a CRM would choose; fixed here, because all clusters must agree on them. */
function defaultPartitions({ stateSpec }: ClassDefinition, { nfr }: ClassDeployment): number {
  const byThroughput = partitionsFor(nfr.minThroughputRps);
  switch (stateSpec?.shape) {
    case StateShape.singleton:
      return 1;
    case StateShape.collection:
      return Math.max(4, byThroughput);
    case StateShape.data:
    case undefined:
      return byThroughput;
  }
}

function partitionsFor(rps: number | undefined): number {
  if (rps === undefined) return 4;
  if (rps <= 1000) return 1;
  if (rps <= 5000) return 4;
  return rps <= 20_000 ? 8 : 16;
}

/**
 * The user's ids where given; else nine digits from the deployment and the cluster with the node's number behind them,
 * which a CRM recognises as the pods of one workload. In the rare case that two clusters meet, the later by name moves on.
 */
function planNodeIds({ deployment, nodes }: OdgmTask): Record<string, readonly number[]> {
  const names = [...nodes.keys()].sort();
  const ids = new Map<string, readonly number[]>();
  for (const name of names) {
    const given = ownEntry(deployment.odgm?.nodeIds, name) ?? [];
    if (given.length > 0) ids.set(name, [...new Set(given)]);
  }
  const taken = new Set([...ids.values()].flat());
  for (const name of names) {
    if (ids.has(name)) continue;
    const count = nodes.get(name) ?? 1;
    let attempt = 0;
    let own = numbered(deployment.key, name, attempt, count);
    while (own.some((id) => taken.has(id))) {
      attempt += 1;
      own = numbered(deployment.key, name, attempt, count);
    }
    for (const id of own) taken.add(id);
    ids.set(name, own);
  }
  return Object.fromEntries(names.map((name) => [name, ids.get(name) ?? []]));
}

function numbered(key: string, cluster: string, attempt: number, count: number): number[] {
  const hash = Number.parseInt(hashJson([key, cluster, attempt]).slice(0, 12), 16);
  const prefix = 100_000_000 + (hash % 900_000_000);
  return Array.from({ length: count }, (_, index) => Number(`${prefix}${index}`));
}

/**
 * Each partition goes to `replicas` nodes that follow one another, beginning with the node that leads the fewest so far;
 * shard ids count up from 1 through all collections, because a CRM refuses an id that it saw before.
 */
function shardMap(
  collections: readonly string[],
  partitions: number,
  replicas: number,
  members: readonly number[],
): Record<string, readonly ShardAssignment[]> {
  let next = 1;
  const assign = (_: unknown, partition: number): ShardAssignment => {
    const first = next;
    next += replicas;
    return {
      primary: first,
      replica: Array.from({ length: replicas }, (_, turn) => members[(partition + turn) % members.length] ?? 0),
      shardIds: Array.from({ length: replicas }, (_, turn) => first + turn),
    };
  };
  return Object.fromEntries(collections.map((name) => [name, Array.from({ length: partitions }, assign)]));
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
        return [
          { path, message: `${id} is the id of a node of ${owner} already`, fix: "give each node an id of its own" },
        ];
      }),
    );
}

function shardTypeViolations({ definition, deployment }: OdgmTask): Violation[] {
  const asked = deployment.odgm?.shardType;
  if (!isStrong(definition) || asked === undefined || asked === ShardType.raft) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "shard_type"),
      message: `${asked} cannot keep the STRONG consistency of class ${definition.key}`,
      fix: "leave it out or set it to raft",
    },
  ];
}

function memberViolations(members: number, replicas: number): Violation[] {
  if (members >= replicas) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "env_node_ids"),
      message: `${replicas} replicas need as many nodes, but only ${members} are named`,
      fix: "name more nodes, or leave the ids to the planner",
    },
  ];
}

function tooManyShards(shards: number): Violation {
  return {
    path: pathOf(ROOT_PATH, "odgm", "partition_count"),
    message: `collections, partitions and replicas make ${shards} shards; at most ${MOST_SHARDS} can be planned`,
    fix: "lower partition_count",
  };
}
