import type { Fault } from "@oaas/foundation";
import { decodeRecord, isUnreadable, type Codec, type Decoded, type RecordSecrets } from "./codec.ts";
import type { CollectionLayout } from "./collection-layout.ts";
import type { Entry } from "../port/key-value-store.ts";

/** A record with its revision, for optimistic locking. */
export interface Stored<T> {
  readonly id: string;
  readonly record: T;
  /** Changes with every write; suitable as an ETag. */
  readonly revision: number;
  readonly createRevision: number;
  readonly version: number;
  /** The entry, and the index keys written with it. */
  readonly source: Omit<Decoded<T>, "record"> & { readonly entry: Entry };
}

/** A record that this version cannot read. It is reported, never skipped silently. */
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

/** Changes of one or several transactions, in order. */
export interface CollectionBatch<T> {
  /** Everything up to this revision has been delivered. */
  readonly revision: number;
  readonly changes: readonly CollectionChange<T>[];
}

/** A change of a record, and its revision. */
export type CollectionChange<T> = { readonly id: string; readonly revision: number } & (
  | { readonly type: "put"; readonly stored: Stored<T> }
  | { readonly type: "delete" }
  | { readonly type: "unreadable"; readonly fault: Fault }
);

/** Decodes entries to records. */
export class RecordReader<T> {
  readonly #layout: CollectionLayout;
  readonly #codec: Codec<T>;
  readonly #secrets: RecordSecrets | undefined;
  readonly #keep: number;
  readonly #kept = new Map<string, Stored<T>>();

  constructor(
    layout: CollectionLayout,
    codec: Codec<T>,
    { keep = 0, secrets }: { readonly keep?: number | undefined; readonly secrets?: RecordSecrets | undefined } = {},
  ) {
    this.#layout = layout;
    this.#codec = codec;
    this.#keep = keep;
    this.#secrets = secrets;
  }

  /** Throws OAAS_STORE_VALUE_INVALID if the entry is invalid. Returns the cached object for an unchanged entry. */
  read(entry: Entry): Stored<T> {
    const kept = this.#kept.get(entry.key);
    if (kept?.revision === entry.modRevision) return kept;
    return this.#keeping(this.decode(entry));
  }

  /** Like `read`, but an older entry does not replace a newer one in the cache. */
  look(entry: Entry): Stored<T> {
    const kept = this.#kept.get(entry.key);
    return kept?.revision === entry.modRevision ? kept : this.decode(entry);
  }

  /** Decodes the entry without the cache. */
  decode(entry: Entry): Stored<T> {
    return this.#stored(entry, decodeRecord(this.#codec, entry.key, entry.value, this.#secrets));
  }

  #stored(entry: Entry, { record, indexKeys, outdated, hasClearSecret }: Decoded<T>): Stored<T> {
    return {
      id: this.#layout.idOfRecord(entry.key),
      record,
      revision: entry.modRevision,
      createRevision: entry.createRevision,
      version: entry.version,
      source: { entry, indexKeys, outdated, hasClearSecret },
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

  /** Returns readable and unreadable records separately. */
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
