import { oprcData, readObjectPage, storeCapabilities } from "@oaas/contracts/grpc";
import { realClock } from "@oaas/foundation/real";
import { RpcChannel } from "@oaas/rpc";
import type { StoreConnection, StoreEntries, StoreKey } from "../state-store/store-client.ts";

const DEADLINE_MS = 10_000;

/** Connects to the gRPC API of a node of a state store, without TLS, as nodes serve it. */
export function connectStore(address: string): StoreConnection {
  const channel = new RpcChannel({ name: address, address, clock: realClock, deadlineMs: DEADLINE_MS });
  const client = channel.client(oprcData.DataService);
  return {
    shards: async () =>
      (await client.stats({})).shards.map(({ collection, partitionId, shardId, count }) => ({
        collection,
        partition: partitionId,
        shard: shardId,
        objects: count,
      })),
    capabilities: async () => storeCapabilities(await client.capabilities({})),
    get: async (key) => fromWire((await client.get(wireKey(key))).obj),
    set: async (key, entries) => void (await client.set({ ...wireKey(key), object: toWire(entries) })),
    merge: async (key, entries) => fromWire((await client.merge({ ...wireKey(key), object: toWire(entries) })).obj),
    delete: async (key) => void (await client.delete(wireKey(key))),
    getValue: async (key, entry) => {
      const { value, objectVersion } = await client.getValue({ ...wireKey(key), key: entry });
      return { value: value?.data, version: objectVersion };
    },
    setValue: async (key, entry, data) => {
      await client.setValue({ ...wireKey(key), key: entry, value: { data } });
    },
    deleteValue: async (key, entry) => void (await client.deleteValue({ ...wireKey(key), key: entry })),
    batchSetValues: async (key, { values, deleteKeys, expectedVersion }) => {
      const request = { ...toWire(values), deleteKeys: [...deleteKeys], expectedObjectVersion: expectedVersion };
      await client.batchSetValues({ ...wireKey(key), ...request, values: request.entries });
    },
    list: async (collection, partition, { prefix, limit, cursor }) => {
      const request = { clsId: collection, partitionId: partition, objectIdPrefix: prefix, limit };
      const options = { deadlineMs: DEADLINE_MS };
      return readObjectPage(client.listObjects({ ...request, ...(cursor && { cursor }) }, options));
    },
    close: () => channel.close(),
  };
}

function wireKey({ collection, partition, id }: StoreKey) {
  return { clsId: collection, partitionId: partition, objectId: id };
}

function toWire(entries: StoreEntries) {
  return { entries: Object.fromEntries(Object.entries(entries).map(([key, data]) => [key, { data }])) };
}

function fromWire(object: oprcData.ObjData | undefined): StoreEntries {
  return Object.fromEntries(Object.entries(object?.entries ?? {}).map(([key, { data }]) => [key, data]));
}
