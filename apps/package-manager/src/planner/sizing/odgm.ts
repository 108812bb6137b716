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
import type { StatefulPlan } from "../placement/kept-placement.ts";
import { ownEntry, type PlanInput, type PlannedOdgm, type UsedCollection } from "../plan-types.ts";
import { assignShards } from "./shard-map.ts";
import { chooseLayout, isReplicated, isStrong, runningShardType, shardTypeFor } from "./state-layout.ts";

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
  /** The plan of the running deployment, if it has a data grid. */
  readonly running?: StatefulPlan | undefined;
  /** Collections that other deployments use in the network of the chosen clusters. */
  readonly used: readonly UsedCollection[];
}

/** Plans the data grid over all clusters. Node and shard ids are deterministic, and those that run are kept. */
export function planOdgm(task: OdgmTask): Result<PlannedOdgm, readonly Violation[]> {
  const { deployment, replicas, running } = task;
  const previous = running?.odgm;
  const layout = chooseLayout(task);
  const nodeIds = planNodeIds(task);
  const members = [...new Set(Object.values(nodeIds).flat())].sort((a, b) => a - b);
  const shards = layout.collections.length * layout.partitionCount * replicas;
  const violations = [
    ...idViolations(task),
    ...shardTypeViolations(task),
    ...memberViolations(members.length, replicas),
    ...singleNodeViolation(task, members.length),
    ...(shards > MAX_SHARDS ? [tooManyShards(shards)] : []),
    ...usedViolations(task, layout.collections),
  ];
  if (violations.length > 0) return err(violations);

  return ok({
    ...layout,
    replicaCount: replicas,
    log: deployment.odgm?.log ?? "info",
    nodeIds,
    assignments: assignShards({ ...layout, replicas, members, previous: previous?.assignments }),
    ...permissionsOf(deployment.odgm),
  });
}

/** The data grid of a running class, with what may change: its log level, and what the user permits. */
export function keepOdgm(
  running: StatefulPlan,
  { deployment, mayMoveState }: Pick<PlanInput, "deployment" | "mayMoveState">,
  definition: ClassDefinition,
): PlannedOdgm {
  const { allowLayoutChange, allowRestart, ...odgm } = running.odgm;
  const before = { allowLayoutChange, allowRestart };
  const type = runningShardType(running);
  const derived = shardTypeFor(odgm.replicaCount, definition.stateSpec?.consistencyModel);
  return {
    ...odgm,
    // A class runtime manager would derive another type from the content of this plan.
    ...(odgm.shardType === undefined && derived !== type ? { shardType: type } : {}),
    log: deployment.odgm?.log ?? "info",
    // Without a request of the user, their permissions stay as they are.
    ...permissionsOf(mayMoveState === undefined ? deployment.odgm : before),
  };
}

/** What the user permits to the class runtime managers. */
function permissionsOf(
  odgm: { readonly allowLayoutChange?: boolean | undefined; readonly allowRestart?: boolean | undefined } | undefined,
): Pick<PlannedOdgm, "allowLayoutChange" | "allowRestart"> {
  return {
    ...(odgm?.allowLayoutChange === true ? { allowLayoutChange: true } : {}),
    ...(odgm?.allowRestart === true ? { allowRestart: true } : {}),
  };
}

/**
 * The ids that the user fixed, else nine digits derived from deployment and cluster plus the node number, which a class
 * runtime manager recognises as the pods of one workload. Ids that run are kept. On a collision, the cluster later by name
 * takes the next prefix.
 */
function planNodeIds({ deployment, nodes, running }: OdgmTask): Record<string, readonly number[]> {
  const names = [...nodes.keys()].sort();
  const ids = new Map<string, readonly number[]>();
  for (const name of names) {
    const fixed = ownEntry(deployment.odgm?.nodeIds, name) ?? [];
    const before = ownEntry(running?.odgm.nodeIds, name) ?? [];
    if (fixed.length > 0) ids.set(name, [...new Set(fixed)]);
    else if (before.length > 0 && before.length >= (nodes.get(name) ?? 1)) {
      ids.set(name, before.slice(0, nodes.get(name)));
    }
  }
  const taken = new Set([...ids.values()].flat());
  for (const name of names) {
    if (ids.has(name)) continue;
    const count = nodes.get(name) ?? 1;
    const before = ownEntry(running?.odgm.nodeIds, name) ?? [];
    let attempt = 0;
    let own = generateNodeIds(deployment.key, name, attempt, count);
    while (own.some((id) => taken.has(id))) {
      attempt += 1;
      own = generateNodeIds(deployment.key, name, attempt, count);
    }
    const added = own.filter((id) => !before.includes(id)).slice(-(count - before.length));
    const all = before.length === 0 ? own : [...before, ...added];
    for (const id of all) taken.add(id);
    ids.set(name, all);
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

/** A shard type that does not replicate has one copy: several would be separate stores. */
export function singleCopyViolation({ odgm }: ClassDeployment): Violation[] {
  const { shardType: type, replicaCount = 1 } = odgm ?? {};
  if (type === undefined || isReplicated(type) || replicaCount === 1) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "replica_count"),
      message: `the shard type ${type} does not replicate, so that objects have one copy, not ${replicaCount}`,
      fix: "set it to 1, or set shard_type to raft",
    },
  ];
}

function singleNodeViolation({ deployment }: OdgmTask, members: number): Violation[] {
  const type = deployment.odgm?.shardType;
  if (type === undefined || isReplicated(type) || members <= 1) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "env_node_ids"),
      message: `the shard type ${type} does not replicate, so that objects are on one node, and ${members} are listed`,
      fix: "list one node, or set shard_type to raft",
    },
  ];
}

/** Two deployments in one network that use one collection would read and replace the objects of each other. */
function usedViolations({ deployment, running, used }: OdgmTask, collections: readonly string[]): Violation[] {
  const own = new Set(running?.odgm.collections);
  const stated = deployment.odgm?.collections ?? [];
  return collections.flatMap((name) => {
    const other = used.find(({ collection }) => collection === name);
    if (other === undefined || own.has(name)) return [];
    const index = stated.indexOf(name);
    return [
      {
        path: pathOf(ROOT_PATH, "odgm", "collections", ...(index < 0 ? [] : [index])),
        message: `collection ${name} is used by deployment ${other.deployment} in the same data plane network, and both would share their objects`,
        fix: `use another name, e.g. odgm.collections: [${name}.${deployment.key}]`,
      },
    ];
  });
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
