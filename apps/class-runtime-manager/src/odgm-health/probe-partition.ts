import { create } from "@bufbuild/protobuf";
import { oprcData } from "@oaas/contracts/grpc";
import { Fault, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { ShardType } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import { RESERVED_PREFIX, type NodeAnswer } from "../state-store/node-answer.ts";
import { shardsCondition, type MemberPod } from "../state-store/running-store.ts";
import type { StoreNode, StoreObjectKey } from "../state-store/store-nodes.ts";
import type { AssignedPartition } from "../state-store/store-layout.ts";

/** A node that answered. */
export interface OpenNode {
  readonly node: StoreNode;
  readonly pod: MemberPod;
  /** Whether it started with its store, so that it has nothing to catch up with. */
  readonly isNew: boolean;
  readonly answer: NodeAnswer;
}

export interface ProbeDeps {
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Time limit for one request. */
  readonly timeoutMs: number;
}

/** What a write to a partition proved. */
export interface PartitionProbe {
  readonly isAcknowledged: boolean;
  /** Nodes that are not known to have all acknowledged objects of the partition. */
  readonly behind: ReadonlySet<number>;
  /** Number of reserved objects. */
  readonly reserved: number;
}

/** A leader is often elected, and a follower has the write, within this time. */
const RETRY_MS = 500;
/** Time in which copies of type mst exchange their objects. Nothing that can be read proves it. */
const MST_EXCHANGE_MS = 60_000;
const TOKEN = "token";
/** More clusters than a store has. */
const MAX_RESERVED = 256;

/**
 * Writes a reserved object to a partition, which proves its quorum, and reads it back from nodes that started since they
 * last had all objects: a copy applies writes in their order, so that one with this write has all earlier ones.
 */
export async function probePartition(
  partition: AssignedPartition,
  id: string,
  holders: readonly OpenNode[],
  deps: ProbeDeps,
  signal: AbortSignal,
): Promise<PartitionProbe> {
  const key: StoreObjectKey = { collection: partition.collection, partition: partition.partition, id };
  const token = deps.ambient.ids.uuid();
  const isAcknowledged = await isWriteAcknowledged(key, token, holders, deps, signal);
  const unproven = holders.filter(({ pod }) => isReplicated(partition) && shardsCondition(pod) !== "True");
  const current = await Promise.all(
    unproven.map(async (holder) => isAcknowledged && (await hasCaughtUp(partition, key, token, holder, deps, signal))),
  );
  return {
    isAcknowledged,
    behind: new Set(unproven.filter((_, index) => current[index] !== true).map(({ answer }) => answer.nodeId)),
    reserved: isAcknowledged ? await countReserved(key, holders, deps, signal) : 0,
  };
}

function isReplicated({ shardType }: AssignedPartition): boolean {
  return shardType === ShardType.raft || shardType === ShardType.mst;
}

/** Asks each node that has the partition, then all of them once more. */
async function isWriteAcknowledged(
  key: StoreObjectKey,
  token: string,
  holders: readonly OpenNode[],
  { ambient, logger, timeoutMs }: ProbeDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const object = create(oprcData.ObjDataSchema, { entries: { [TOKEN]: { data: Buffer.from(token) } } });
  for (let attempt = 0; attempt < 2 && !signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(ambient.timers, RETRY_MS, signal).catch(() => undefined);
    for (const { node, answer } of holders) {
      if (signal.aborted) return false;
      try {
        using deadline = startDeadline(ambient, timeoutMs, signal);
        await node.set(key, object, deadline.signal);
        return true;
      } catch (thrown) {
        const at = { collection: key.collection, partition: key.partition, node_id: answer.nodeId };
        logger.debug("write to state store failed", { ...at, fault: Fault.from(thrown) });
      }
    }
  }
  return false;
}

async function hasCaughtUp(
  { shardType }: AssignedPartition,
  key: StoreObjectKey,
  token: string,
  { node, pod, isNew }: OpenNode,
  { ambient, timeoutMs }: ProbeDeps,
  signal: AbortSignal,
): Promise<boolean> {
  if (shardType === ShardType.mst)
    return isNew || ambient.clock.now() - (pod.startedAtMs ?? ambient.clock.now()) >= MST_EXCHANGE_MS;
  for (let attempt = 0; attempt < 2 && !signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(ambient.timers, RETRY_MS, signal).catch(() => undefined);
    using deadline = startDeadline(ambient, timeoutMs, signal);
    const copy = await node.get(key, deadline.signal).catch(() => undefined);
    if (copy !== undefined && Buffer.from(copy.entries[TOKEN]?.data ?? []).toString() === token) return true;
  }
  return false;
}

/** Counts the reserved objects of all clusters. One that is not counted is shown as an object of the class. */
async function countReserved(
  { collection, partition }: StoreObjectKey,
  holders: readonly OpenNode[],
  { ambient, timeoutMs }: ProbeDeps,
  signal: AbortSignal,
): Promise<number> {
  for (const { node } of holders) {
    using deadline = startDeadline(ambient, timeoutMs, signal);
    const request = { collection, partition, prefix: RESERVED_PREFIX, limit: MAX_RESERVED };
    const page = await node.list(request, deadline.signal).catch(() => undefined);
    if (page !== undefined) return page.objects.length;
  }
  return 1;
}
