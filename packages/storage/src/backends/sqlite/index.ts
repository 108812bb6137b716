import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { internal, type Ambient } from "@oaas/foundation";
import { LocalEngine } from "../local/engine.ts";
import { DEFAULT_HISTORY, type HistoryLimits } from "../local/history.ts";
import { shareEngine, type SharedStore } from "../local/shared-store.ts";
import { inUseFault, removeOwner, writeOwner } from "./file-owner.ts";
import { makeFolder } from "./make-folder.ts";
import { assertOurs, migrate } from "./schema.ts";
import { isBusy, sqliteFault } from "./sqlite-faults.ts";
import { SqliteTable } from "./sqlite-table.ts";

export interface SqliteStoreOptions {
  readonly ambient: Ambient;
  /** The database file. Its folder is created if missing. */
  readonly file: string;
  /** Limit of the file size (OAAS_STORE_FULL). */
  readonly maxBytes?: number;
  readonly history?: HistoryLimits;
  /** Interval of bookmarks for watches without events while the store changes. */
  readonly bookmarkMs?: number;
}

/** Keeps records of up to 2 KB, the majority, in one page of the tree. */
const PAGE_BYTES = 8192;

/**
 * The embedded durable backend: one file, one process.
 *
 * Guarantees: a commit is on disk (write-ahead log, synced) before it is acknowledged. Commits of one event loop turn
 * share one sync. A second process is rejected with the name of the owner (OAAS_STORE_IN_USE). A file of a newer
 * version is not changed. A damaged file is rejected (OAAS_STORE_CORRUPT).
 * Caveats: history starts when the file is opened, and leases end with the process.
 */
export function openSqliteStore(options: SqliteStoreOptions): SharedStore {
  const { ambient, file, history = DEFAULT_HISTORY, bookmarkMs = 10_000 } = options;
  const table = new OwnedTable(file, openDatabase(options));
  try {
    endLeftoverLeases(table);
    writeOwner(file, ambient.clock);
  } catch (thrown) {
    table.close();
    throw sqliteFault(file, thrown);
  }
  const engine = new LocalEngine({ ambient, table, history, schedule: (flush) => void setImmediate(flush) });
  return shareEngine(engine, ambient, bookmarkMs);
}

/** Removes the owner file when the database is closed. */
class OwnedTable extends SqliteTable {
  readonly #ownedFile: string;

  constructor(file: string, database: DatabaseSync) {
    super(file, database);
    this.#ownedFile = file;
  }

  override close(): void {
    removeOwner(this.#ownedFile);
    super.close();
  }
}

function openDatabase(options: SqliteStoreOptions): DatabaseSync {
  const { file } = options;
  let database: DatabaseSync | undefined;
  try {
    makeFolder(dirname(file));
    assertOurs(file);
    database = new DatabaseSync(file, { timeout: 0 });
    configure(database, options);
    return database;
  } catch (thrown) {
    database?.close();
    throw isBusy(thrown) ? inUseFault(file, thrown) : sqliteFault(file, thrown);
  }
}

function configure(database: DatabaseSync, options: SqliteStoreOptions): void {
  // Exclusive: keeps the lock until close, and the index of the log in memory, where a full disk cannot affect it.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF`);
  // Any write acquires the lock; this one changes nothing.
  database.exec("BEGIN EXCLUSIVE; COMMIT");
  const damage = String(Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
  if (damage !== "ok") {
    throw internal(`the database file ${options.file} is damaged`, {
      code: "OAAS_STORE_CORRUPT",
      context: { damage },
    });
  }
  migrate(database);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  if (options.maxBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxBytes / PAGE_BYTES)}`);
  }
}

function endLeftoverLeases(table: SqliteTable): void {
  const keys = table.leasedKeys();
  if (keys.length === 0) return;
  table.atomically(() => {
    for (const key of keys) table.delete(key);
    table.saveRevision(table.savedRevision + 1);
  });
}
