import type { KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";
import { FIRST_REVISION, type Table } from "../local/table.ts";
import { SortedKeys } from "./sorted-keys.ts";

/** Slot of a key, looked up once per key and transaction. */
interface Slot {
  readonly key: string;
  entry: Entry;
}

/** Entries in a map, with a sorted list of keys. No operation can fail halfway. */
export class MemoryTable implements Table {
  readonly savedRevision: number = FIRST_REVISION;
  readonly fault: Table["fault"] = undefined;
  readonly #slots = new Map<string, Slot>();
  readonly #order = new SortedKeys();
  /** Last slot that was read: a write usually follows a read of the same key. */
  #last: Slot | undefined;

  get(key: string): Entry | undefined {
    return this.#slotOf(key)?.entry;
  }

  scan(range: KeyRange, limit: number): Entry[] {
    return this.#order.slice(range, limit).map((key) => (this.#slots.get(key) as Slot).entry);
  }

  count(range: KeyRange): number {
    return this.#order.count(range);
  }

  put(entry: Entry, isNew: boolean): void {
    const { key } = entry;
    if (isNew) {
      this.#order.insert(key);
      this.#slots.set(key, { key, entry });
    } else (this.#slotOf(key) as Slot).entry = entry;
  }

  delete(key: string): void {
    this.#order.remove(key);
    this.#slots.delete(key);
    this.#last = undefined;
  }

  saveRevision(): void {
    // The engine keeps the revision in its history.
  }

  atomically<T>(work: () => T): T {
    return work();
  }

  close(): void {
    this.#slots.clear();
    this.#order.clear();
    this.#last = undefined;
  }

  #slotOf(key: string): Slot | undefined {
    if (this.#last?.key === key) return this.#last;
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#last = slot;
    return slot;
  }
}
