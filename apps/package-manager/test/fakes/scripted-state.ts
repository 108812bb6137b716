import { StateStoreService, type ListStateObjectsRequest, type oprcData } from "@oaas/contracts/grpc";
import { notFound } from "@oaas/foundation";
import { bindService, type BoundService } from "@oaas/rpc";
import type { ScriptedServicesDeps } from "./scripted-services.ts";

interface StoredObject {
  readonly version: bigint;
  readonly object: oprcData.ObjData;
}

/** The state of scripted units: objects by unit, partition and id. Versions count the writes of an object. */
export function scriptedState({ units, act }: ScriptedServicesDeps): BoundService {
  const partitions = new Map<string, Map<string, StoredObject>>();
  const partitionOf = (
    unitId: string,
    { collection = "", partition }: Pick<ListStateObjectsRequest, "collection" | "partition">,
  ) => {
    if (units.get(unitId) === undefined) throw notFound("deployment", unitId);
    const key = JSON.stringify([unitId, collection, partition]);
    const found = partitions.get(key) ?? new Map<string, StoredObject>();
    partitions.set(key, found);
    return found;
  };
  const found = (objects: Map<string, StoredObject>, id: string): StoredObject => {
    const object = objects.get(id);
    if (object === undefined) throw notFound("object", id);
    return object;
  };
  const granted = new Set<string>();
  return bindService(StateStoreService, {
    // Accepts each turn of a known unit once.
    grantRestart: (request, call) =>
      act("GrantRestart", request, call, () => {
        if (units.get(request.deploymentId) === undefined) throw notFound("class runtime", request.deploymentId);
        const accepted = !granted.has(request.turnId);
        granted.add(request.turnId);
        return { accepted };
      }),
    listStateObjects: (request, call) =>
      act("ListStateObjects", request, call, () => {
        const { deploymentId, prefix = "", limit = 100, pageToken } = request;
        const after = pageToken === undefined ? "" : Buffer.from(pageToken).toString();
        const ids = [...partitionOf(deploymentId, request).entries()]
          .filter(([id]) => id.startsWith(prefix) && id > after)
          .sort(([a], [b]) => (a < b ? -1 : 1));
        const page = ids.slice(0, limit);
        return {
          objects: page.map(([objectId, { version, object }]) => ({
            objectId,
            version,
            entryCount: BigInt(Object.keys(object.entries).length),
          })),
          ...(ids.length > limit ? { nextPageToken: Buffer.from(page.at(-1)?.[0] ?? "") } : {}),
        };
      }),
    getStateObject: (request, call) =>
      act("GetStateObject", request, call, () => found(partitionOf(request.deploymentId, request), request.objectId)),
    setStateObject: (request, call) =>
      act("SetStateObject", request, call, () => {
        const objects = partitionOf(request.deploymentId, request);
        const version = (objects.get(request.objectId)?.version ?? 0n) + 1n;
        if (request.object !== undefined) objects.set(request.objectId, { version, object: request.object });
        return {};
      }),
    deleteStateObject: (request, call) =>
      act("DeleteStateObject", request, call, () => {
        const objects = partitionOf(request.deploymentId, request);
        found(objects, request.objectId);
        objects.delete(request.objectId);
        return {};
      }),
  });
}
