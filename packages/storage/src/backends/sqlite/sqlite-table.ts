import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";
import type { Table } from "../local/table.ts";
import { sqliteFault } from "./sqlite-faults.ts";

const COLUMNS = "key, value, create_revision, mod_revision, version, lease";

/** State in one SQLite file. Errors of SQLite are converted to faults. */
export class SqliteTable implements Table {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#database = database;
    this.#statements = prepare(database);
  }

  get savedRevision(): number {
    return this.#guard(() => (this.#statements.revision.get() as unknown as [number])[0]);
  }

  get(key: string): Entry | undefined {
    return this.#guard(() => {
      const row = this.#statements.get.get(key);
      return row === undefined ? undefined : entryOf(row as unknown as Row);
    });
  }

  scan(range: KeyRange, limit: number): Entry[] {
    return this.#guard(() => {
      const rows =
        range.end === undefined
          ? this.#statements.scanFrom.all(range.start, limit)
          : this.#statements.scan.all(range.start, range.end, limit);
      return (rows as unknown as Row[]).map(entryOf);
    });
  }

  count(range: KeyRange): number {
    return this.#guard(() => {
      const row =
        range.end === undefined
          ? this.#statements.countFrom.get(range.start)
          : this.#statements.count.get(range.start, range.end);
      return (row as unknown as [number])[0];
    });
  }

  put(entry: Entry, isNew: boolean): void {
    const { key, value, createRevision, modRevision, version, lease = null } = entry;
    this.#guard(() =>
      isNew
        ? this.#statements.insert.run(key, value, createRevision, modRevision, version, lease)
        : this.#statements.update.run(value, modRevision, version, lease, key),
    );
  }

  delete(key: string): void {
    this.#guard(() => this.#statements.delete.run(key));
  }

  /** Keys with a lease; when the file is opened, they belong to an ended process. */
  leasedKeys(): string[] {
    return this.#guard(() => (this.#statements.leased.all() as unknown as [string][]).map(([key]) => key));
  }

  saveRevision(revision: number): void {
    this.#guard(() => this.#statements.saveRevision.run(revision));
  }

  atomically<T>(work: () => T): T {
    return this.#guard(() => {
      this.#statements.begin.run();
      try {
        const result = work();
        this.#statements.commit.run();
        return result;
      } catch (thrown) {
        // SQLite rolls back the transaction itself on some errors, such as a full disk.
        if (this.#database.isTransaction) this.#statements.rollback.run();
        throw thrown;
      }
    });
  }

  close(): void {
    this.#database.close();
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      throw sqliteFault(this.#file, thrown);
    }
  }
}

type Row = readonly [string, string, number, number, number, string | null];

function entryOf([key, value, createRevision, modRevision, version, lease]: Row): Entry {
  return lease === null
    ? { key, value, createRevision, modRevision, version }
    : { key, value, createRevision, modRevision, version, lease };
}

function prepare(database: DatabaseSync) {
  const statement = (sql: string): StatementSync => {
    const made = database.prepare(sql);
    made.setReturnArrays(true);
    return made;
  };
  return {
    begin: statement("BEGIN IMMEDIATE"),
    commit: statement("COMMIT"),
    rollback: statement("ROLLBACK"),
    revision: statement(
      "SELECT max(revision, (SELECT ifnull(max(mod_revision), 0) FROM entry)) FROM store WHERE id = 1",
    ),
    saveRevision: statement("UPDATE store SET revision = ? WHERE id = 1"),
    get: statement(`SELECT ${COLUMNS} FROM entry WHERE key = ?`),
    scan: statement(`SELECT ${COLUMNS} FROM entry WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`),
    scanFrom: statement(`SELECT ${COLUMNS} FROM entry WHERE key >= ? ORDER BY key LIMIT ?`),
    count: statement("SELECT count(*) FROM entry WHERE key >= ? AND key < ?"),
    countFrom: statement("SELECT count(*) FROM entry WHERE key >= ?"),
    insert: statement(`INSERT INTO entry (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`),
    update: statement("UPDATE entry SET value = ?, mod_revision = ?, version = ?, lease = ? WHERE key = ?"),
    delete: statement("DELETE FROM entry WHERE key = ?"),
    leased: statement("SELECT key FROM entry WHERE lease IS NOT NULL"),
  };
}
