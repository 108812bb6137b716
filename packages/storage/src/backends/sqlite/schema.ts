import { closeSync, openSync, readSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { failedPrecondition, internal } from "@oaas/foundation";

/** "OaaS" in ASCII: the application id in the file header, which protects databases of other programs. */
const APPLICATION_ID = 0x4f616153;

/** Migrations: step n upgrades version n. Do not change a released step. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE entry (
     key TEXT PRIMARY KEY,
     create_revision INTEGER NOT NULL,
     mod_revision INTEGER NOT NULL,
     version INTEGER NOT NULL,
     lease TEXT,
     value TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX leased ON entry (lease) WHERE lease IS NOT NULL;
   CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL) STRICT;
   INSERT INTO store (id, revision) VALUES (1, 1);`,
];

const SCHEMA_VERSION = MIGRATIONS.length;

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/**
 * Checks the file header before SQLite opens the file, because SQLite would recover, lock or rename files.
 *
 * Assumption: `migrate` leaves the version in the main file, never only in the write-ahead log.
 */
export function assertOurs(file: string): void {
  const header = readHeader(file);
  if (header.length === 0) return;
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    throw internal(`${file} is not a database file`, { code: "OAAS_STORE_CORRUPT" });
  }
  const version = header.readUInt32BE(60);
  const application = header.readUInt32BE(68);
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0)) {
    throw failedPrecondition("database file", `${file} is the database of another program; it is unchanged`);
  }
  if (version > SCHEMA_VERSION) {
    throw failedPrecondition(
      "database file",
      `${file} has schema version ${version}, but this version supports up to ${SCHEMA_VERSION}; the file is unchanged`,
      { code: "OAAS_STORE_NEWER_SCHEMA" },
    );
  }
}

/** Migrates the schema outside write-ahead mode, so that the main file has the version. */
export function migrate(database: DatabaseSync): void {
  const version = userVersion(database);
  if (version >= SCHEMA_VERSION) return;
  database.exec("PRAGMA journal_mode = DELETE");
  database.exec("BEGIN EXCLUSIVE");
  for (const step of MIGRATIONS.slice(version)) database.exec(step);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

function userVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

function readHeader(file: string): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw thrown;
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
