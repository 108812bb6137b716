import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { unavailable, type Fault } from "@oaas/foundation";
import { isWritableByOthers, makePrivateFolder, PRIVATE_FILE, tightenPermissions } from "@oaas/foundation/files";
import { inUseFault, ownerFile } from "./file-owner.ts";
import { assertOurs, migrate } from "./schema.ts";
import { damagedFault, isBusy, openFault } from "./sqlite-faults.ts";

/** A background failure or recovery, for the log. */
export interface SqliteIncident {
  /** A constant text, such as "reopen database failed". */
  readonly what: string;
  readonly path: string;
  readonly fault?: Fault;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface OpenOptions {
  readonly file: string;
  /** Limit of the file size. */
  readonly maxBytes?: number;
  readonly onIncident?: (incident: SqliteIncident) => void;
}

/** Keeps records of up to 2 KB, the majority, in one page of the tree. */
const PAGE_BYTES = 8192;
/** Files that SQLite keeps beside the database. */
const SIDE_FILES = ["-wal", "-shm", "-journal"];

/** Opens the file, and creates it with its folder unless it must exist. Only the owner can read them. */
export function openDatabase(options: OpenOptions, { mustExist = false } = {}): DatabaseSync {
  const { file } = options;
  let database: DatabaseSync | undefined;
  try {
    if (mustExist) assertExists(file);
    else makePrivateFolder(dirname(file));
    assertOurs(file);
    protectFiles(options);
    database = new DatabaseSync(file, { timeout: 0 });
    configure(database, options);
    return database;
  } catch (thrown) {
    database?.close();
    throw isBusy(thrown) ? inUseFault(file, thrown) : openFault(file, thrown);
  }
}

/** SQLite gives its side files the mode of the database file. */
function protectFiles({ file, onIncident }: OpenOptions): void {
  if (!createFile(file)) {
    for (const path of [file, ...SIDE_FILES.map((suffix) => file + suffix), ownerFile(file)]) {
      const { before, after } = tightenPermissions(path) ?? {};
      if (before !== undefined) {
        onIncident?.({ what: "removed permissions of other users", path, details: { before, after } });
      }
    }
  }
  const folder = dirname(file);
  if (isWritableByOthers(folder)) {
    onIncident?.({ what: "other users can replace files of the database", path: folder });
  }
}

/** False when the file exists. */
function createFile(file: string): boolean {
  try {
    closeSync(openSync(file, "wx", PRIVATE_FILE));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

/** A new file would silently replace a store whose volume is missing for a moment. */
function assertExists(file: string): void {
  if (!existsSync(file)) throw unavailable("the database file", `${file} is missing`);
}

function configure(database: DatabaseSync, { file, maxBytes }: OpenOptions): void {
  // Exclusive: keeps the lock until close, and the index of the log in memory, where a full disk cannot affect it.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF`);
  // Overwrites deleted content where that costs no extra write.
  database.exec("PRAGMA secure_delete = FAST");
  // Any write acquires the lock; this one changes nothing.
  database.exec("BEGIN EXCLUSIVE; COMMIT");
  const damage = String(Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
  if (damage !== "ok") throw damagedFault(file, { damage });
  migrate(database);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  if (maxBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)}`);
  }
}
