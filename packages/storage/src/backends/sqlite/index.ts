import { setImmediate } from "node:timers";
import type { DatabaseSync } from "node:sqlite";
import { DEFAULT_BACKOFF, unavailable, type Ambient, type BackoffPolicy } from "@oaas/foundation";
import { LocalEngine } from "../local/engine.ts";
import { DEFAULT_HISTORY, type HistoryLimits } from "../local/history.ts";
import { shareEngine, type SharedStore } from "../local/shared-store.ts";
import { removeOwner, writeOwner } from "./file-owner.ts";
import { openDatabase, type OpenOptions } from "./open-database.ts";
import { Reopener } from "./reopener.ts";
import { openFault } from "./sqlite-faults.ts";
import { SqliteTable, type SqliteTableOptions } from "./sqlite-table.ts";

export type { SqliteIncident } from "./open-database.ts";

export interface SqliteStoreOptions extends OpenOptions {
  readonly ambient: Ambient;
  readonly history?: HistoryLimits;
  /** Interval of bookmarks for watches without events while the store changes. */
  readonly bookmarkMs?: number;
  /** Backoff of opening the file again after an I/O error. */
  readonly reopen?: BackoffPolicy;
}

/**
 * The embedded durable backend: one file, one process.
 *
 * Guarantees: a commit is on disk (write-ahead log, synced) before it is acknowledged. Commits of one event loop turn
 * share one sync. A second process is rejected with the name of the owner (OAAS_STORE_IN_USE). A file of a newer
 * version is not changed. A damaged file is rejected (OAAS_STORE_CORRUPT). Only the owner can read the files. After an
 * I/O error calls are rejected as unavailable until the file is open again with all acknowledged writes.
 * Caveats: history starts when the file is opened, and leases end with the process.
 */
export function openSqliteStore(options: SqliteStoreOptions): SharedStore {
  const { ambient, file, history = DEFAULT_HISTORY, bookmarkMs = 10_000 } = options;
  const table = new OwnedTable(
    { file, onFailure: (fault) => reopener.start(fault), onClose: () => reopener.stop() },
    openDatabase(options),
  );
  const reopener: Reopener = new Reopener({
    ...options,
    policy: options.reopen ?? DEFAULT_BACKOFF,
    reopen: () => reopen(options, table, engine),
    onFailure: (fault) => table.fail(fault),
  });
  try {
    endLeftoverLeases(table);
    writeOwner(file, ambient.clock);
  } catch (thrown) {
    table.close();
    throw openFault(file, thrown);
  }
  const engine = new LocalEngine({ ambient, table, history, schedule: (flush) => void setImmediate(flush) });
  return shareEngine(engine, ambient, bookmarkMs);
}

/** Removes the owner file when the store is closed. */
class OwnedTable extends SqliteTable {
  readonly #owned: SqliteTableOptions & { readonly onClose: () => void };

  constructor(options: SqliteTableOptions & { readonly onClose: () => void }, database: DatabaseSync) {
    super(options, database);
    this.#owned = options;
  }

  override close(): void {
    this.#owned.onClose();
    removeOwner(this.#owned.file);
    super.close();
  }
}

/**
 * Opens the file again after an I/O error.
 *
 * A file with another revision has a write whose outcome was unknown, or was used by another process in the meantime:
 * watchers list again and leases are acquired again. A file that lacks acknowledged writes is not used.
 */
function reopen(options: SqliteStoreOptions, table: SqliteTable, engine: LocalEngine): void {
  const { file, ambient } = options;
  const database = openDatabase(options, { mustExist: true });
  try {
    proveWritable(database);
    const saved = new SqliteTable({ file, onFailure: () => undefined }, database).savedRevision;
    const { revision } = engine.history;
    if (saved < revision) {
      const reason = `is at revision ${saved}, but revision ${revision} was acknowledged; restore the newer file`;
      throw unavailable("the database file", `${file} ${reason}`);
    }
    writeOwner(file, ambient.clock);
    table.use(database);
    if (saved === revision) return;
  } catch (thrown) {
    if (database.isOpen) database.close();
    throw openFault(file, thrown);
  }
  endLeftoverLeases(table);
  engine.restart();
}

/** Moves the write-ahead log to the main file, so that all visible writes are on disk, and writes once. */
function proveWritable(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.exec("BEGIN IMMEDIATE; UPDATE store SET revision = revision WHERE id = 1; COMMIT");
}

function endLeftoverLeases(table: SqliteTable): void {
  const keys = table.leasedKeys();
  if (keys.length === 0) return;
  table.atomically(() => {
    for (const key of keys) table.delete(key);
    table.saveRevision(table.savedRevision + 1);
  });
}
