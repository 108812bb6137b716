import type { ClassRuntimeSpec, EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { splitClassKey, type ShardType } from "@oaas/models";
import { classRequirements, type Requirements } from "../../rendering/plan/requirements.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";

type StateShape = NonNullable<NonNullable<ClassRuntimeSpec["state_spec"]>["shape"]>;
type Settings = NonNullable<EnvironmentConfigSpec["odgm"]["collection_templates"]>[string];

/** A collection as somebody named it, or as the class's state implies it. */
interface DesiredCollection {
  readonly name: string;
  readonly settings: Settings;
  readonly shape: StateShape | undefined;
}

/** One collection with every number decided. */
export interface Collection {
  readonly name: string;
  readonly partitionCount: number;
  readonly replicaCount: number;
  readonly shardType: ShardType;
  readonly persistent: boolean;
}

/** Copies that each shape of state should have, where the grid has the nodes for them. */
const REPLICAS_OF_SHAPE: Readonly<Record<StateShape, number>> = { singleton: 3, collection: 3, data: 2 };
const TEMPLATE_OF_SHAPE = {
  singleton: "singleton_state",
  collection: "collection_state",
  data: "normal_state",
} as const satisfies Record<StateShape, string>;

/** Copies that somebody stated, at most, over all collections; undefined when nobody did. */
export function statedReplicas(input: RenderInput): number | undefined {
  const stated = desiredCollections(input).flatMap((wish) => statedReplicaCount(input, wish) ?? []);
  return stated.length === 0 ? undefined : Math.max(...stated);
}

/** The collections of a class in a grid of so many nodes, and what of the wishes such a grid cannot do. */
export function collectionsOf(
  input: RenderInput,
  nodeCount: number,
): { readonly collections: readonly Collection[]; readonly warnings: readonly Violation[] } {
  const requirements = classRequirements(input.spec, input.environment);
  const warnings: Violation[] = [];
  const collections = desiredCollections(input).map((wish, index): Collection => {
    const stated = statedReplicaCount(input, wish);
    const replicaCount =
      stated ?? Math.min(nodeCount, wish.shape === undefined ? nodeCount : REPLICAS_OF_SHAPE[wish.shape]);
    const shardType = statedShardType(input, wish) ?? shardTypeFor(replicaCount, requirements);
    const path = pathOf(ROOT_PATH, "odgm_config", "collections", index);
    if (replicaCount > nodeCount) {
      warnings.push({
        path,
        message: `${wish.name} requests ${replicaCount} replicas, but the state store has ${nodeCount} nodes`,
        fix: "lower replica_count, or set env_node_ids for more nodes",
      });
    }
    if (requirements.consistency === "strong" && shardType !== "raft") {
      warnings.push({
        path,
        message: `${wish.name} needs strong consistency, which shard type ${shardType} does not provide`,
        fix: "remove shard_type or set it to raft",
      });
    }
    return {
      name: wish.name,
      partitionCount: partitionCount(input, wish, requirements),
      replicaCount,
      shardType,
      persistent: isPersistent(input, wish),
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

/** The class's own key, without its package. */
export function classKeyOf({ spec, owner }: RenderInput): string {
  const qualified = spec.package_class_key;
  return qualified === undefined ? owner.name : (splitClassKey(qualified)?.classKey ?? qualified);
}

function statedReplicaCount(
  { spec, environment }: RenderInput,
  { settings, shape }: DesiredCollection,
): number | undefined {
  const config = spec.odgm_config;
  const ofClass = config?.replica_count ?? config?.replication_factor ?? spec.resource_allocation?.replication_factor;
  // What a class states goes before the settings that its environment has for its shape of state.
  const ofCollection = settings.replica_count;
  return (
    (shape === undefined ? (ofCollection ?? ofClass) : (ofClass ?? ofCollection)) ??
    environment?.spec.odgm.defaults?.replication_factor
  );
}

function statedShardType(
  { spec, environment }: RenderInput,
  { settings, shape }: DesiredCollection,
): ShardType | undefined {
  const ofClass = spec.odgm_config?.shard_type;
  return (
    (shape === undefined ? (settings.shard_type ?? ofClass) : (ofClass ?? settings.shard_type)) ??
    environment?.spec.odgm.defaults?.shard_type
  );
}

function partitionCount(
  input: RenderInput,
  { settings, shape }: DesiredCollection,
  requirements: Requirements,
): number {
  const ofClass = input.spec.odgm_config?.partition_count;
  const stated = shape === undefined ? (settings.partition_count ?? ofClass) : (ofClass ?? settings.partition_count);
  if (stated !== undefined) return stated;
  const derived = partitionsFor(requirements.throughputRps, input.environment?.spec.odgm.partition_strategies);
  switch (shape) {
    case "singleton":
      return 1;
    case "collection":
      return Math.max(4, derived);
    case "data":
    case undefined:
      return derived;
  }
}

function isPersistent({ spec }: RenderInput, { settings }: DesiredCollection): boolean {
  return settings.persistence_mode === undefined
    ? spec.state_spec?.persistent === true
    : settings.persistence_mode === "persistent";
}

/** Partitions by throughput; an environment may have its own numbers. */
export type PartitionStrategies = EnvironmentConfigSpec["odgm"]["partition_strategies"];

/** The numbers where no environment says. */
export const PARTITION_STRATEGIES: PartitionStrategies = {
  low_throughput: 1,
  standard: 4,
  high_throughput: 8,
  very_high: 16,
};

/** How many partitions a collection needs for a throughput: more spread it better and cost more. */
export function partitionsFor(
  throughputRps: number | undefined,
  strategies: PartitionStrategies = PARTITION_STRATEGIES,
): number {
  if (throughputRps === undefined) return strategies.standard;
  if (throughputRps <= 1000) return strategies.low_throughput;
  if (throughputRps <= 5000) return strategies.standard;
  return throughputRps <= 20_000 ? strategies.high_throughput : strategies.very_high;
}

/** Below this, agreeing on every write takes longer than the whole answer may. */
const MIN_CONSENSUS_LATENCY_MS = 50;

/**
 * How the copies of a partition are kept when nobody says: strong consistency always agrees (raft), state that may lag
 * merges (mst), other copies agree unless answers must come too fast for it, and a single copy needs nothing.
 */
export function shardTypeFor(copies: number, { latencyMs, consistency }: Requirements): ShardType {
  if (consistency === "strong") return "raft";
  if (copies <= 1) return "basic";
  if (consistency === "eventual" || consistency === "none") return "mst";
  return latencyMs !== undefined && latencyMs < MIN_CONSENSUS_LATENCY_MS ? "basic" : "raft";
}
