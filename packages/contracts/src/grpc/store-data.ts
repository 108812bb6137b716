import type { CapabilitiesResponse, ObjectMetaEnvelope } from "../gen/oprc-data_pb.ts";

/** One page of the objects of a partition, without their entries. */
export interface ObjectPage {
  readonly objects: readonly { readonly id: string; readonly version: bigint; readonly entryCount: bigint }[];
  /** Absent on the last page. */
  readonly cursor?: Uint8Array;
}

/** Reads the answer to ListObjects. An envelope without an object id carries only the cursor of the next page. */
export async function readObjectPage(envelopes: AsyncIterable<ObjectMetaEnvelope>): Promise<ObjectPage> {
  const objects = [];
  let cursor: Uint8Array | undefined;
  for await (const { objectId: id, version, entryCount, nextCursor } of envelopes) {
    if (id !== "") objects.push({ id, version, entryCount });
    cursor = nextCursor;
  }
  return { objects, ...(cursor === undefined || cursor.length === 0 ? {} : { cursor }) };
}

/** The names of the capabilities that a state store has. */
export function storeCapabilities({
  stringIds,
  stringEntryKeys,
  granularEntryStorage,
  eventPipelineV2,
}: CapabilitiesResponse): readonly string[] {
  const flags = {
    string_ids: stringIds,
    string_entry_keys: stringEntryKeys,
    granular_entry_storage: granularEntryStorage,
    event_pipeline_v2: eventPipelineV2,
  };
  return Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [name] : []));
}
