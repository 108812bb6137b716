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

/** Shard types that store one copy of each object. */
const UNREPLICATED: ReadonlySet<ShardType> = new Set<ShardType>(["none", "basic", "single"]);

/** Replicas per state shape, limited by the number of nodes. */
const REPLICAS_OF_SHAPE: Readonly<Record<StateShape, number>> = { singleton: 3, collection: 3, data: 2 };
const TEMPLATE_OF_SHAPE = {
  singleton: "singleton_state",
  collection: "collection_state",
  data: "normal_state",
} as const satisfies Record<StateShape, string>;

/** The largest stated replica count of all collections; undefined when none is stated. */
export function statedReplicas(input: RenderInput): number | undefined {
  const stated = desiredCollections(input).flatMap((desired) => statedReplicaCount(input, desired) ?? []);
  return stated.length === 0 ? undefined : Math.max(...stated);
}

/** The collections of a class, with warnings for settings that this number of nodes cannot provide. */
export function collectionsOf(
  input: RenderInput,
  nodeCount: number,
): { readonly collections: readonly Collection[]; readonly warnings: readonly Violation[] } {
  const requirements = classRequirements(input.spec, input.environment);
  const warnings: Violation[] = [];
  const collections = desiredCollections(input).map((desired, index): Collection => {
    const stated = statedReplicaCount(input, desired);
    const replicaCount =
      stated ?? Math.min(nodeCount, desired.shape === undefined ? nodeCount : REPLICAS_OF_SHAPE[desired.shape]);
    const derivedType = shardTypeFor(replicaCount, requirements);
    const shardType = statedShardType(input, desired) ?? derivedType;
    const path = pathOf(ROOT_PATH, "odgm_config", "collections", index);
    if (replicaCount > nodeCount) {
      warnings.push({
        path,
        message: `${desired.name} requests ${replicaCount} replicas, but the state store has ${nodeCount} nodes`,
        fix: "lower replica_count, or set env_node_ids for more nodes",
      });
    }
    if (input.storedLayout !== undefined && UNREPLICATED.has(shardType) && !UNREPLICATED.has(derivedType)) {
      warnings.push({
        path,
        message: `${desired.name} needs shard type ${derivedType} and keeps ${shardType}, which stores one copy of each object`,
        fix: `set shard_type to ${derivedType} to start with an empty store`,
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
      partitionCount: partitionCount(input, desired, requirements),
      replicaCount,
      shardType,
      persistent: isPersistent(input, desired),
      ...limitedAccess(desired.settings),
    };
  });
  return { collections, warnings };
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

function statedReplicaCount(
  { spec, environment }: RenderInput,
  { settings, shape }: DesiredCollection,
): number | undefined {
  const config = spec.odgm_config;
  const classValue =
    config?.replica_count ?? config?.replication_factor ?? spec.resource_allocation?.replication_factor;
  // The class takes precedence over the environment's settings for its state shape.
  const collectionValue = settings.replica_count;
  return (
    (shape === undefined ? (collectionValue ?? classValue) : (classValue ?? collectionValue)) ??
    environment?.spec.odgm.defaults?.replication_factor
  );
}

/** The class takes precedence over the running layout, and that over the environment, which may change later. */
function statedShardType(
  { spec, environment, storedLayout }: RenderInput,
  { settings, shape }: DesiredCollection,
): ShardType | undefined {
  const ofClass = spec.odgm_config?.shard_type;
  const stated = shape === undefined ? (settings.shard_type ?? ofClass) : ofClass;
  return (
    stated ??
    storedLayout?.shardType ??
    (shape === undefined ? undefined : settings.shard_type) ??
    environment?.spec.odgm.defaults?.shard_type
  );
}

function partitionCount(
  { spec, environment, storedLayout }: RenderInput,
  { name, settings, shape }: DesiredCollection,
  requirements: Requirements,
): number {
  const ofClass = spec.odgm_config?.partition_count;
  const stated = shape === undefined ? (settings.partition_count ?? ofClass) : ofClass;
  return (
    stated ??
    storedLayout?.partitions.get(name) ??
    (shape === undefined ? undefined : settings.partition_count) ??
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

function isPersistent({ spec }: RenderInput, { settings }: DesiredCollection): boolean {
  return settings.persistence_mode === undefined
    ? spec.state_spec?.persistent === true
    : settings.persistence_mode === "persistent";
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

/** Below this latency, consensus on every write takes too long. */
const MIN_CONSENSUS_LATENCY_MS = 50;

/**
 * The default shard type: raft for strong consistency, mst for eventual consistency, raft for other replicas unless
 * latency is too low for consensus, and basic for a single replica.
 */
export function shardTypeFor(copies: number, { latencyMs, consistency }: Requirements): ShardType {
  if (consistency === "strong") return "raft";
  if (copies <= 1) return "basic";
  if (consistency === "eventual" || consistency === "none") return "mst";
  return latencyMs !== undefined && latencyMs < MIN_CONSENSUS_LATENCY_MS ? "basic" : "raft";
}
