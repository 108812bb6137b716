import { failedPrecondition, unavailable } from "@oaas/foundation";
import { isRunning, type MemberPod, type RunningStore } from "../../state-store/running-store.ts";
import type { AssignedPartition } from "../../state-store/store-layout.ts";

/** Node ids by cluster. */
export type NodeIds = Readonly<Record<string, readonly number[]>>;

/**
 * The pods of this cluster that have a partition, in the order of its replicas, so that a reader who wrote before asks the
 * same node. All pods when the store decides itself where partitions are. Throws when there is none.
 */
export function partitionHolders(
  { members }: RunningStore,
  { collection, partition, nodes }: AssignedPartition,
  everywhere: NodeIds,
): readonly MemberPod[] {
  const subject = `partition ${partition} of ${collection}`;
  const assigned =
    nodes.length === 0 ? members : nodes.flatMap((id) => members.find(({ nodeId }) => nodeId === id) ?? []);
  if (assigned.length === 0)
    throw failedPrecondition(subject, `${subject} is not in this cluster${others(nodes, everywhere)}`);
  const running = assigned.filter(isRunning).map(({ pod }) => pod);
  if (running.length > 0) return running;
  const ids = assigned.map(({ nodeId }) => nodeId).join(", ");
  throw unavailable("the state store", `${subject} is on node ${ids}, which does not run`);
}

function others(nodes: readonly number[], everywhere: NodeIds): string {
  const clusters = Object.entries(everywhere)
    .filter(([, ids]) => ids.some((id) => nodes.includes(id)))
    .map(([cluster]) => cluster);
  return clusters.length === 0 ? "" : `, but in ${clusters.toSorted().join(" and ")}`;
}
