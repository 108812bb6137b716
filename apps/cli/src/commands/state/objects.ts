import { notFound } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { tableText } from "../../output/table.ts";
import { confirm, type Session } from "../../session/session.ts";
import { findCollection } from "./collections.ts";
import { readEntries } from "./read-entries.ts";

interface PlaceFlags {
  readonly collection?: string;
  readonly partition?: number;
  readonly cluster?: string;
}

interface ListFlags extends PlaceFlags {
  readonly prefix?: string;
  readonly limit?: number;
}

type Listed = Reply<"listStateObjects">["value"][number];

/** Objects that are listed without `--limit`. */
const DEFAULT_LIMIT = 1000;
const PAGE = 1000;

export async function listObjects(session: Session, flags: ListFlags, key: string): Promise<void> {
  const { limit = DEFAULT_LIMIT, collection, partition, prefix, cluster } = flags;
  const wanted = limit === 0 ? Infinity : limit;
  const objects: Listed[] = [];
  let token: string | null = null;
  do {
    const size = Math.min(PAGE, wanted - objects.length);
    const query = {
      collection,
      partition,
      prefix,
      cluster,
      limit: size,
      ...(token === null ? {} : { page_token: token }),
    };
    const page: Reply<"listStateObjects"> = await session.call("listStateObjects", { parameters: { key }, query });
    objects.push(...page.value);
    token = page.nextPageToken;
  } while (token !== null && objects.length < wanted);
  session.printList(objects, {
    kind: "object",
    nameOf: placeText,
    columns: [
      { header: "COLLECTION", isWide: true, cell: (each) => each.collection },
      { header: "PARTITION", cell: (each) => String(each.partition) },
      { header: "ID", cell: ({ id }) => id },
      { header: "ENTRIES", cell: ({ entry_count: entries }) => String(entries) },
      { header: "VERSION", cell: ({ version }) => String(version) },
    ],
  });
  if (token !== null) session.printNote(`There are more objects: --limit 0 shows all, --prefix filters.\n`);
}

export async function getObject(session: Session, flags: PlaceFlags, key: string, id: string): Promise<void> {
  const parameters = await addressOf(session, flags, key, id, "existing");
  const { value } = await session.call("getStateObject", { parameters, query: { cluster: flags.cluster } });
  session.printItem(value, { kind: "object", nameOf: placeText, columns: [] }, () => objectText(value));
}

export async function setObject(
  session: Session,
  flags: PlaceFlags & { readonly data?: string; readonly file?: string },
  key: string,
  id: string,
): Promise<void> {
  const entries = await readEntries(session, flags);
  const parameters = await addressOf(session, flags, key, id, "any");
  const query = { cluster: flags.cluster };
  const { value } = await session.call("setStateObject", { parameters, query, body: { entries } });
  session.printOutcome({ kind: "object", name: placeText(value), result: `set in ${value.cluster}` });
}

export async function deleteObject(
  session: Session,
  flags: PlaceFlags & { readonly yes: boolean },
  key: string,
  id: string,
): Promise<ExitCode> {
  const parameters = await addressOf(session, flags, key, id, "existing");
  const { collection, partition } = parameters;
  if (!(await confirm(session, `Delete object ${id} in partition ${partition} of ${collection}`, flags.yes)))
    return EXIT.failed;
  const { value } = await session.call("deleteStateObject", { parameters, query: { cluster: flags.cluster } });
  session.printOutcome({ kind: "object", name: placeText(value), result: `deleted in ${value.cluster}` });
  return EXIT.done;
}

interface Address {
  readonly key: string;
  readonly collection: string;
  readonly partition: string;
  readonly object: string;
}

/** Finds the partition of an object when none is named. A new object in a collection with several needs a name. */
async function addressOf(
  session: Session,
  flags: PlaceFlags,
  key: string,
  id: string,
  which: "existing" | "any",
): Promise<Address & Record<string, string>> {
  const collection = await findCollection(session, key, flags.collection);
  const address = { key, collection: collection.name, object: id };
  if (flags.partition !== undefined) return { ...address, partition: String(flags.partition) };
  if (collection.partitions === 1) return { ...address, partition: "0" };
  const found = await partitionsWith(session, { key, collection: collection.name, id, cluster: flags.cluster });
  const [only] = found;
  if (found.length === 1) return { ...address, partition: String(only) };
  const last = collection.partitions - 1;
  if (found.length > 1)
    throw new UsageError(`"${id}" exists in partitions ${found.join(", ")}`, "name one with --partition");
  if (which === "existing") throw notFound("object", id);
  throw new UsageError(`"${id}" does not exist yet`, `name its partition with --partition: 0 to ${last}`);
}

/** The partitions that have an object with this id. */
async function partitionsWith(
  session: Session,
  { key, collection, id, cluster }: { key: string; collection: string; id: string; cluster: string | undefined },
): Promise<readonly number[]> {
  const partitions: number[] = [];
  let token: string | null = null;
  do {
    const query = { collection, prefix: id, cluster, limit: PAGE, ...(token === null ? {} : { page_token: token }) };
    const page: Reply<"listStateObjects"> = await session.call("listStateObjects", { parameters: { key }, query });
    partitions.push(...page.value.filter((each) => each.id === id).map(({ partition }) => partition));
    token = page.nextPageToken;
  } while (token !== null);
  return partitions;
}

function placeText({ collection, partition, id }: Pick<Listed, "collection" | "partition" | "id">): string {
  return `${collection}/${partition}/${id}`;
}

type StoredObject = Reply<"getStateObject">["value"];

function objectText(object: StoredObject): string {
  const { version, cluster, entries } = object;
  const head = `${placeText(object)}  version ${version}, read in ${cluster}\n\n`;
  const rows = Object.entries(entries);
  if (rows.length === 0) return `${head}No entries.\n`;
  return (
    head +
    tableText(rows, [
      { header: "KEY", cell: ([key]) => key },
      { header: "FORM", cell: ([, entry]) => formOf(entry) },
      { header: "VALUE", cell: ([, entry]) => valueText(entry) },
    ])
  );
}

type Entry = StoredObject["entries"][string];

function formOf({ text, base64, type }: Entry): string {
  const form = base64 !== undefined ? "base64" : text === undefined ? "json" : "text";
  return type === undefined ? form : `${form}, ${type}`;
}

function valueText({ json, text, base64 }: Entry): string {
  return base64 ?? text ?? JSON.stringify(json);
}
