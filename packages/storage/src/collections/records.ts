import type { Fault } from "@oaas/foundation";
import { decodeRecord, isUnreadable, type Codec, type Decoded } from "./codec.ts";
import type { CollectionLayout } from "./collection-layout.ts";
import type { Entry } from "../port/key-value-store.ts";

/** A record as it was read: what an optimistic write starts from. */
export interface Stored<T> {
  readonly id: string;
  readonly record: T;
  /** Changes with every write: an ETag. */
  readonly revision: number;
  readonly createRevision: number;
  readonly version: number;
  /** The entry itself, and the index keys written with it. */
  readonly source: { readonly entry: Entry; readonly indexKeys: readonly string[]; readonly outdated: boolean };
}

/** One record that this build cannot read; it is shown and never skipped in silence. */
export interface Unreadable {
  readonly id: string;
  readonly fault: Fault;
}

export interface Listed<T> {
  readonly records: readonly Stored<T>[];
  readonly unreadable: readonly Unreadable[];
  readonly revision: number;
  /** Pass as `after` for the next page. */
  readonly next?: string;
  readonly total?: number;
}

/** Changes of one transaction, or of several that have gathered, in order. */
export interface CollectionBatch<T> {
  /** Everything up to here has been told. */
  readonly revision: number;
  readonly changes: readonly CollectionChange<T>[];
}

/** What became of a record, and at which revision. */
export type CollectionChange<T> = { readonly id: string; readonly revision: number } & (
  | { readonly type: "put"; readonly stored: Stored<T> }
  | { readonly type: "delete" }
  | { readonly type: "unreadable"; readonly fault: Fault }
);

/** Turns entries into records. */
export class RecordReader<T> {
  readonly #layout: CollectionLayout;
  readonly #codec: Codec<T>;
  readonly #keep: number;
  readonly #kept = new Map<string, Stored<T>>();

  constructor(layout: CollectionLayout, codec: Codec<T>, keep = 0) {
    this.#layout = layout;
    this.#codec = codec;
    this.#keep = keep;
  }

  /** OAAS_STORE_VALUE_INVALID when it cannot be read. The same object again for an entry that did not change, if kept. */
  read(entry: Entry): Stored<T> {
    const kept = this.#kept.get(entry.key);
    if (kept?.revision === entry.modRevision) return kept;
    return this.#keeping(this.decode(entry));
  }

  /** As `read`, but an entry of the past does not take the place of the present one among those that are kept. */
  look(entry: Entry): Stored<T> {
    const kept = this.#kept.get(entry.key);
    return kept?.revision === entry.modRevision ? kept : this.decode(entry);
  }

  /** Decodes the entry without the cache. */
  decode(entry: Entry): Stored<T> {
    return this.#stored(entry, decodeRecord(this.#codec, entry.key, entry.value));
  }

  #stored(entry: Entry, { record, indexKeys, outdated }: Decoded<T>): Stored<T> {
    return {
      id: this.#layout.idOfRecord(entry.key),
      record,
      revision: entry.modRevision,
      createRevision: entry.createRevision,
      version: entry.version,
      source: { entry, indexKeys, outdated },
    };
  }

  #keeping(stored: Stored<T>): Stored<T> {
    if (this.#keep === 0) return stored;
    const { key } = stored.source.entry;
    if (this.#kept.size >= this.#keep && !this.#kept.has(key)) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#kept.set(key, stored);
    return stored;
  }

  /** What can be read, and beside it what cannot: one bad value does not hide the others. */
  readAll(entries: readonly Entry[]): { records: Stored<T>[]; unreadable: Unreadable[] } {
    const records: Stored<T>[] = [];
    const unreadable: Unreadable[] = [];
    for (const entry of entries) {
      try {
        records.push(this.read(entry));
      } catch (thrown) {
        if (!isUnreadable(thrown)) throw thrown;
        unreadable.push({ id: this.#layout.idOfRecord(entry.key), fault: thrown });
      }
    }
    return { records, unreadable };
  }
}
