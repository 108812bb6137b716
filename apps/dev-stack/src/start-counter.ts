import { conflict, failedPrecondition, timestamp, type Clock } from "@oaas/foundation";
import type { KeyValueStore } from "@oaas/storage";

/** The starts on a data folder. */
export interface Starts {
  readonly count: number;
  readonly previousAt: string | undefined;
  /** The clock is earlier than at the previous start. */
  readonly clockWentBack: boolean;
}

interface StartRecord {
  readonly count: number;
  readonly at: string;
  /** Layout version of the data folder; missing in version 1. */
  readonly format?: number;
  readonly version?: string;
}

const KEY = "dev-stack/starts";
/** Incremented when an older stack can no longer read the folder. */
const FORMAT = 1;

/** Counts this start in the store and returns the previous one. Rejects data of a newer stack. */
export async function countStart(store: KeyValueStore, clock: Clock, version: string): Promise<Starts> {
  const present = await store.get(KEY);
  const before = present ? (JSON.parse(present.value) as StartRecord) : undefined;
  assertReadable(before, version);
  const count = (before?.count ?? 0) + 1;
  const record: StartRecord = { count, at: timestamp(clock.now()), format: FORMAT, version };
  const { changed } = await store.commit({
    conditions: [
      present ? { key: KEY, test: "mod-revision", revision: present.modRevision } : { key: KEY, test: "absent" },
    ],
    writes: [{ op: "put", key: KEY, value: JSON.stringify(record) }],
  });
  if (!changed) throw conflict("start counter", KEY);
  return { count, previousAt: before?.at, clockWentBack: before !== undefined && record.at < before.at };
}

function assertReadable(before: StartRecord | undefined, version: string): void {
  const format = before?.format ?? FORMAT;
  if (format <= FORMAT) return;
  const by = before?.version === undefined ? "a newer version" : `version ${before.version}`;
  throw failedPrecondition(
    "data folder",
    `the data folder was written by ${by} (format ${format}); this is version ${version}, which supports formats up to ${FORMAT}; nothing was changed`,
    { code: "OAAS_STORE_NEWER_SCHEMA" },
  );
}
