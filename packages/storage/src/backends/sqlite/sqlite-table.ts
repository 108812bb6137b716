import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Fault } from "@oaas/foundation";
import { keyAfter, type KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";
import { READ_TOGETHER } from "../../port/page-bytes.ts";
import type { Table } from "../local/table.ts";
import { commitFault, needsReopen, reopeningFault, tableFault } from "./sqlite-faults.ts";

const COLUMNS = "key, value, create_revision, mod_revision, version, lease";

export interface SqliteTableOptions {
  readonly file: string;
  /** Called when an I/O error has closed the file; `use` opens it again. */
  readonly onFailure: (fault: Fault) => void;
}

/**
 * State in one SQLite file. Errors of SQLite are converted to faults.
 *
 * After an I/O error the file is closed, and every call throws `fault` until `use` passes an open database: only opening
 * the file again shows which writes are on disk.
 */
export class SqliteTable implements Table {
  readonly #options: SqliteTableOptions;
  #database: DatabaseSync;
  #statements: ReturnType<typeof prepare>;
  #fault: Fault | undefined;

  constructor(options: SqliteTableOptions, database: DatabaseSync) {
    this.#options = options;
    this.#database = database;
    this.#statements = prepare(database);
  }

  /** Why the table cannot be used now. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Continues with a database that was opened again. */
  use(database: DatabaseSync): void {
    this.#database = database;
    this.#statements = prepare(database);
    this.#fault = undefined;
  }

  /** Closes the file; every call throws until `use`. */
  fail(fault: Fault): void {
    this.#fault = reopeningFault(this.#options.file, fault);
    if (this.#database.isOpen) this.#database.close();
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

  scan(range: KeyRange, limit: number, characters?: number): Entry[] {
    return this.#guard(() => {
      if (characters === undefined || limit <= READ_TOGETHER) return this.#scan(range, limit);
      const found: Entry[] = [];
      let read = 0;
      let { start } = range;
      while (found.length < limit) {
        // One more entry shows whether there is a next page.
        const most = read < characters ? READ_TOGETHER : 1;
        const entries = this.#scan({ start, end: range.end }, Math.min(most, limit - found.length));
        found.push(...entries);
        if (entries.length < READ_TOGETHER) break;
        for (const { value } of entries) read += value.length;
        start = keyAfter((entries.at(-1) as Entry).key);
      }
      return found;
    });
  }

  #scan({ start, end }: KeyRange, limit: number): Entry[] {
    const { scan, scanFrom } = this.#statements;
    const rows = end === undefined ? scanFrom.all(start, limit) : scan.all(start, end, limit);
    return (rows as unknown as Row[]).map(entryOf);
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

  get bytes(): number {
    return this.#guard(() => (this.#statements.bytes.get() as unknown as [number])[0]);
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
        this.#commit();
        return result;
      } catch (thrown) {
        // SQLite rolls back the transaction itself on some errors, such as a full disk; closing the file does too.
        if (!needsReopen(thrown) && this.#database.isTransaction) this.#statements.rollback.run();
        throw thrown;
      }
    });
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #commit(): void {
    try {
      this.#statements.commit.run();
    } catch (thrown) {
      throw commitFault(this.#options.file, thrown);
    }
  }

  #guard<T>(work: () => T): T {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      return work();
    } catch (thrown) {
      const fault = tableFault(this.#options.file, thrown);
      if (needsReopen(fault) && this.#fault === undefined) {
        this.fail(fault);
        this.#options.onFailure(fault);
      }
      throw fault;
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
    bytes: statement("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    insert: statement(`INSERT INTO entry (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`),
    update: statement("UPDATE entry SET value = ?, mod_revision = ?, version = ?, lease = ? WHERE key = ?"),
    delete: statement("DELETE FROM entry WHERE key = ?"),
    leased: statement("SELECT key FROM entry WHERE lease IS NOT NULL"),
  };
}
