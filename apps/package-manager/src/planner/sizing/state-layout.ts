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
import { networkOf, type NetworkKey } from "../placement/networks.ts";
import type { StatefulPlan } from "../placement/kept-placement.ts";
import type { CopyRules } from "../placement/placement.ts";
import type { PlanInput, PlannedOdgm, SharedSpec, UsedCollection } from "../plan-types.ts";

/** How the objects of a class are stored. */
export type StateLayout = Pick<PlannedOdgm, "collections" | "partitionCount"> & { readonly shardType: ShardType };

interface LayoutTask {
  readonly packageName: PackageName;
  readonly definition: ClassDefinition;
  readonly deployment: ClassDeployment;
  readonly replicas: number;
  /** The running deployment, if it has a state store. */
  readonly running?: StatefulPlan | undefined;
  /** Collections that other deployments use in the network of the chosen clusters. */
  readonly used: readonly UsedCollection[];
}

/** Chooses the layout: what the deployment states, else what runs, else a default for its requirements. */
export function chooseLayout(task: LayoutTask): StateLayout {
  const { definition, deployment, replicas, running } = task;
  const { odgm } = deployment;
  const previous = running?.odgm;
  const named = [...new Set(odgm?.collections)];
  const unnamed = previous?.collections ?? [defaultCollection(task)];
  return {
    collections: named.length === 0 ? unnamed : named,
    partitionCount: odgm?.partitionCount ?? previous?.partitionCount ?? defaultPartitions(definition, deployment),
    shardType:
      odgm?.shardType ??
      replicatedType(definition, running, replicas) ??
      shardTypeFor(replicas, definition.stateSpec?.consistencyModel),
  };
}

/** The shard type of the running class, if it replicates as the class requires. */
function replicatedType(
  definition: ClassDefinition,
  running: StatefulPlan | undefined,
  replicas: number,
): ShardType | undefined {
  if (running === undefined || replicas === 1 || isStrong(definition)) return undefined;
  const type = runningShardType(running);
  return isReplicated(type) ? type : undefined;
}

/** How the objects of a deployment will be copied. */
export function copyRules(
  definition: ClassDefinition,
  { odgm }: ClassDeployment,
  running: StatefulPlan | undefined,
): CopyRules {
  const stated = odgm?.shardType;
  const type =
    stated ?? replicatedType(definition, running, 2) ?? shardTypeFor(2, definition.stateSpec?.consistencyModel);
  return { isSingle: !isReplicated(type), isMerged: type === ShardType.mst };
}

/** The name of the class; if another deployment uses it in the same network, with the key of the deployment. */
function defaultCollection({ packageName, definition, deployment, used }: LayoutTask): string {
  const name = qualifyClassKey(packageName, definition.key);
  return used.some(({ collection }) => collection === name) ? `${name}.${deployment.key}` : name;
}

/** The collections of other deployments that share a data plane network with some clusters. */
export function collectionsInNetwork(
  { usedCollections = [], clusters }: PlanInput,
  chosen: readonly ClusterName[],
): readonly UsedCollection[] {
  const networks = new Map<string, NetworkKey>(clusters.map((cluster) => [cluster.name, networkOf(cluster)]));
  const own = new Set(chosen.map((name) => networks.get(name) ?? networkOf({ name })));
  return usedCollections.filter(({ clusters: others }) =>
    others.some((name) => own.has(networks.get(name) ?? networkOf({ name }))),
  );
}

/** Whether the class requires STRONG consistency. */
export function isStrong({ stateSpec }: ClassDefinition): boolean {
  return stateSpec?.consistencyModel === ConsistencyModel.strong;
}

/** The shard type of a class that states none, as class runtime managers choose it. */
export function shardTypeFor(copies: number, consistency: ConsistencyModel | undefined): ShardType {
  if (consistency === ConsistencyModel.strong) return ShardType.raft;
  if (copies <= 1) return ShardType.basic;
  return consistency === ConsistencyModel.none ? ShardType.mst : ShardType.raft;
}

/** Below this latency in milliseconds, class runtime managers of earlier releases did not replicate. */
const UNREPLICATED_LATENCY_MS = 50;

/** The shard type of a running class. In plans of earlier releases it follows from the shared content. */
export function runningShardType({
  odgm,
  shared,
}: {
  readonly odgm?: PlannedOdgm | undefined;
  readonly shared: SharedSpec;
}): ShardType {
  if (odgm?.shardType !== undefined) return odgm.shardType;
  const type = shardTypeFor(odgm?.replicaCount ?? 1, shared.state?.consistencyModel);
  const { maxLatencyMs } = shared.nfr;
  const isUnreplicated = type === ShardType.raft && !isStrongState(shared.state?.consistencyModel);
  return isUnreplicated && maxLatencyMs !== undefined && maxLatencyMs < UNREPLICATED_LATENCY_MS
    ? ShardType.basic
    : type;
}

function isStrongState(consistency: ConsistencyModel | undefined): boolean {
  return consistency === ConsistencyModel.strong;
}

const UNREPLICATED: ReadonlySet<ShardType> = new Set([ShardType.none, ShardType.basic, ShardType.single]);

/** Whether a shard type copies objects to other nodes. */
export function isReplicated(type: ShardType): boolean {
  return !UNREPLICATED.has(type);
}

/** Whether two names stand for one shard type. */
export function isSameType(one: ShardType, other: ShardType): boolean {
  return one === other || (UNREPLICATED.has(one) && UNREPLICATED.has(other));
}

/** The defaults of a class runtime manager, fixed here because all clusters must agree on them. */
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
