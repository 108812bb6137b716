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
  /** The database file; its folder is made when missing. */
  readonly file: string;
  /** The file may not grow beyond this (OAAS_STORE_FULL). */
  readonly maxBytes?: number;
  readonly history?: HistoryLimits;
  /** A watch to which nothing was delivered this long, though the store changed, gets a bookmark. */
  readonly bookmarkMs?: number;
}

/** Records of up to 2 KB, most of ours, stay within one page of the tree; with 4 KB pages they would spill. */
const PAGE_BYTES = 8192;

/**
 * The embedded durable backend: one file, one process.
 *
 * Guarantees: a commit is on disk (write-ahead log, synced) before it is acknowledged; commits of one turn of the event
 * loop share one sync; a second process is refused by name (OAAS_STORE_IN_USE); a file of a newer version is not
 * touched; a damaged file is refused (OAAS_STORE_CORRUPT).
 * Caveats: history starts anew when the file is opened, and leases end with the process that held them.
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

/** Takes the name off the door when the file is let go. */
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
  // Exclusive: the lock is held until close, and the log's index lives in memory, where a full disk cannot hurt it.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF`);
  // Any write takes the lock; this one changes nothing.
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
