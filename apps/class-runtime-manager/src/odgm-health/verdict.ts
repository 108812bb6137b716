import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";

/** A collection with its expected and served partitions. */
export interface ServedCollection {
  readonly name: string;
  readonly partitions: number;
  readonly held: number;
}

/** Healthy when every partition is served; partitions of a shared state store may be served elsewhere. */
export function verdict(
  collections: readonly ServedCollection[],
  isShared: boolean,
): Pick<OdgmReading, "healthy" | "message"> {
  const short = isShared ? [] : collections.filter(({ held, partitions }) => held < partitions);
  if (short.length === 0) return { healthy: true };
  const counts = short.map(({ name, held, partitions }) => `${held} of ${partitions} partitions of ${name}`);
  return { healthy: false, message: `serves ${counts.join(", ")}` };
}

/** The reading in the status; a manager that starts has nothing to write before its first check. */
export function lastReading(
  odgm: NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>,
  isShared: boolean,
): OdgmReading | undefined {
  const { last_checked: checkedAt, capabilities, collections_status: collections = [] } = odgm;
  const { active_nodes: nodes, shard_distribution: shards } = odgm;
  if (checkedAt === undefined) return undefined;
  const served = collections.map(({ name, partition_count: partitions = 0, active_partitions: held = 0 }) => ({
    name,
    partitions,
    held,
  }));
  return {
    ...verdict(served, isShared),
    checkedAt,
    details: {
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(nodes === undefined ? {} : { active_nodes: nodes }),
      ...(shards === undefined ? {} : { shard_distribution: shards }),
      collections_status: collections.map(
        ({ partition_count: _partitions, replica_count: _copies, ...collection }) => collection,
      ),
    },
  };
}
