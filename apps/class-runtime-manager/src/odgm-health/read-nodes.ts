import { Fault, orAbort, startDeadline } from "@oaas/foundation";
import { localPartitions, type StoreAnswers } from "../state-store/assess-store.ts";
import { holds } from "../state-store/decide-restart.ts";
import type { NodeAnswer } from "../state-store/node-answer.ts";
import { isRunning, type RunningStore } from "../state-store/running-store.ts";
import type { StoreNode, StoreNodes } from "../state-store/store-nodes.ts";
import { partitionKey, type AssignedPartition } from "../state-store/store-layout.ts";
import { probePartition, type OpenNode, type PartitionProbe, type ProbeDeps } from "./probe-partition.ts";

export interface ReadNodesDeps extends ProbeDeps {
  readonly nodes: StoreNodes;
}

/** Writes to one store at the same time. */
const MAX_PARALLEL_WRITES = 4;
/** Nodes that start within this time of the creation of their store are its first ones. */
const FIRST_START_MS = 300_000;

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
    const probes = new Map<AssignedPartition, PartitionProbe>();
    const queue = localPartitions(running).values();
    const writeQueued = async (): Promise<void> => {
      for (const partition of queue) {
        const holders = opened.filter(({ answer }) => holds(answer, partition));
        if (holders.length === 0) continue;
        probes.set(partition, await probePartition(partition, objectId, holders, deps, signal));
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL_WRITES }, writeQueued));
    return {
      answers: opened.map(({ answer }) => withProbes(answer, probes)),
      acknowledged: new Map([...probes].map(([partition, probe]) => [partitionKey(partition), probe.isAcknowledged])),
    };
  } finally {
    for (const { node } of opened) node.close();
  }
}

/** The answer of a node without the reserved objects, and with the first partition in which it is behind. */
function withProbes(answer: NodeAnswer, probes: ReadonlyMap<AssignedPartition, PartitionProbe>): NodeAnswer {
  const reserved = new Map([...probes].map(([partition, probe]) => [partitionKey(partition), probe.reserved]));
  const shards = answer.shards.map((shard) => ({
    ...shard,
    objects: Math.max(0, shard.objects - (reserved.get(partitionKey(shard)) ?? 0)),
  }));
  const behind = [...probes].find(([, probe]) => probe.behind.has(answer.nodeId))?.[0];
  if (behind === undefined) return { ...answer, shards };
  return { ...answer, shards, behind: { collection: behind.collection, partition: behind.partition } };
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
          pod,
          isNew: (pod.startedAtMs ?? 0) - Date.parse(running.settingsCreatedAt ?? "") < FIRST_START_MS,
          answer: {
            nodeId,
            podUid: pod.uid,
            startedAtMs: pod.startedAtMs,
            address,
            shards,
            ...(capabilities === undefined ? {} : { capabilities }),
          },
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
