import type { ClassRuntimeSpec, EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { splitClassKey, type ShardType } from "@oaas/models";
import { classRequirements, type Requirements } from "../../rendering/plan/requirements.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";

type StateShape = NonNullable<NonNullable<ClassRuntimeSpec["state_spec"]>["shape"]>;
type Settings = NonNullable<EnvironmentConfigSpec["odgm"]["collection_templates"]>[string];

/** A collection that the class names or its state implies. */
interface DesiredCollection {
  readonly name: string;
  readonly settings: Settings;
  readonly shape: StateShape | undefined;
}

/** A collection with all decisions made. */
export interface Collection {
  readonly name: string;
  readonly partitionCount: number;
  readonly replicaCount: number;
  readonly shardType: ShardType;
  readonly persistent: boolean;
  /** The access that functions have unless they state another; absent when it is not limited. */
  readonly accessMode?: AccessMode;
}

type AccessMode = "read_only" | "write_only";

/** Shard types whose copies would be separate stores, so that they have one. */
const UNREPLICATED: ReadonlySet<ShardType> = new Set<ShardType>(["none", "basic", "single"]);

/** Replicas per state shape, limited by the number of nodes. */
const REPLICAS_OF_SHAPE: Readonly<Record<StateShape, number>> = { singleton: 3, collection: 3, data: 2 };
const TEMPLATE_OF_SHAPE = {
  singleton: "singleton_state",
  collection: "collection_state",
  data: "normal_state",
} as const satisfies Record<StateShape, string>;

/**
 * What decides where the class states nothing. `fresh`: its environment and template. `stated`: the same, but derived
 * values stay as they are stored. `class`: everything stays as it is stored.
 */
export type Basis = "fresh" | "stated" | "class";

interface Sources<T> {
  readonly ofClass: T | undefined;
  readonly ofEnvironment: T | undefined;
  readonly stored: T | undefined;
}

function choose<T>(basis: Basis, { ofClass, ofEnvironment, stored }: Sources<T>): T | undefined {
  if (basis === "fresh") return ofClass ?? ofEnvironment;
  return basis === "stated" ? (ofClass ?? ofEnvironment ?? stored) : (ofClass ?? stored ?? ofEnvironment);
}

/** The largest stated replica count of all collections; undefined when none is stated. */
export function statedReplicas(input: RenderInput, basis: Basis = "fresh"): number | undefined {
  const stated = desiredCollections(input).flatMap((desired) => {
    const type = ownShardType(input, desired, basis);
    return type !== undefined && UNREPLICATED.has(type) ? 1 : (statedReplicaCount(input, desired, basis) ?? []);
  });
  return stated.length === 0 ? undefined : Math.max(...stated);
}

/** The collections of a class, with warnings for settings that this number of nodes cannot provide. */
export function collectionsOf(
  input: RenderInput,
  nodeCount: number,
  basis: Basis = "fresh",
): { readonly collections: readonly Collection[]; readonly warnings: readonly Violation[] } {
  const requirements = classRequirements(input.spec, input.environment);
  const warnings: Violation[] = [];
  const collections = desiredCollections(input).map((desired, index): Collection => {
    const { replicaCount, shardType, ignored } = copiesOf(input, desired, nodeCount, basis, requirements);
    const path = pathOf(ROOT_PATH, "odgm_config", "collections", index);
    if (ignored !== undefined && ignored > nodeCount) {
      warnings.push({
        path,
        message: `${desired.name} requests ${ignored} replicas, but the state store has ${nodeCount} nodes`,
        fix: "lower replica_count, or set env_node_ids for more nodes",
      });
    } else if (ignored !== undefined) {
      warnings.push({
        path,
        message: `${desired.name} has one copy of each object instead of ${ignored}: copies of shard type ${shardType} would be separate stores`,
        fix: "set shard_type to raft or mst, or replica_count to 1",
      });
    }
    if (requirements.consistency === "strong" && shardType !== "raft") {
      warnings.push({
        path,
        message: `${desired.name} needs strong consistency, which shard type ${shardType} does not provide`,
        fix: "remove shard_type or set it to raft",
      });
    }
    return {
      name: desired.name,
      partitionCount: partitionCount(input, desired, basis, requirements),
      replicaCount,
      shardType,
      persistent: isPersistent(input, desired),
      ...limitedAccess(desired.settings),
    };
  });
  return { collections, warnings };
}

/** Copies and shard type of a collection, and a stated number of copies that it cannot have. */
function copiesOf(
  input: RenderInput,
  desired: DesiredCollection,
  nodeCount: number,
  basis: Basis,
  requirements: Requirements,
): { readonly replicaCount: number; readonly shardType: ShardType; readonly ignored?: number } {
  const ofShape = desired.shape === undefined ? nodeCount : REPLICAS_OF_SHAPE[desired.shape];
  const requested = statedReplicaCount(input, desired, basis);
  const wanted = requested ?? Math.min(nodeCount, ofShape);
  const stated = ownShardType(input, desired, basis);
  if (stated !== undefined && UNREPLICATED.has(stated)) {
    const running = basis === "fresh" ? undefined : storedCollection(input, desired);
    const replicaCount = running?.shardType === stated ? (running.replicaCount ?? 1) : 1;
    const ignored = requested !== undefined && requested > replicaCount ? { ignored: requested } : {};
    return { replicaCount, shardType: stated, ...ignored };
  }
  const replicaCount = Math.min(wanted, nodeCount);
  const kept = basis === "fresh" ? undefined : storedCollection(input, desired)?.shardType;
  return {
    replicaCount,
    shardType: stated ?? kept ?? shardTypeFor(replicaCount, requirements),
    ...(wanted > nodeCount ? { ignored: wanted } : {}),
  };
}

function storedCollection({ storedLayout }: RenderInput, { name }: DesiredCollection) {
  return storedLayout?.collections.find((one) => one.name === name);
}

function desiredCollections(input: RenderInput): readonly DesiredCollection[] {
  const { spec, owner } = input;
  const named = spec.odgm_config?.collections ?? [];
  if (named.length > 0) {
    return named.map((given) =>
      typeof given === "string"
        ? { name: given, settings: {}, shape: undefined }
        : { name: given.name, settings: given, shape: undefined },
    );
  }
  if (spec.state_spec === undefined) {
    return [{ name: spec.package_class_key ?? owner.name, settings: {}, shape: undefined }];
  }
  const shape = spec.state_spec.shape ?? "data";
  const settings = input.environment?.spec.odgm.collection_templates?.[TEMPLATE_OF_SHAPE[shape]] ?? {};
  return [{ name: `${classKeyOf(input)}_${shape}`, settings, shape }];
}

/** The class key without its package. */
export function classKeyOf({ spec, owner }: RenderInput): string {
  const qualified = spec.package_class_key;
  return qualified === undefined ? owner.name : (splitClassKey(qualified)?.classKey ?? qualified);
}

function statedReplicaCount(input: RenderInput, desired: DesiredCollection, basis: Basis): number | undefined {
  const { spec, environment } = input;
  const { settings, shape } = desired;
  const config = spec.odgm_config;
  const classValue =
    config?.replica_count ?? config?.replication_factor ?? spec.resource_allocation?.replication_factor;
  const ofShape = shape === undefined ? undefined : settings.replica_count;
  return choose(basis, {
    ofClass: shape === undefined ? (settings.replica_count ?? classValue) : classValue,
    ofEnvironment: ofShape ?? environment?.spec.odgm.defaults?.replication_factor,
    // Another template may have another number of nodes.
    stored: basis === "class" ? storedCollection(input, desired)?.replicaCount : undefined,
  });
}

/** The shard type that the class or its environment states. */
function ownShardType(input: RenderInput, desired: DesiredCollection, basis: Basis): ShardType | undefined {
  const { spec, environment } = input;
  const { settings, shape } = desired;
  const ofClass = spec.odgm_config?.shard_type;
  const ofShape = shape === undefined ? undefined : settings.shard_type;
  const sources = {
    ofClass: shape === undefined ? (settings.shard_type ?? ofClass) : ofClass,
    ofEnvironment: ofShape ?? environment?.spec.odgm.defaults?.shard_type,
  };
  const hasOther = basis === "class" && storedCollection(input, desired)?.shardType !== undefined;
  return sources.ofClass ?? (hasOther ? undefined : sources.ofEnvironment);
}

function partitionCount(
  input: RenderInput,
  desired: DesiredCollection,
  basis: Basis,
  requirements: Requirements,
): number {
  const { spec, environment } = input;
  const { settings, shape } = desired;
  const ofClass = spec.odgm_config?.partition_count;
  return (
    choose(basis, {
      ofClass: shape === undefined ? (settings.partition_count ?? ofClass) : ofClass,
      ofEnvironment: shape === undefined ? undefined : settings.partition_count,
      stored: storedCollection(input, desired)?.partitionCount,
    }) ??
    defaultPartitions(
      shape,
      partitionsFor(requirements.throughputRps, environment?.spec.odgm.partition_strategies),
      settings,
    )
  );
}

/** Partitions that batches are spread over. */
const BATCH_PARTITIONS = 4;

function defaultPartitions(shape: StateShape | undefined, byThroughput: number, settings: Settings): number {
  switch (shape) {
    case "singleton":
      return 1;
    case "collection":
      return Math.max(BATCH_PARTITIONS, byThroughput);
    case "data":
    case undefined:
      return isReadInBatches(settings) ? Math.max(BATCH_PARTITIONS, byThroughput) : byThroughput;
  }
}

function isReadInBatches({ access_patterns: patterns = [] }: Settings): boolean {
  return patterns.some((pattern) => pattern === "batch_read" || pattern === "batch_write");
}

const READS: ReadonlySet<string> = new Set(["read_only", "batch_read"]);
const WRITES: ReadonlySet<string> = new Set(["write_only", "batch_write"]);

/** The access that all patterns together allow. */
function limitedAccess({ access_patterns: patterns = [] }: Settings): Pick<Collection, "accessMode"> {
  if (patterns.length === 0) return {};
  if (patterns.every((pattern) => READS.has(pattern))) return { accessMode: "read_only" };
  return patterns.every((pattern) => WRITES.has(pattern)) ? { accessMode: "write_only" } : {};
}

function isPersistent(input: RenderInput, desired: DesiredCollection): boolean {
  return persistenceSource(input, desired) !== undefined;
}

/** The setting that makes a collection persistent; undefined when it is in memory. */
function persistenceSource(
  { spec, environment }: RenderInput,
  { settings, shape }: DesiredCollection,
): "collection" | "state" | "environment" | undefined {
  if (settings.persistence_mode === undefined) return spec.state_spec?.persistent === true ? "state" : undefined;
  if (settings.persistence_mode !== "persistent") return undefined;
  return shape === undefined || environment === undefined ? "collection" : "environment";
}

/** The collections that must be persistent, with the setting that says so. */
export function persistentCollections(input: RenderInput) {
  return desiredCollections(input).flatMap((desired, index) => {
    const source = persistenceSource(input, desired);
    return source === undefined ? [] : [{ name: desired.name, index, source }];
  });
}

/** Partitions by throughput. */
export type PartitionStrategies = EnvironmentConfigSpec["odgm"]["partition_strategies"];

/** Defaults without an environment. */
export const PARTITION_STRATEGIES: PartitionStrategies = {
  low_throughput: 1,
  standard: 4,
  high_throughput: 8,
  very_high: 16,
};

/** Partitions of a collection for a throughput. */
export function partitionsFor(
  throughputRps: number | undefined,
  strategies: PartitionStrategies = PARTITION_STRATEGIES,
): number {
  if (throughputRps === undefined) return strategies.standard;
  if (throughputRps <= 1000) return strategies.low_throughput;
  if (throughputRps <= 5000) return strategies.standard;
  return throughputRps <= 20_000 ? strategies.high_throughput : strategies.very_high;
}

/**
 * The default shard type: raft for strong consistency, basic for a single replica, mst for eventual consistency, and raft
 * for other replicas.
 */
export function shardTypeFor(copies: number, { consistency }: Requirements): ShardType {
  if (consistency === "strong") return "raft";
  if (copies <= 1) return "basic";
  return consistency === "eventual" || consistency === "none" ? "mst" : "raft";
}
