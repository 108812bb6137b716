import type { KeyRange } from "../../key-order.ts";
import type { Entry } from "../../kv.ts";
import { FIRST_REVISION, type Table } from "../local/table.ts";
import { SortedKeys } from "./sorted-keys.ts";

/** Entries in a map, their keys in order beside it. Nothing it does can fail halfway. */
export class MemoryTable implements Table {
  readonly savedRevision = FIRST_REVISION;
  readonly #entries = new Map<string, Entry>();
  readonly #order = new SortedKeys();

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  scan(range: KeyRange, limit: number): Entry[] {
    return this.#order.slice(range, limit).map((key) => this.#entries.get(key) as Entry);
  }

  count(range: KeyRange): number {
    return this.#order.count(range);
  }

  put(entry: Entry, isNew: boolean): void {
    if (isNew) this.#order.insert(entry.key);
    this.#entries.set(entry.key, entry);
  }

  delete(key: string): void {
    this.#order.remove(key);
    this.#entries.delete(key);
  }

  saveRevision(): void {
    // The revision lives in the engine's history; memory has nowhere else to keep it.
  }

  atomically<T>(work: () => T): T {
    return work();
  }

  close(): void {
    this.#entries.clear();
    this.#order.clear();
  }
}
