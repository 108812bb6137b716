import { oprcData } from "@oaas/contracts/grpc";
import { invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import { bindService, type BoundService } from "@oaas/rpc";
import type { Entries, ObjectKey, StoredObject, StoreNode, Value } from "../index.ts";

/** The gRPC API of one node. */
export function dataService(node: StoreNode): BoundService {
  return bindService(oprcData.DataService, {
    get: async (request) => ({ obj: toWire(request, await node.get(keyOf(request))) }),
    set: async (request) => {
      await node.set(keyOf(request), entriesOf(request));
      return {};
    },
    merge: async (request) => ({ obj: toWire(request, await node.merge(keyOf(request), entriesOf(request))) }),
    delete: async (request) => {
      await node.delete(keyOf(request));
      return {};
    },
    getValue: async (request) => {
      const { value, version } = await node.getValue(keyOf(request), request.key ?? "");
      return {
        ...(value && { value: valueToWire(value) }),
        ...(version !== undefined && { objectVersion: version }),
        key: request.key ?? "",
      };
    },
    setValue: async (request) => {
      await node.setValue(keyOf(request), request.key ?? "", valueFromWire(request.value ?? required("value")));
      return {};
    },
    deleteValue: async (request) => {
      await node.deleteValue(keyOf(request), request.key ?? "");
      return {};
    },
    batchSetValues: async (request) => {
      const { values, deleteKeys, expectedObjectVersion } = request;
      await node.batchSetValues(keyOf(request), {
        values: entriesFromWire(values),
        deleteKeys,
        expectedVersion: expectedObjectVersion,
      });
      return {};
    },
    listObjects: (request) => listObjects(node, request),
    listValues: (request) => listValues(node, request),
    stats: async () => ({
      shards: (await node.stats()).map(({ collection, partition, shard, count }) => ({
        collection,
        partitionId: partition,
        shardId: BigInt(shard),
        count: BigInt(count),
      })),
    }),
    capabilities: async () => ({ stringIds: true, stringEntryKeys: true, granularEntryStorage: true }),
  });
}

async function* listObjects(node: StoreNode, request: oprcData.ListObjectsRequest) {
  const { clsId, partitionId, objectIdPrefix: prefix, limit, cursor } = request;
  const { items, nextCursor } = await node.listObjects(clsId, partitionId, { prefix, limit, cursor });
  for (const [index, [objectId, { version, entries }]] of items.entries()) {
    const isLast = index === items.length - 1;
    yield { objectId, version, entryCount: BigInt(entries.size), ...(isLast && nextCursor && { nextCursor }) };
  }
}

async function* listValues(node: StoreNode, request: oprcData.ListValuesRequest) {
  const { keyPrefix: prefix, limit, cursor } = request;
  const { items, nextCursor, version } = await node.listValues(keyOf(request), { prefix, limit, cursor });
  for (const [index, [key, value]] of items.entries()) {
    yield { key, value: valueToWire(value), version, ...(index === items.length - 1 && nextCursor && { nextCursor }) };
  }
}

interface WireKey {
  readonly clsId: string;
  readonly partitionId: number;
  readonly objectId?: string | undefined;
}

function keyOf({ clsId, partitionId, objectId = "" }: WireKey): ObjectKey {
  return { collection: clsId, partition: partitionId, id: objectId };
}

function entriesOf({ object }: oprcData.SetObjectRequest): Entries {
  return entriesFromWire((object ?? required("object")).entries);
}

/** Without triggers: they are not returned (T12). */
function toWire({ clsId, partitionId, objectId = "" }: WireKey, { entries }: StoredObject) {
  return {
    metadata: { clsId, partitionId, objectId: objectId.toLowerCase() },
    entries: Object.fromEntries([...entries].map(([key, value]) => [key, valueToWire(value)])),
  };
}

function valueToWire({ data, type }: Value): { data: Uint8Array; type: oprcData.ValType } {
  return { data, type: type as oprcData.ValType };
}

/** A copy: a view would keep the whole request in memory. */
function valueFromWire({ data, type }: Value): Value {
  return { data: Uint8Array.from(data), type };
}

function entriesFromWire(entries: Readonly<Record<string, Value>>): Entries {
  return new Map(Object.entries(entries).map(([key, value]) => [key, valueFromWire(value)]));
}

function required(field: string): never {
  throw invalidArgument("the request", [{ path: pathOf(ROOT_PATH, field), message: "is missing" }]);
}
