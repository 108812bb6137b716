import type { Fault } from "@oaas/foundation";
import type { KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";

/** Revision of an empty store, as in etcd. */
export const FIRST_REVISION = 1;

/** Current state of a store in one process: the interface of a local backend. Synchronous. */
export interface Table {
  /** Returns the greatest saved revision; `FIRST_REVISION` for a new table. */
  readonly savedRevision: number;
  /** Why the table cannot be used for now; undefined while it can. */
  readonly fault: Fault | undefined;
  get(key: string): Entry | undefined;
  /**
   * Returns entries of a range in key order, at most `limit`. With `characters` it may stop when the values have this
   * length and one more entry was found.
   */
  scan(range: KeyRange, limit: number, characters?: number): Entry[];
  count(range: KeyRange): number;
  /** Occupied bytes. */
  readonly bytes: number;
  put(entry: Entry, isNew: boolean): void;
  delete(key: string): void;
  /** Saves the revision of a deletion. Puts save their revision in the entry. */
  saveRevision(revision: number): void;
  /** Runs work atomically: durable when it returns, rolled back when it throws. */
  atomically<T>(work: () => T): T;
  close(): void;
}
