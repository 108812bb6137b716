import { sha256Hex } from "@oaas/foundation/hash";
import {
  endLine,
  headerLine,
  objectLine,
  parseBackupLine,
  type BackupHeader,
  type BackupLine,
} from "./backup-lines.ts";
import type { FileReplacement } from "../process-environment.ts";
import { comparePlaces } from "./object-streams.ts";
import type { CollectionLayout, ListedObject, ObjectContent, Place, StateSource } from "./stored-state.ts";

export interface BackupOptions {
  readonly collections: readonly CollectionLayout[];
  readonly createdAt: string;
  readonly concurrency: number;
  readonly maxPasses: number;
  readonly open: () => FileReplacement;
  readonly onPass?: (pass: number, expected: number) => void;
  readonly onObject?: (pass: number, objects: number) => void;
}

export interface BackupResult {
  readonly outcome: "equal" | "changing";
  readonly passes: number;
  readonly objects: number;
}

/**
 * Writes all objects to a file. The file is replaced only by a complete backup, of which no version in the source changed
 * until it was written; otherwise it stays as it was.
 */
export async function backupState(source: StateSource, options: BackupOptions): Promise<BackupResult> {
  let objects = 0;
  for (let pass = 1; pass <= options.maxPasses; pass += 1) {
    options.onPass?.(pass, objects);
    const file = options.open();
    try {
      const written = await writeBackup(source, file, options, (count) => options.onObject?.(pass, count));
      objects = written.objects;
      if (written.changed === 0 && written.digest === (await digestOf(source, options.collections))) {
        file.commit();
        return { outcome: "equal", passes: pass, objects };
      }
    } catch (thrown) {
      file.discard();
      throw thrown;
    }
    file.discard();
  }
  return { outcome: "changing", passes: options.maxPasses, objects };
}

async function writeBackup(
  source: StateSource,
  file: FileReplacement,
  { collections, createdAt, concurrency }: BackupOptions,
  onObject: (count: number) => void,
): Promise<{ readonly objects: number; readonly changed: number; readonly digest: string }> {
  file.write(headerLine({ deployment: source.name, createdAt, collections }));
  const counts: Record<string, number> = {};
  let [objects, changed, digest] = [0, 0, ""];
  for (const { name: collection } of collections) {
    counts[collection] = 0;
    for await (const [{ id, partition, version }, content] of readAhead(source.objects(collection), concurrency)) {
      digest = addToDigest(digest, collection, { id, partition, version });
      if (content?.version !== version) changed += 1;
      if (content === undefined) continue;
      file.write(objectLine({ collection, partition, id, ...content }));
      counts[collection] += 1;
      objects += 1;
      onObject(objects);
    }
  }
  file.write(endLine(counts));
  return { objects, changed, digest };
}

async function digestOf(source: StateSource, collections: readonly CollectionLayout[]): Promise<string> {
  let digest = "";
  for (const { name } of collections)
    for await (const object of source.objects(name)) digest = addToDigest(digest, name, object);
  return digest;
}

function addToDigest(
  digest: string,
  collection: string,
  { id, partition, version }: Place & { readonly version: number },
) {
  return sha256Hex(`${digest}\n${JSON.stringify([collection, id, partition, version])}`);
}

type ReadObject = readonly [ListedObject, ObjectContent | undefined];

/** Reads the contents of some objects at the same time, and yields them in order. */
async function* readAhead(objects: AsyncIterable<ListedObject>, concurrency: number): AsyncGenerator<ReadObject> {
  const reading: Promise<ReadObject>[] = [];
  try {
    for await (const object of objects) {
      const content = object.read().then((found) => [object, found] as const);
      // A failure counts when its turn comes.
      content.catch(() => undefined);
      reading.push(content);
      const first = reading.length >= concurrency ? reading.shift() : undefined;
      if (first !== undefined) yield await first;
    }
    for (let first = reading.shift(); first !== undefined; first = reading.shift()) yield await first;
  } finally {
    await Promise.allSettled(reading);
  }
}

/** Reads a backup as a source. `fail` makes the error of a line that is not valid. */
export async function openBackup(
  lines: () => AsyncIterable<string>,
  fail: (line: number, problem: string) => Error,
): Promise<StateSource & { readonly header: BackupHeader }> {
  const [first] = await takeLines(lines(), 1);
  const parsed = parseBackupLine(first ?? "");
  if (typeof parsed === "string") throw fail(1, parsed);
  if (parsed.kind !== "header") throw fail(1, "is not the header of a backup");
  const { header } = parsed;
  return {
    header,
    name: header.deployment,
    collections: header.collections,
    objects: (collection) => readObjects(lines(), collection, fail),
  };
}

async function takeLines(lines: AsyncIterable<string>, count: number): Promise<readonly string[]> {
  const taken: string[] = [];
  for await (const line of lines) if (taken.push(line) >= count) break;
  return taken;
}

/** The objects of one collection; checks the order and the counts of the file. */
async function* readObjects(
  lines: AsyncIterable<string>,
  collection: string,
  fail: (line: number, problem: string) => Error,
): AsyncGenerator<ListedObject> {
  let [number, count] = [0, 0];
  let previous: Place | undefined;
  let end: (BackupLine & { readonly kind: "end" }) | undefined;
  for await (const text of lines) {
    number += 1;
    const parsed = parseBackupLine(text);
    if (typeof parsed === "string") throw fail(number, parsed);
    if (end !== undefined) throw fail(number, "comes after the end of the backup");
    if (parsed.kind === "end") end = parsed;
    if (parsed.kind !== "object" || parsed.object.collection !== collection) continue;
    const { id, partition, version, entries } = parsed.object;
    if (previous !== undefined && comparePlaces(previous, { id, partition }) >= 0)
      throw fail(number, `is not in order: "${id}" comes after "${previous.id}"`);
    previous = { id, partition };
    count += 1;
    yield { id, partition, version, read: async () => ({ version, entries }) };
  }
  if (end === undefined) throw fail(number + 1, "is missing: the backup is not complete");
  const expected = end.counts[collection] ?? 0;
  if (count !== expected) throw fail(number, `says ${expected} objects of ${collection}, but the file has ${count}`);
}
