import type { CollectionLayout, Entries, Place } from "./stored-state.ts";

/** The first line of a backup. */
export interface BackupHeader {
  readonly deployment: string;
  readonly createdAt: string;
  readonly collections: readonly CollectionLayout[];
}

export interface BackupObject extends Place {
  readonly collection: string;
  readonly version: number;
  readonly entries: Entries;
}

/** Number of objects by collection: the last line, which proves that a backup is complete. */
export type BackupCounts = Readonly<Record<string, number>>;

export type BackupLine =
  | { readonly kind: "header"; readonly header: BackupHeader }
  | { readonly kind: "object"; readonly object: BackupObject }
  | { readonly kind: "end"; readonly counts: BackupCounts };

const FORMAT = "oaas-state";
const VERSION = 1;

export function headerLine({ deployment, createdAt, collections }: BackupHeader): string {
  return line({
    format: FORMAT,
    version: VERSION,
    deployment,
    created_at: createdAt,
    collections: collections.map(({ name, partitions }) => ({ name, partition_count: partitions })),
  });
}

export function objectLine({ collection, partition, id, version, entries }: BackupObject): string {
  return line({ collection, partition, id, version, entries });
}

export function endLine(counts: BackupCounts): string {
  return line({ end: { objects: counts } });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Reads a line; the text says why it is none. */
export function parseBackupLine(text: string): BackupLine | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  if (!isRecord(value)) return "is not an object";
  if ("format" in value) return headerOf(value);
  if (isRecord(value["end"])) return endOf(value["end"]);
  const { collection, partition, id, version, entries } = value;
  if (typeof collection !== "string" || typeof id !== "string" || !isCount(partition)) return "names no object";
  if (!isCount(version) || !isEntries(entries)) return `has no entries for "${id}"`;
  return { kind: "object", object: { collection, partition, id, version, entries } };
}

function headerOf(value: Readonly<Record<string, unknown>>): BackupLine | string {
  const { format, version, deployment, created_at: createdAt, collections } = value;
  if (format !== FORMAT) return `has the format "${String(format)}"; expected ${FORMAT}`;
  if (version !== VERSION) return `has version ${String(version)}; this command line reads version ${VERSION}`;
  if (typeof deployment !== "string" || typeof createdAt !== "string" || !Array.isArray(collections))
    return "is not a complete header";
  const layouts = (collections as readonly unknown[]).map((each) => {
    const { name, partition_count: partitions } = isRecord(each) ? each : {};
    return typeof name === "string" && isCount(partitions) && partitions > 0 ? { name, partitions } : undefined;
  });
  const known = layouts.filter((each) => each !== undefined);
  if (known.length < layouts.length) return "has a collection without name or partition_count";
  return { kind: "header", header: { deployment, createdAt, collections: known } };
}

function endOf({ objects }: Readonly<Record<string, unknown>>): BackupLine | string {
  if (!isRecord(objects) || !Object.values(objects).every(isCount)) return "has no counts";
  return { kind: "end", counts: objects as BackupCounts };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isEntries(value: unknown): value is Entries {
  return isRecord(value) && Object.values(value).every(isEntry);
}

function isEntry(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const forms = ["json", "text", "base64"].filter((form) => value[form] !== undefined);
  return forms.length === 1 && (forms[0] === "json" || typeof value[forms[0] ?? ""] === "string");
}
