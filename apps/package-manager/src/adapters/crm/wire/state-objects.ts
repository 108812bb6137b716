import type { MessageInitShape } from "@bufbuild/protobuf";
import { oprcData, type ListStateObjectsRequestSchema, type ListStateObjectsResponse } from "@oaas/contracts/grpc";
import type {
  StateEntries,
  StateEntry,
  StateObjectAddress,
  StateObjectQuery,
  StateObjectSummary,
} from "../../../ports.ts";

const { ValType } = oprcData;

/** The partition, prefix and page of a list. */
export function queryToWire({
  collection,
  partition,
  prefix,
  limit,
  pageToken,
  fresh,
}: StateObjectQuery): MessageInitShape<typeof ListStateObjectsRequestSchema> {
  return {
    collection,
    partition,
    limit,
    fresh,
    ...(prefix === undefined ? {} : { prefix }),
    ...(pageToken === undefined ? {} : { pageToken }),
  };
}

export function addressToWire({ collection, partition, objectId }: StateObjectAddress) {
  return { collection, partition, objectId };
}

export function objectsFromWire({ objects, nextPageToken }: ListStateObjectsResponse): {
  readonly objects: readonly StateObjectSummary[];
  readonly next?: Uint8Array;
} {
  return {
    objects: objects.map(({ objectId, version, entryCount }) => ({
      objectId,
      version: Number(version),
      entryCount: Number(entryCount),
    })),
    ...(nextPageToken === undefined ? {} : { next: nextPageToken }),
  };
}

export function entriesFromWire(object: oprcData.ObjData | undefined): StateEntries {
  return new Map(
    Object.entries(object?.entries ?? {}).map(([key, { data, type }]): [string, StateEntry] => [
      key,
      { data, isCrdt: type === ValType.CRDT_MAP },
    ]),
  );
}

export function entriesToWire(entries: StateEntries) {
  return Object.fromEntries(
    [...entries].map(([key, { data, isCrdt }]) => [key, { data, type: isCrdt ? ValType.CRDT_MAP : ValType.BYTE }]),
  );
}
