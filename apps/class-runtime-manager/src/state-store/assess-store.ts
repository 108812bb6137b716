import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { equalJson, timestamp } from "@oaas/foundation";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import { holds, isShared, type StoreReading } from "./decide-restart.ts";
import type { NodeAnswer } from "./node-answer.ts";
import { isOfRun, isRunning, type MemberPod, type RunningStore, type StoreMember } from "./running-store.ts";
import { partitionKey, partitionsOfNode, type AssignedPartition } from "./store-layout.ts";

type Details = NonNullable<OdgmReading["details"]>;
type MissingShard = NonNullable<NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>["missing_shards"]>[number];

/** What one round of requests found. */
export interface StoreAnswers {
  readonly answers: readonly NodeAnswer[];
  /** Whether the write to a partition was acknowledged, by partition key; absent for those that no node here has. */
  readonly acknowledged: ReadonlyMap<string, boolean>;
}

/** The reading for the status and the one for restarts. */
export interface StoreAssessment {
  readonly reading: OdgmReading;
  readonly store: StoreReading;
}

const MAX_MISSING = 64;
/** Partitions that a message names. */
const MAX_NAMED = 3;

/**
 * Assesses what the nodes of this cluster answered, alone or with nodes in other clusters. Healthy only when every node
 * has its shards and every partition that is assigned here acknowledged a write. Undefined when no node runs: then the
 * workloads tell why.
 */
export function assessStore(
  running: RunningStore,
  found: StoreAnswers,
  previous: StoreReading | undefined,
  nowMs: number,
): StoreAssessment | undefined {
  const started = running.members.filter(isRunning);
  if (started.length === 0) return undefined;
  const missing = missingShards(started, running, found.answers);
  const silent = started.filter((member) => answerOf(member, found.answers) === undefined);
  const local = localPartitions(running);
  const unwritable = local.filter((partition) => isUnwritable(partition, running, found));
  const checkedAt = timestamp(nowMs);
  const isSilent = silent.length === started.length;
  const reading: OdgmReading = {
    ...(isSilent ? verdict([], [], silent) : verdict(missing, unwritable, silent)),
    checkedAt,
    details: {
      ...(isSilent ? {} : { writable: unwritable.length === 0 }),
      ...(missing.length === 0 ? {} : { missing_shards: missing.slice(0, MAX_MISSING) }),
      ...detailsOf(running, found, local, checkedAt),
    },
  };
  const missingReadings = new Map(
    missing.map(({ node_id: id }) => [id, (previousReadings(id, found.answers, previous) ?? 0) + 1]),
  );
  return { reading, store: { answers: found.answers, unwritable, missingReadings } };
}

/** Readings of the same pod only: its successor starts to count again. */
function previousReadings(
  nodeId: number,
  answers: readonly NodeAnswer[],
  previous: StoreReading | undefined,
): number | undefined {
  const podOf = (list: readonly NodeAnswer[] | undefined): string | undefined =>
    list?.find((answer) => answer.nodeId === nodeId)?.podUid;
  return podOf(answers) === podOf(previous?.answers) ? previous?.missingReadings.get(nodeId) : undefined;
}

function answerOf({ nodeId, pod }: StoreMember, answers: readonly NodeAnswer[]): NodeAnswer | undefined {
  return answers.find((answer) => answer.nodeId === nodeId && isOfRun(answer, pod));
}

/** The partitions with a copy in this cluster. */
export function localPartitions({ layout, members }: RunningStore): readonly AssignedPartition[] {
  const here = new Set(members.map(({ nodeId }) => nodeId));
  return layout.partitions.filter(({ nodes }) => nodes.length === 0 || nodes.some((id) => here.has(id)));
}

function missingShards(
  started: readonly (StoreMember & { readonly pod: MemberPod })[],
  { layout }: RunningStore,
  answers: readonly NodeAnswer[],
): MissingShard[] {
  return started.flatMap((member) => {
    const answer = answerOf(member, answers);
    if (answer === undefined) return [];
    return partitionsOfNode(layout, member.nodeId)
      .filter((partition) => !holds(answer, partition))
      .map(({ collection, partition }) => ({ node_id: member.nodeId, collection, partition }));
  });
}

/** A partition that no node here has may be served by nodes of other clusters. */
function isUnwritable(partition: AssignedPartition, running: RunningStore, { acknowledged }: StoreAnswers): boolean {
  return !(acknowledged.get(partitionKey(partition)) ?? isShared(running));
}

function verdict(
  missing: readonly MissingShard[],
  unwritable: readonly AssignedPartition[],
  silent: readonly StoreMember[],
): Pick<OdgmReading, "healthy" | "reason" | "message"> {
  const lacks = missing.map(
    ({ node_id: id, collection, partition }) => `node ${id} lacks ${nameOf({ collection, partition })}`,
  );
  const absent = new Set(missing.map(partitionKey));
  const writes = unwritable
    .filter((partition) => !absent.has(partitionKey(partition)))
    .map((partition) => `${nameOf(partition)} acknowledges no writes`);
  const answers = silent.map(({ nodeId }) => `node ${nodeId} does not answer`);
  const message = [lacks, writes, answers].flatMap(named).join("; ");
  if (message === "") return { healthy: true };
  const reason = missing.length > 0 ? "ShardMissing" : unwritable.length > 0 ? "NoQuorum" : "StoreUnreachable";
  return { healthy: false, reason, message };
}

function nameOf({ collection, partition }: Pick<AssignedPartition, "collection" | "partition">): string {
  return `partition ${partition} of ${collection}`;
}

function named(texts: readonly string[]): readonly string[] {
  const more = texts.length - MAX_NAMED;
  return more > 0 ? [...texts.slice(0, MAX_NAMED), `${more} more`] : texts;
}

function detailsOf(
  running: RunningStore,
  { answers }: StoreAnswers,
  local: readonly AssignedPartition[],
  checkedAt: string,
): Partial<Details> {
  const capabilities = [...new Set(answers.flatMap((answer) => answer.capabilities ?? []))].toSorted();
  const collections = [...new Set(local.map(({ collection }) => collection))];
  return {
    ...(capabilities.length === 0 ? {} : { capabilities }),
    active_nodes: activeNodes(answers, checkedAt),
    shard_distribution: shardDistribution(running, answers, local),
    collections_status: collections.map((name) => collectionStatus(name, answers)),
  };
}

/** Copies of a partition hold the same objects, so the largest count is used. */
function collectionStatus(
  name: string,
  answers: readonly NodeAnswer[],
): NonNullable<Details["collections_status"]>[number] {
  const shards = answers.flatMap((answer) => answer.shards).filter(({ collection }) => collection === name);
  const fullest = new Map<number, number>();
  for (const { partition, objects } of shards) {
    fullest.set(partition, Math.max(objects, fullest.get(partition) ?? 0));
  }
  return {
    name,
    ready_shards: shards.length,
    active_partitions: fullest.size,
    total_objects: [...fullest.values()].reduce((sum, held) => sum + held, 0),
  };
}

function activeNodes(answers: readonly NodeAnswer[], checkedAt: string): NonNullable<Details["active_nodes"]> {
  return answers
    .map(({ nodeId, address, shards }) => ({
      node_id: String(nodeId),
      address,
      status: shards.length === 0 ? "idle" : "serving",
      last_heartbeat: checkedAt,
    }))
    .toSorted((one, other) => (one.node_id < other.node_id ? -1 : 1));
}

/** Counts shards. The balance needs the responses of all nodes: the mean of shards per node, divided by the maximum. */
function shardDistribution(
  running: RunningStore,
  answers: readonly NodeAnswer[],
  local: readonly AssignedPartition[],
): NonNullable<Details["shard_distribution"]> {
  const names = new Set(local.map(({ collection }) => collection));
  const counts = answers.map(({ shards }) => shards.filter(({ collection }) => names.has(collection)).length);
  const active = counts.reduce((sum, shards) => sum + shards, 0);
  const most = Math.max(0, ...counts);
  return {
    ...(isShared(running) ? {} : { total_shards: local.reduce((sum, { nodes }) => sum + nodes.length, 0) }),
    active_shards: active,
    ...(answers.length < running.members.length || most === 0
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
  const { checkedAt: _, details, ...rest } = reading;
  const collections = details?.collections_status?.map(({ total_objects: _objects, ...collection }) => collection);
  const nodes = details?.active_nodes?.map(({ last_heartbeat: _heard, ...node }) => node);
  return {
    ...rest,
    writable: details?.writable ?? null,
    missing: details?.missing_shards ?? [],
    capabilities: details?.capabilities ?? [],
    nodes: nodes ?? [],
    shards: details?.shard_distribution ?? {},
    collections: collections ?? [],
  };
}

/** The reading of a healthy store in the status: a manager that starts writes nothing before its first check. */
export function healthyReading(odgm: ClassRuntimeStatus["odgm_cluster_status"]): OdgmReading | undefined {
  if (odgm?.last_checked === undefined || odgm.writable !== true || odgm.ready !== true) return undefined;
  const { capabilities, collections_status: collections = [], active_nodes: nodes, shard_distribution: shards } = odgm;
  return {
    healthy: true,
    checkedAt: odgm.last_checked,
    details: {
      writable: true,
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(nodes === undefined ? {} : { active_nodes: nodes }),
      ...(shards === undefined ? {} : { shard_distribution: shards }),
      collections_status: collections.map(
        ({ partition_count: _partitions, replica_count: _copies, ...collection }) => collection,
      ),
    },
  };
}
