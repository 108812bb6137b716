import type { KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";

/** An empty store has revision 1, as an empty etcd has. */
export const FIRST_REVISION = 1;

/** The present state of a store in one process: all that a local backend has to bring. Synchronous. */
export interface Table {
  /** The greatest revision that was saved or that an entry carries; `FIRST_REVISION` for a new table. */
  readonly savedRevision: number;
  get(key: string): Entry | undefined;
  /** Entries of the range in key order, at most `limit`. */
  scan(range: KeyRange, limit: number): Entry[];
  count(range: KeyRange): number;
  put(entry: Entry, isNew: boolean): void;
  delete(key: string): void;
  /** Keeps a revision that no entry need carry: that of a deletion. Puts are not told, which spares them a page. */
  saveRevision(revision: number): void;
  /** Runs work as one unit: durable when it returns, undone when it throws. */
  atomically<T>(work: () => T): T;
  close(): void;
}
