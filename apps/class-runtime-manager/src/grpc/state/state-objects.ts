import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  oprcData,
  type GetStateObjectRequest,
  type GetStateObjectResponseSchema,
  type DeleteStateObjectRequest,
  type ListStateObjectsRequest,
  type ListStateObjectsResponseSchema,
  type SetStateObjectRequest,
} from "@oaas/contracts/grpc";
import { failedPrecondition, Fault, isFault, notFound, sleep, unavailable, type Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { isReservedObject, RESERVED_PREFIX } from "../../state-store/node-answer.ts";
import { readRunningStore, type RunningStore } from "../../state-store/running-store.ts";
import { isShardAbsent } from "../../state-store/shard-absent.ts";
import type { AssignedPartition } from "../../state-store/store-layout.ts";
import type { StoreNode, StoreNodes, StoreObjectKey } from "../../state-store/store-nodes.ts";
import { ownerLabelValue } from "../../templates/index.ts";
import { entriesIn, pageSizeIn, partitionIn, readIdIn, writeIdIn, type PartitionRequest } from "./object-requests.ts";
import { partitionHolders } from "./partition-holders.ts";

/** Dependencies of calls about objects. */
export interface StateObjectDeps {
  readonly ambient: Ambient;
  readonly nodes: StoreNodes;
  /** The objects with the owner reference of a class, from the cache. */
  readonly childrenOf: (uid: string) => readonly KubeObject[];
  readonly podsOf: (namespace: string, ownerLabel: string) => readonly Pod[];
}

/** How often a node is asked whether it has applied a write. */
const APPLIED_POLL_MS = 20;

/** One page of the objects of a partition, without those of the platform. */
export async function listObjects(
  object: StoredClass,
  request: ListStateObjectsRequest,
  deps: StateObjectDeps,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof ListStateObjectsResponseSchema>> {
  const store = storeOf(object, deps);
  const at = partitionIn(store.layout, request);
  const limit = pageSizeIn(request);
  const { prefix, pageToken: cursor } = request;
  const asked = {
    ...at,
    limit,
    ...(prefix === undefined ? {} : { prefix }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  const page = await askHolders(object, store, at, deps, async (node) => {
    if (request.fresh) await applyEarlierWrites(node, at, deps.ambient, signal);
    return node.list(asked, signal);
  });
  return {
    objects: page.objects
      .filter(({ id }) => !isReservedObject(id))
      .map(({ id, version, entryCount }) => ({ objectId: id, version, entryCount })),
    ...(page.cursor === undefined ? {} : { nextPageToken: page.cursor }),
    collection: at.collection,
    partitionCount: store.layout.partitions.filter(({ collection }) => collection === at.collection).length,
  };
}

/** An object with a version that its entries have at least: the version is read first. */
export async function getObject(
  object: StoredClass,
  request: GetStateObjectRequest,
  deps: StateObjectDeps,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof GetStateObjectResponseSchema>> {
  const { store, at, key } = addressIn(object, request, readIdIn(request.objectId), deps);
  return askHolders(object, store, at, deps, async (node) => {
    const { objects } = await node.list({ ...at, prefix: key.id, limit: 1 }, signal);
    const found = await node.get(key, signal);
    const [listed] = objects;
    if (found === undefined) throw notFound("object", key.id);
    return { object: found, version: listed?.id === key.id ? listed.version : 0n, collection: at.collection };
  });
}

/** Replaces an object. Its triggers go. */
export async function setObject(
  object: StoredClass,
  request: SetStateObjectRequest,
  deps: StateObjectDeps,
  signal: AbortSignal,
): Promise<void> {
  const { store, at, key } = addressIn(object, request, writeIdIn(request.objectId), deps);
  const entries = entriesIn(request.object);
  const data = create(oprcData.ObjDataSchema, { entries });
  await askHolders(object, store, at, deps, async (node) => {
    // A write without entries leaves those of an existing object.
    if (Object.keys(entries).length === 0 && (await node.get(key, signal)) !== undefined)
      await node.delete(key, signal);
    await node.set(key, data, signal);
  });
}

/** Deletes an object. A store acknowledges the deletion of an absent object too, even without a quorum. */
export async function deleteObject(
  object: StoredClass,
  request: DeleteStateObjectRequest,
  deps: StateObjectDeps,
  signal: AbortSignal,
): Promise<void> {
  const { store, at, key } = addressIn(object, request, writeIdIn(request.objectId), deps);
  await askHolders(object, store, at, deps, async (node) => {
    if ((await node.get(key, signal)) === undefined) throw notFound("object", key.id);
    await node.delete(key, signal);
  });
}

function addressIn(
  object: StoredClass,
  request: PartitionRequest,
  id: string,
  deps: StateObjectDeps,
): { readonly store: RunningStore; readonly at: AssignedPartition; readonly key: StoreObjectKey } {
  const store = storeOf(object, deps);
  const at = partitionIn(store.layout, request);
  return { store, at, key: { collection: at.collection, partition: at.partition, id } };
}

function storeOf(object: StoredClass, { childrenOf, podsOf }: StateObjectDeps): RunningStore {
  const { name, namespace, uid } = object.metadata;
  const everywhere = Object.values(object.spec.odgm_config?.env_node_ids ?? {}).flat();
  const store = readRunningStore(childrenOf(uid), podsOf(namespace, ownerLabelValue(name)), everywhere);
  if (store !== undefined) return store;
  throw failedPrecondition(`class runtime "${name}"`, `class runtime "${name}" has no state store in this cluster`);
}

/** Asks the nodes that should have a partition until one has it and responds. */
async function askHolders<T>(
  { spec }: StoredClass,
  store: RunningStore,
  at: AssignedPartition,
  { nodes }: StateObjectDeps,
  work: (node: StoreNode) => Promise<T>,
): Promise<T> {
  const subject = `partition ${at.partition} of ${at.collection}`;
  const problems: string[] = [];
  for (const pod of partitionHolders(store, at, spec.odgm_config?.env_node_ids ?? {})) {
    try {
      const node = await nodes.open(pod.key);
      try {
        return await work(node);
      } finally {
        node.close();
      }
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (hasNoQuorum(fault)) throw noQuorum(subject, fault);
      if (!isShardAbsent(fault) && !fault.retryable) throw fault;
      problems.push(`${pod.key.name}: ${isShardAbsent(fault) ? "does not have it" : fault.message}`);
    }
  }
  throw unavailable("the state store", `no node of ${subject} responds (${problems.join("; ")})`);
}

function hasNoQuorum(fault: Fault): boolean {
  return !isFault(fault, "not-found") && /no leader|quorum/i.test(fault.message);
}

function noQuorum(subject: string, cause: Fault): Fault {
  return unavailable(
    "the state store",
    `${subject} has no quorum: too few of its nodes run or reach each other; nothing was written`,
    { cause },
  );
}

/**
 * Resolves when the node has applied every write that was acknowledged before: the log of a partition is ordered, so it
 * has once it returns an object that is written now. Other types than raft have no such order.
 */
async function applyEarlierWrites(
  node: StoreNode,
  { collection, partition, shardType, nodes }: AssignedPartition,
  { ids, timers }: Ambient,
  signal: AbortSignal,
): Promise<void> {
  if (shardType !== "raft" || nodes.length === 1) return;
  const key = { collection, partition, id: `${RESERVED_PREFIX}read.${ids.uuid()}` };
  await node.set(key, create(oprcData.ObjDataSchema, {}), signal);
  try {
    while ((await node.get(key, signal)) === undefined) await sleep(timers, APPLIED_POLL_MS, signal);
  } finally {
    // What stays has no entries, and lists and counts leave it out.
    await node.delete(key, signal).catch(() => undefined);
  }
}
