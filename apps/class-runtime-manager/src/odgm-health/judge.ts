import { equalJson, timestamp } from "@oaas/foundation";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import type { Grid } from "./grid.ts";
import { verdict } from "./verdict.ts";

type Details = NonNullable<OdgmReading["details"]>;

/** Response of one node: its shards and capabilities. */
export interface NodeAnswer {
  /** Address that was asked, as host:port. */
  readonly address: string;
  readonly shards: readonly {
    readonly collection: string;
    readonly partition: number;
    readonly shard: number;
    readonly objects: number;
  }[];
  readonly capabilities?: readonly string[];
}

/**
 * Assesses the responses of the nodes. Undefined ("unknown") without enough responses: the manager may be outside of
 * the cluster network, so that silence does not prove a failure.
 */
export function assessAnswers(grid: Grid, answers: readonly NodeAnswer[], nowMs: number): OdgmReading | undefined {
  if (answers.length === 0) return undefined;
  const served = grid.collections.map((collection) => ({ ...collection, ...servedOf(collection.name, answers) }));
  const assessment = verdict(served, grid.isShared);
  if (!assessment.healthy && answers.length < grid.nodes) return undefined;
  const capabilities = [...new Set(answers.flatMap((answer) => answer.capabilities ?? []))].toSorted();
  const checkedAt = timestamp(nowMs);
  return {
    ...assessment,
    checkedAt,
    details: {
      ...(capabilities.length === 0 ? {} : { capabilities }),
      active_nodes: activeNodes(grid, answers, checkedAt),
      shard_distribution: shardDistribution(grid, answers),
      collections_status: served.map(({ name, shards, held, objects }) => ({
        name,
        ready_shards: shards,
        active_partitions: held,
        total_objects: objects,
      })),
    },
  };
}

/** Replicas of a partition hold the same objects, so the largest count is used. */
function servedOf(name: string, answers: readonly NodeAnswer[]): { shards: number; held: number; objects: number } {
  const shards = answers.flatMap((answer) => answer.shards).filter(({ collection }) => collection === name);
  const fullest = new Map<number, number>();
  for (const { partition, objects } of shards) {
    fullest.set(partition, Math.max(objects, fullest.get(partition) ?? 0));
  }
  const objects = [...fullest.values()].reduce((sum, held) => sum + held, 0);
  return { shards: shards.length, held: fullest.size, objects };
}

/** The nodes that responded. Their API does not report ids: the planned assignment of a shard names its node. */
function activeNodes(
  { nodeOfShard }: Grid,
  answers: readonly NodeAnswer[],
  checkedAt: string,
): NonNullable<Details["active_nodes"]> {
  const nodes = answers.map(({ address, shards }) => {
    const id = shards.map(({ shard }) => nodeOfShard.get(shard)).find((node) => node !== undefined);
    return {
      node_id: id === undefined ? address : String(id),
      address,
      status: shards.length === 0 ? "idle" : "serving",
      last_heartbeat: checkedAt,
    };
  });
  return [...new Map(nodes.map((node) => [node.node_id, node])).values()].toSorted((one, other) =>
    one.node_id < other.node_id ? -1 : 1,
  );
}

/** Counts shards. The balance needs the responses of all nodes: the mean of shards per node, divided by the maximum. */
function shardDistribution(
  { collections, isShared, nodes }: Grid,
  answers: readonly NodeAnswer[],
): NonNullable<Details["shard_distribution"]> {
  const names = new Set(collections.map(({ name }) => name));
  const counts = answers.map(({ shards }) => shards.filter(({ collection }) => names.has(collection)).length);
  const active = counts.reduce((sum, shards) => sum + shards, 0);
  const most = Math.max(...counts);
  return {
    ...(isShared
      ? {}
      : { total_shards: collections.reduce((sum, { partitions, replicas }) => sum + partitions * replicas, 0) }),
    active_shards: active,
    ...(answers.length < nodes || most === 0
      ? {}
      : { distribution_balance: Math.round((active / answers.length / most) * 1000) / 1000 }),
  };
}

/** Whether two readings are equal apart from object counts and times. */
export function isSameReading(one: OdgmReading | undefined, other: OdgmReading | undefined): boolean {
  return equalJson(withoutVolatileFields(one), withoutVolatileFields(other));
}

function withoutVolatileFields(reading: OdgmReading | undefined): unknown {
  if (reading === undefined) return {};
  const { checkedAt: _, details, ...verdict } = reading;
  const collections = details?.collections_status?.map(({ total_objects: _objects, ...collection }) => collection);
  const nodes = details?.active_nodes?.map(({ last_heartbeat: _heard, ...node }) => node);
  return {
    ...verdict,
    capabilities: details?.capabilities ?? [],
    nodes: nodes ?? [],
    shards: details?.shard_distribution ?? {},
    collections: collections ?? [],
  };
}
