import { conflict, failedPrecondition, timestamp, type Clock } from "@oaas/foundation";
import type { KeyValueStore } from "@oaas/storage";

/** How often the stack was started on its data folder. */
export interface Starts {
  readonly count: number;
  readonly previousAt: string | undefined;
  /** The clock says it is earlier than it was at the last start. */
  readonly clockWentBack: boolean;
}

interface Record {
  readonly count: number;
  readonly at: string;
  /** How the data folder is laid out; missing in the first. */
  readonly format?: number;
  readonly version?: string;
}

const KEY = "dev-stack/starts";
/** Raised when an older stack could no longer make sense of the folder. */
const FORMAT = 1;

/** Counts this start in the store, durably, and answers what was there: the proof that data is found again. Refuses data of a newer stack. */
export async function countStart(store: KeyValueStore, clock: Clock, version: string): Promise<Starts> {
  const present = await store.get(KEY);
  const before = present ? (JSON.parse(present.value) as Record) : undefined;
  assertReadable(before, version);
  const count = (before?.count ?? 0) + 1;
  const record: Record = { count, at: timestamp(clock.now()), format: FORMAT, version };
  const { changed } = await store.commit({
    conditions: [
      present ? { key: KEY, test: "mod-revision", revision: present.modRevision } : { key: KEY, test: "absent" },
    ],
    writes: [{ op: "put", key: KEY, value: JSON.stringify(record) }],
  });
  if (!changed) throw conflict("start counter", KEY);
  return { count, previousAt: before?.at, clockWentBack: before !== undefined && record.at < before.at };
}

function assertReadable(before: Record | undefined, version: string): void {
  const format = before?.format ?? FORMAT;
  if (format <= FORMAT) return;
  const by = before?.version === undefined ? "a newer version" : `version ${before.version}`;
  throw failedPrecondition(
    "data folder",
    `the data folder was written by ${by} (format ${format}); this is version ${version}, which knows up to ${FORMAT}; nothing was changed`,
    { code: "OAAS_STORE_NEWER_SCHEMA" },
  );
}
