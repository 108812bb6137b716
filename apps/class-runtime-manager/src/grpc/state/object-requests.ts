import type { ListStateObjectsRequest, oprcData } from "@oaas/contracts/grpc";
import { failedPrecondition, invalidArgument, notFound, type Violation } from "@oaas/foundation";
import { isReservedObject } from "../../state-store/node-answer.ts";
import type { AssignedPartition, StoreLayout } from "../../state-store/store-layout.ts";

/** State stores accept messages of 4 MiB. */
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
const MAX_PAGE = 1000;
const DEFAULT_PAGE = 100;
/** Ids of objects and keys of entries. The store keeps others in lower case, so that they could not be found again. */
const STORE_ID = /^[a-z0-9._:-]{1,160}$/;
const STORE_ID_FIX = "use 1 to 160 of a-z, 0-9, '.', '_', ':' and '-'";

/** The names in a request about a partition. */
export interface PartitionRequest {
  readonly collection?: string | undefined;
  readonly partition: number;
}

/** The partition of a request; the collection is the only one unless the request names it. */
export function partitionIn(layout: StoreLayout, request: PartitionRequest): AssignedPartition {
  const names = [...new Set(layout.partitions.map(({ collection }) => collection))];
  const { collection = names.length === 1 ? names[0] : undefined } = request;
  if (collection === undefined) {
    throw invalid({ path: "$.collection", message: "is missing", fix: `use one of ${names.join(", ")}` });
  }
  const partitions = layout.partitions.filter((each) => each.collection === collection);
  if (partitions.length === 0) throw notFound("collection", collection);
  const found = partitions.find(({ partition }) => partition === request.partition);
  if (found !== undefined) return found;
  const fix = `use 0 to ${partitions.length - 1}`;
  throw invalid({ path: "$.partition", message: `${request.partition} does not exist`, fix });
}

/** The page size of a list. */
export function pageSizeIn({ limit = DEFAULT_PAGE }: ListStateObjectsRequest): number {
  if (limit >= 1 && limit <= MAX_PAGE) return limit;
  throw invalid({ path: "$.limit", message: `is ${limit}`, fix: `use 1 to ${MAX_PAGE}` });
}

/** The id of an object to read. An object of the platform does not exist for callers. */
export function readIdIn(id: string): string {
  assertStoreId(id);
  if (isReservedObject(id)) throw notFound("object", id);
  return id;
}

/** The id of an object to change. */
export function writeIdIn(id: string): string {
  assertStoreId(id);
  if (!isReservedObject(id)) return id;
  throw failedPrecondition(`object "${id}"`, `object "${id}" belongs to the platform; choose another id`);
}

function assertStoreId(id: string): void {
  if (STORE_ID.test(id)) return;
  throw invalid({ path: "$.object_id", message: `"${id}" is not an id of the state store`, fix: STORE_ID_FIX });
}

/** The entries to store. */
export function entriesIn(object: oprcData.ObjData | undefined): oprcData.ObjData["entries"] {
  const entries = object?.entries ?? {};
  const violations = Object.keys(entries)
    .filter((key) => !STORE_ID.test(key))
    .map((key) => ({ path: "$.object.entries", message: `"${key}" is not a key`, fix: STORE_ID_FIX }));
  const bytes = Object.entries(entries).reduce((sum, [key, { data }]) => sum + key.length + data.length, 0);
  if (bytes > MAX_OBJECT_BYTES) {
    const fix = `use at most ${MAX_OBJECT_BYTES}, or several objects`;
    violations.push({ path: "$.object.entries", message: `have ${bytes} bytes`, fix });
  }
  if (violations.length > 0) throw invalidArgument("the request", violations);
  return entries;
}

function invalid(violation: Violation): Error {
  return invalidArgument("the request", [violation]);
}
