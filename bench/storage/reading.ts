import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { realAmbient } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { openSqliteStore } from "@oaas/storage/sqlite";
import type { Measurement } from "../harness.ts";
import { concurrently, median } from "./rounds.ts";

const KEYS = 10_000;
const VALUE_BYTES = 1024;
const ROUNDS = 5;

/** Paged lists of 10,000 keys, and their memory. */
export async function measureReading(folder: string): Promise<Measurement[]> {
  const memory = await measureMemory();
  const sqlite = openSqliteStore({ ambient: realAmbient, file: join(folder, "list.db") });
  await fill(sqlite);
  const lists = [...(await measureLists("memory", memory.store)), ...(await measureLists("embedded", sqlite))];
  await memory.store.close();
  await sqlite.close();
  return [...lists, ...memory.measurements];
}

/** The time to list all keys of one prefix. */
export async function measureLists(name: string, store: KeyValueStore): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const limit of [100, 1000]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = performance.now();
      await listAll(store, limit);
      times.push(performance.now() - start);
    }
    measurements.push({ name: `${name}: list ${KEYS} keys by pages of ${limit}`, value: median(times), unit: "ms" });
  }
  return measurements;
}

export async function fill(store: KeyValueStore): Promise<void> {
  await concurrently(KEYS, 64, (n) => {
    const id = String(n).padStart(6, "0");
    return store.commit({ writes: [{ op: "put", key: `c/deployments/${id}`, value: id.padEnd(VALUE_BYTES, "x") }] });
  });
}

async function listAll(store: KeyValueStore, limit: number): Promise<void> {
  let seen = 0;
  let after: string | undefined;
  do {
    const page = await store.range({ prefix: "c/deployments/", limit, ...(after === undefined ? {} : { after }) });
    seen += page.entries.length;
    after = page.next;
  } while (after !== undefined);
  if (seen !== KEYS) throw new Error(`listed ${seen} of ${KEYS}`);
}

async function measureMemory(): Promise<{ store: KeyValueStore; measurements: Measurement[] }> {
  const before = usedBytes();
  const store = openMemoryStore({ ambient: realAmbient });
  await fill(store);
  const used = usedBytes() - before;
  const mib = 1024 * 1024;
  return {
    store,
    measurements: [
      { name: `memory: ${KEYS} keys with values of 1 KiB`, value: used / mib, unit: "MiB", note: "history included" },
      { name: "memory: beyond the values", value: (used - KEYS * VALUE_BYTES) / KEYS, unit: "byte/key" },
    ],
  };
}

function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
