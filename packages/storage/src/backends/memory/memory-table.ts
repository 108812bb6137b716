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
  #bytes = 0;

  /** Of keys and values, counted in characters, which are bytes for most texts. */
  get bytes(): number {
    return this.#bytes;
  }

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
    const { key, value } = entry;
    if (isNew) {
      this.#bytes += key.length + value.length;
      this.#order.insert(key);
      this.#slots.set(key, { key, entry });
    } else {
      const slot = this.#slotOf(key) as Slot;
      this.#bytes += value.length - slot.entry.value.length;
      slot.entry = entry;
    }
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#bytes -= key.length + slot.entry.value.length;
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
    this.#bytes = 0;
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
