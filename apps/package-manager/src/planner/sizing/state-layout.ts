import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import {
  ConsistencyModel,
  qualifyClassKey,
  ShardType,
  StateShape,
  type ClassDefinition,
  type ClassDeployment,
  type OdgmSpec,
  type PackageName,
} from "@oaas/models";
import { pluralize } from "../explanation/format.ts";
import type { PlannedOdgm } from "../plan-types.ts";

/** How the objects of a class are stored. A change makes objects that are already stored unreachable. */
export type StateLayout = Pick<PlannedOdgm, "collections" | "partitionCount" | "shardType">;

interface LayoutTask {
  readonly packageName: PackageName;
  readonly definition: ClassDefinition;
  readonly deployment: ClassDeployment;
  /** The layout of the running deployment. */
  readonly previous?: StateLayout | undefined;
}

/** Chooses the layout: what the deployment states, else what runs, else a default for its requirements. */
export function chooseLayout({ packageName, definition, deployment, previous }: LayoutTask): StateLayout {
  const { odgm } = deployment;
  const named = [...new Set(odgm?.collections)];
  const unnamed = previous?.collections ?? [qualifyClassKey(packageName, definition.key)];
  const shardType = isStrong(definition) ? ShardType.raft : (odgm?.shardType ?? previous?.shardType);
  return {
    collections: named.length === 0 ? unnamed : named,
    partitionCount: odgm?.partitionCount ?? previous?.partitionCount ?? defaultPartitions(definition, deployment),
    ...(shardType === undefined ? {} : { shardType }),
  };
}

/** Whether the class requires STRONG consistency. */
export function isStrong({ stateSpec }: ClassDefinition): boolean {
  return stateSpec?.consistencyModel === ConsistencyModel.strong;
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

type SizedLayout = StateLayout & Pick<PlannedOdgm, "replicaCount">;

/** Rejects a changed layout of a running deployment unless `odgm.allow_layout_change` is set. */
export function layoutViolations(next: SizedLayout, previous: SizedLayout, odgm: OdgmSpec | undefined): Violation[] {
  const isAllowed = odgm?.allowLayoutChange === true;
  const changes = layoutChanges(previous, next).map(({ field, text, keep }) => ({
    path: pathOf(ROOT_PATH, "odgm", field),
    message: `${text}; objects that are already stored would be unreachable`,
    fix: `${keep}, or set odgm.allow_layout_change to true to accept the loss`,
  }));
  return [...(isAllowed ? [] : changes), ...replicationViolations(next, previous, isAllowed)];
}

/** A class that runs with one copy of its objects keeps a shard type that does not replicate them. */
function replicationViolations(next: SizedLayout, previous: SizedLayout, isAllowed: boolean): Violation[] {
  if (previous.replicaCount > 1 || next.replicaCount === 1 || isReplicated(previous.shardType)) return [];
  if (isAllowed && isReplicated(next.shardType)) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "shard_type"),
      message: `the target needs ${next.replicaCount} copies of each object, and the running class stores one without replication`,
      fix: "lower nfr_requirements.availability, or set odgm.shard_type to raft and odgm.allow_layout_change to true to start with an empty store",
    },
  ];
}

function isReplicated(type: ShardType | undefined): boolean {
  return type !== undefined && !UNREPLICATED.has(type);
}

/** Rejects the removal of the state store of a running deployment unless `odgm.allow_layout_change` is set. */
export function removalViolations(odgm: OdgmSpec | undefined): Violation[] {
  if (odgm?.allowLayoutChange === true) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm"),
      message: "the running class has a state store, which would be removed with its objects",
      fix: "keep the class's state_spec and odgm among the addons, or set addons without odgm and odgm.allow_layout_change to true",
    },
  ];
}

/** One change of a layout. */
export interface LayoutChange {
  readonly field: "collections" | "partition_count" | "shard_type";
  readonly text: string;
  /** What keeps the layout. */
  readonly keep: string;
}

/** The changes of a layout that make stored objects unreachable. A new collection is not one of them. */
export function layoutChanges(before: StateLayout, after: StateLayout): LayoutChange[] {
  const removed = before.collections.filter((name) => !after.collections.includes(name));
  return [
    ...(before.partitionCount === after.partitionCount
      ? []
      : [
          {
            field: "partition_count" as const,
            text: `the running class has ${pluralize(before.partitionCount, "partition")}, not ${after.partitionCount}`,
            keep: `remove partition_count or set it to ${before.partitionCount}`,
          },
        ]),
    ...(before.shardType === undefined || after.shardType === undefined || isSameType(before.shardType, after.shardType)
      ? []
      : [
          {
            field: "shard_type" as const,
            text: `the running class has the shard type ${before.shardType}, not ${after.shardType}`,
            keep: `remove shard_type or set it to ${before.shardType}`,
          },
        ]),
    ...(removed.length === 0
      ? []
      : [
          {
            field: "collections" as const,
            text: `the running class stores objects in ${removed.join(", ")}, which would be removed`,
            keep: `add ${removed.join(", ")}`,
          },
        ]),
  ];
}

const UNREPLICATED: ReadonlySet<ShardType> = new Set([ShardType.none, ShardType.basic, ShardType.single]);

/** Whether two names stand for one shard type. */
function isSameType(one: ShardType, other: ShardType): boolean {
  return one === other || (UNREPLICATED.has(one) && UNREPLICATED.has(other));
}
