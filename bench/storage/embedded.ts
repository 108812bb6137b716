import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { realAmbient } from "@oaas/foundation/real";
import { openSqliteStore } from "@oaas/storage/sqlite";
import type { Measurement, Ratio } from "../harness.ts";
import { compare, concurrently } from "./rounds.ts";

const KEYS = 5000;
const FILLING = "x".repeat(1014);
/** Many short rounds, because the speed of a shared disk changes within a second. */
const ROUNDS = 41;
const PUTS = 160;

/** Unique values: SQLite does not write an unchanged row. */
const valueOf = (n: number): string => String(n).padStart(10, "0") + FILLING;
const keyOf = (n: number): string => `c/deployments/deployment-${String(n % KEYS).padStart(6, "0")}`;

/** Durable puts of the embedded store compared with bare SQLite: same file system, settings and rows. */
export async function measureEmbedded(folder: string): Promise<{ measurements: Measurement[]; ratios: Ratio[] }> {
  const store = openSqliteStore({ ambient: realAmbient, file: join(folder, "store.db") });
  const raw = openRaw(join(folder, "raw.db"));
  let n = 0;
  const put = (): Promise<unknown> =>
    store.commit({ writes: [{ op: "put", key: keyOf((n += 1)), value: valueOf(n) }] });
  try {
    const one = await compare(
      ROUNDS,
      () => concurrently(PUTS, 1, put),
      () => raw.singly(PUTS),
    );
    const many = await compare(
      ROUNDS,
      () => concurrently(PUTS * 4, 32, put),
      () => raw.inBatches(PUTS * 4, 32),
    );
    return {
      measurements: [
        { name: "embedded: durable put, one at a time", value: one.ours, unit: "put/s" },
        { name: "raw SQLite: durable put, one at a time", value: one.theirs, unit: "put/s" },
        { name: "embedded: durable put, 32 at once", value: many.ours, unit: "put/s" },
        { name: "raw SQLite: durable put, 32 rows per transaction", value: many.theirs, unit: "put/s" },
      ],
      ratios: [
        {
          name: "embedded put / raw SQLite put",
          value: one.ratio,
          floor: 0.8,
          explains: "one durable put after the other; ours also checks, versions, keeps history and saves the revision",
        },
        {
          name: "embedded put, 32 at once / raw SQLite, batches of 32",
          value: many.ratio,
          explains: "32 callers share a sync; the raw loop writes 32 rows per transaction without callers",
        },
      ],
    };
  } finally {
    await store.close();
    raw.close();
  }
}

function openRaw(file: string) {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA page_size = 8192; PRAGMA locking_mode = EXCLUSIVE");
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE entry (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID");
  const upsert = database.prepare(
    "INSERT INTO entry VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  let n = 0;
  const write = (rows: number): void => {
    for (let row = 0; row < rows; row += 1) upsert.run(keyOf((n += 1)), valueOf(n));
  };
  return {
    singly: async (total: number): Promise<number> => {
      write(total);
      return total;
    },
    inBatches: async (total: number, size: number): Promise<number> => {
      for (let done = 0; done < total; done += size) {
        database.exec("BEGIN IMMEDIATE");
        write(Math.min(size, total - done));
        database.exec("COMMIT");
      }
      return total;
    },
    close: (): void => database.close(),
  };
}
