import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Collection } from "./collections.ts";
import type { Invocations } from "./routes.ts";

type Assignment = NonNullable<
  NonNullable<NonNullable<ClassRuntimeSpec["odgm_config"]>["collection_assignments"]>[string]
>[number];

/** A collection in the format of the state store. */
export interface CollectionRequest {
  readonly name: string;
  readonly partition_count: number;
  readonly replica_count: number;
  readonly shard_assignments: readonly {
    readonly primary: number | null;
    readonly replica: readonly number[];
    readonly shard_ids: readonly number[];
  }[];
  readonly shard_type: string;
  readonly options: Readonly<Record<string, string>>;
  readonly invocations: Invocations | null;
}

interface CollectionPlan {
  readonly collections: readonly Collection[];
  readonly assignments: Readonly<Record<string, readonly Assignment[]>>;
  readonly options: Readonly<Record<string, string>>;
  readonly invocations: Invocations;
}

/**
 * The value of `ODGM_COLLECTION`. Equal classes get equal text, so that pods do not restart. Invalid shard assignments
 * are ignored with a warning.
 */
export function collectionRequests({ collections, assignments, options, invocations }: CollectionPlan): {
  readonly requests: readonly CollectionRequest[];
  readonly warnings: readonly Violation[];
} {
  const usedIds = new Set<number>();
  const warnings: Violation[] = [];
  const sortedOptions = Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
  const requests = collections.map((collection): CollectionRequest => {
    const stated = Object.hasOwn(assignments, collection.name) ? (assignments[collection.name] ?? []) : [];
    const problem = stated.length === 0 ? undefined : assignmentProblem(stated, collection, usedIds);
    if (problem !== undefined) {
      warnings.push({
        path: pathOf(ROOT_PATH, "odgm_config", "collection_assignments", collection.name),
        message: `the assignments are ignored: ${problem}`,
      });
    }
    return {
      name: collection.name,
      partition_count: collection.partitionCount,
      replica_count: collection.replicaCount,
      shard_assignments:
        problem === undefined
          ? stated.map(({ primary, replica = [], shard_ids: ids = [] }) => ({
              primary: primary ?? null,
              replica,
              shard_ids: ids,
            }))
          : [],
      shard_type: collection.shardType,
      options: sortedOptions,
      invocations:
        Object.keys(invocations.fn_routes).length + invocations.disabled_fn.length === 0 ? null : invocations,
    };
  });
  return { requests, warnings };
}

/** Why assignments are invalid; undefined when they are valid, and their shard ids are then recorded in `usedIds`. */
function assignmentProblem(
  stated: readonly Assignment[],
  { partitionCount, replicaCount }: Collection,
  usedIds: Set<number>,
) {
  if (stated.length !== partitionCount) return `expected ${partitionCount} assignments, got ${stated.length}`;
  const ids = stated.flatMap((one) => one.shard_ids ?? []);
  for (const { primary, replica = [], shard_ids: own = [] } of stated) {
    if (replica.length !== replicaCount || own.length !== replicaCount) {
      return `an assignment has ${replica.length} nodes and ${own.length} shards for ${replicaCount} replicas`;
    }
    if (primary === undefined || !own.includes(primary)) return "a primary is not one of its shards";
  }
  if (new Set(ids).size !== ids.length || ids.some((id) => usedIds.has(id))) return "a shard id is used twice";
  for (const id of ids) usedIds.add(id);
  return undefined;
}
