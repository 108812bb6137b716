import { create } from "@bufbuild/protobuf";
import { oprcData, readObjectPage, storeCapabilities } from "@oaas/contracts/grpc";
import { isFault, unavailable, type Clock } from "@oaas/foundation";
import { formatObjectKey, type ObjectKey } from "@oaas/kube-core";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { ODGM_PORT } from "../odgm/plan/odgm-plan.ts";
import { isShardAbsent } from "../state-store/shard-absent.ts";
import type { StoreNode, StoreNodeResolver, StoreNodes, StoreObjectKey } from "../state-store/store-nodes.ts";

const PEER = "the state store";

/** Connects to the nodes of state stores over their gRPC API. */
export function createStoreNodes(resolve: StoreNodeResolver, clock: Clock, deadlineMs: number): StoreNodes {
  return {
    open: async (pod: ObjectKey) => {
      const address = await resolve(pod);
      if (address === undefined) throw unavailable(PEER, `pod ${formatObjectKey(pod)} has no address`);
      // One connection per use: thousands of idle connections would cost more.
      return storeNode(address, new RpcChannel({ name: PEER, address, clock, deadlineMs }), deadlineMs);
    },
  };
}

function storeNode(address: string, channel: RpcChannel, deadlineMs: number): StoreNode {
  const client = channel.client(oprcData.DataService);
  return {
    address,
    shards: async (signal) => {
      const { shards } = await client.stats({}, { signal });
      return shards.map(({ collection, partitionId, shardId, count }) => ({
        collection,
        partition: partitionId,
        shard: Number(shardId),
        objects: Number(count),
      }));
    },
    capabilities: (signal) =>
      client.capabilities({}, { signal }).then(storeCapabilities, (thrown: unknown) => {
        if (isFault(thrown, "unimplemented")) return undefined;
        throw thrown;
      }),
    ...objectOperations(client, deadlineMs),
    close: () => channel.close(),
  };
}

type ObjectOperations = Pick<StoreNode, "list" | "get" | "set" | "delete">;

function objectOperations(client: RpcClient<typeof oprcData.DataService>, deadlineMs: number): ObjectOperations {
  return {
    list: async ({ collection, partition, prefix, limit, cursor }, signal) => {
      const request = {
        clsId: collection,
        partitionId: partition,
        limit,
        ...(prefix === undefined ? {} : { objectIdPrefix: prefix }),
        ...(cursor === undefined ? {} : { cursor }),
      };
      return readObjectPage(client.listObjects(request, { signal, deadlineMs }));
    },
    get: async (key, signal) => {
      try {
        const { obj } = await client.get(singleObject(key), { signal });
        return obj;
      } catch (thrown) {
        if (isFault(thrown, "not-found") && !isShardAbsent(thrown)) return undefined;
        throw thrown;
      }
    },
    set: async (key, object, signal) => {
      const request = {
        ...singleObject(key),
        object: { ...object, metadata: create(oprcData.ObjMetaSchema, singleObject(key)) },
      };
      await client.set(request, { signal });
    },
    delete: async (key, signal) => {
      await client.delete(singleObject(key), { signal });
    },
  };
}

function singleObject({ collection, partition, id }: StoreObjectKey) {
  return { clsId: collection, partitionId: partition, objectId: id };
}

/** Resolves a node by the address of its pod, without a request. */
export function podAddressResolver(ipOf: (pod: ObjectKey) => string | undefined): StoreNodeResolver {
  return (pod) => {
    const ip = ipOf(pod);
    return ip === undefined ? undefined : `${ip.includes(":") ? `[${ip}]` : ip}:${ODGM_PORT}`;
  };
}
