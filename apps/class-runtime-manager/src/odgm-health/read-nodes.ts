import { create } from "@bufbuild/protobuf";
import { oprcData } from "@oaas/contracts/grpc";
import { Fault, orAbort, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { localPartitions, type StoreAnswers } from "../state-store/assess-store.ts";
import { holds } from "../state-store/decide-restart.ts";
import type { NodeAnswer } from "../state-store/node-answer.ts";
import { isRunning, type RunningStore } from "../state-store/running-store.ts";
import type { StoreNode, StoreNodes } from "../state-store/store-nodes.ts";
import { partitionKey, type AssignedPartition } from "../state-store/store-layout.ts";

export interface ReadNodesDeps {
  readonly nodes: StoreNodes;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Time limit for one request. */
  readonly timeoutMs: number;
}

/** Writes to one store at the same time. */
const MAX_PARALLEL_WRITES = 4;
/** A leader is often elected within this time. */
const RETRY_MS = 500;

interface OpenNode {
  readonly node: StoreNode;
  readonly answer: NodeAnswer;
}

/**
 * Asks every running node for its shards, then writes one reserved object to each partition that a node here has. Nodes
 * that do not answer before the signal aborts are left out; partitions that do not acknowledge before count as failed.
 */
export async function readNodes(
  running: RunningStore,
  objectId: string,
  deps: ReadNodesDeps,
  signal: AbortSignal,
): Promise<StoreAnswers> {
  const opened = await openNodes(running, deps, signal);
  try {
    const acknowledged = new Map<string, boolean>();
    const queue = localPartitions(running).values();
    const writeQueued = async (): Promise<void> => {
      for (const partition of queue) {
        const holders = opened.filter(({ answer }) => holds(answer, partition));
        if (holders.length === 0) continue;
        acknowledged.set(partitionKey(partition), await isAcknowledged(partition, objectId, holders, deps, signal));
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL_WRITES }, writeQueued));
    return { answers: opened.map(({ answer }) => answer), acknowledged };
  } finally {
    for (const { node } of opened) node.close();
  }
}

async function openNodes(running: RunningStore, deps: ReadNodesDeps, signal: AbortSignal): Promise<OpenNode[]> {
  const opened = await Promise.all(
    running.members.filter(isRunning).map(async ({ nodeId, pod }): Promise<OpenNode | undefined> => {
      let node: StoreNode | undefined;
      try {
        using deadline = startDeadline(deps.ambient, deps.timeoutMs, signal);
        node = await orAbort(deps.nodes.open(pod.key), deadline.signal);
        const [shards, capabilities] = await Promise.all([
          node.shards(deadline.signal),
          node.capabilities(deadline.signal).catch(() => undefined),
        ]);
        const { address } = node;
        return {
          node,
          answer: { nodeId, podUid: pod.uid, address, shards, ...(capabilities === undefined ? {} : { capabilities }) },
        };
      } catch (thrown) {
        node?.close();
        deps.logger.debug("read state store node failed", { ...pod.key, node_id: nodeId, fault: Fault.from(thrown) });
        return undefined;
      }
    }),
  );
  return opened.filter((one) => one !== undefined);
}

/** Asks each node that has the partition, then all of them once more: an election takes a moment. */
async function isAcknowledged(
  { collection, partition }: AssignedPartition,
  id: string,
  holders: readonly OpenNode[],
  { ambient, logger, timeoutMs }: ReadNodesDeps,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 0; attempt < 2 && !signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(ambient.timers, RETRY_MS, signal).catch(() => undefined);
    for (const { node, answer } of holders) {
      if (signal.aborted) return false;
      try {
        using deadline = startDeadline(ambient, timeoutMs, signal);
        await node.set({ collection, partition, id }, create(oprcData.ObjDataSchema), deadline.signal);
        return true;
      } catch (thrown) {
        const at = { collection, partition, node_id: answer.nodeId };
        logger.debug("write to state store failed", { ...at, fault: Fault.from(thrown) });
      }
    }
  }
  return false;
}
