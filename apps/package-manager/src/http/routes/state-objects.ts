import { HEADERS, OBJECT_BYTES, omitUndefined } from "@oaas/contracts/rest";
import { invalidArgument, notFound } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { StateEntries, StateObjectAddress } from "../../ports.ts";
import type { StateCall, StateObjects } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpReply } from "../handler.ts";
import { entryFromWire, entryToWire } from "../presenters/state-entry.ts";
import { clusterIn, type Parameters as PathParameters } from "./parameters.ts";

/** Handlers of the objects of deployments. */
export function stateObjectHandlers(state: StateObjects): HandlersOf<"objects"> {
  return {
    listStateCollections: async ({ parameters }) => {
      const collections = await state.collections(keyIn(parameters));
      return json(
        collections.map(({ name, partitionCount, replicaCount, shardType, clusters }) => ({
          name,
          partition_count: partitionCount,
          replica_count: replicaCount,
          shard_type: shardType ?? null,
          clusters,
        })),
      );
    },
    listStateObjects: async ({ parameters, query, call }) => {
      const { collection, partition, prefix, fresh = false, limit, page_token: pageToken } = query;
      const asked = omitUndefined({ collection, partition, prefix, limit, pageToken, cluster: clusterIn(query) });
      const { objects, next } = await state.list(keyIn(parameters), { ...asked, fresh }, call.signal);
      return json(
        objects.map((each) => ({
          collection: each.collection,
          partition: each.partition,
          id: each.objectId,
          version: each.version,
          entry_count: each.entryCount,
        })),
        next === undefined ? {} : { [HEADERS.nextPageToken]: next },
      );
    },
    getStateObject: async ({ parameters, query, call }) => {
      const address = addressIn(parameters);
      const found = await state.get(keyIn(parameters), address, callOf(query, call));
      const entries = Object.fromEntries([...found.entries].map(([key, entry]) => [key, entryToWire(entry)]));
      return json({ ...addressToWire(address), version: found.version, cluster: found.cluster, entries });
    },
    setStateObject: async ({ parameters, query, body, call }) => {
      const address = addressIn(parameters);
      const entries = new Map(Object.entries(body.entries).map(([key, entry]) => [key, entryFromWire(entry)]));
      rejectTooLarge(entries);
      return written(address, await state.set(keyIn(parameters), address, entries, callOf(query, call)));
    },
    deleteStateObject: async ({ parameters, query, call }) => {
      const address = addressIn(parameters);
      return written(address, await state.delete(keyIn(parameters), address, callOf(query, call)));
    },
  };
}

function written(address: StateObjectAddress, cluster: ClusterName): HttpReply {
  return json({ ...addressToWire(address), cluster });
}

function addressToWire({ collection, partition, objectId }: StateObjectAddress) {
  return { collection, partition, id: objectId };
}

function callOf(query: Parameters<typeof clusterIn>[0], { signal }: { readonly signal: AbortSignal }): StateCall {
  return omitUndefined({ cluster: clusterIn(query), signal });
}

function keyIn(parameters: PathParameters): DeploymentKey {
  return parameters["key"] as DeploymentKey;
}

/** A partition that is not a number does not exist. */
function addressIn({ collection = "", partition = "", object = "" }: PathParameters): StateObjectAddress {
  if (!/^(?:0|[1-9]\d{0,8})$/.test(partition)) throw notFound("partition", partition);
  return { collection, partition: Number(partition), objectId: object };
}

function rejectTooLarge(entries: StateEntries): void {
  const bytes = [...entries].reduce((sum, [key, { data }]) => sum + Buffer.byteLength(key) + data.length, 0);
  if (bytes <= OBJECT_BYTES) return;
  throw invalidArgument("the body", [
    { path: "$.entries", message: `have ${bytes} bytes`, fix: `use at most ${OBJECT_BYTES}, or several objects` },
  ]);
}
