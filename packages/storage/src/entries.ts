import type { Entry, LeaseId, Write } from "./kv.ts";

/** A write that puts a value. */
export type Put = Extract<Write, { op: "put" }>;

/** A write of a value. */
export function putOf(key: string, value: string, lease: LeaseId | undefined): Put {
  return lease === undefined ? { op: "put", key, value } : { op: "put", key, value, lease };
}

/** The entry that a write makes of the one before it. */
export function entryOf({ key, value, lease }: Put, modRevision: number, before: Entry | undefined): Entry {
  const createRevision = before?.createRevision ?? modRevision;
  const version = (before?.version ?? 0) + 1;
  return lease === undefined
    ? { key, value, createRevision, modRevision, version }
    : { key, value, createRevision, modRevision, version, lease };
}
