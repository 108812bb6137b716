import { alreadyExists, conflict, notFound } from "@oaas/foundation";
import type { SecretCipher } from "../encryption/secret-cipher.ts";
import { sealSecrets, type SecretFields } from "../encryption/secret-fields.ts";
import { isUnreadable, recordText, storedText, type Codec, type RecordSecrets, type RecordText } from "./codec.ts";
import { CollectionLayout, type Indexes } from "./collection-layout.ts";
import { absent, unchanged } from "../port/transaction.ts";
import { entryOf, putOf, type Put } from "../port/transaction.ts";
import { conflictOf } from "../port/store-faults.ts";
import {
  MAX_OPERATIONS,
  type CallOptions,
  type ChangeEvent,
  type Entry,
  type KeyValueStore,
  type LeaseId,
  type Transaction,
} from "../port/key-value-store.ts";
import { RecordReader, type CollectionBatch, type CollectionChange, type Listed, type Stored } from "./records.ts";

/** Definition of a collection, independent of its store. */
export interface CollectionDefinition<T, I extends Indexes<T> = Indexes<T>> {
  /** Lower-case letters, digits and hyphens; part of every key. */
  readonly name: string;
  readonly codec: Codec<T>;
  readonly indexes?: I;
  /** Fields that are encrypted; a record with one of them needs a cipher. */
  readonly secrets?: SecretFields;
  /** Number of decoded records to cache; 0 by default. */
  readonly cacheSize?: number;
}

export interface ListOptions extends CallOptions {
  readonly limit?: number;
  readonly after?: string;
  readonly atRevision?: number;
  readonly count?: boolean;
}

/**
 * Typed records over the key-value port.
 *
 * Guarantees: every write is conditional on the revision that was read (optimistic locking). A record and its index
 * entries change in one transaction. Lists by index read the index and never scan.
 * `stage…` returns the transaction without committing it, for changes that span collections.
 */
export class Collection<T, I extends Indexes<T> = Indexes<T>> {
  readonly #store: KeyValueStore;
  readonly #definition: CollectionDefinition<T, I>;
  readonly #layout: CollectionLayout;
  readonly #reader: RecordReader<T>;
  readonly #secrets: RecordSecrets | undefined;

  constructor(store: KeyValueStore, definition: CollectionDefinition<T, I>, cipher?: SecretCipher) {
    this.#store = store;
    this.#definition = definition;
    this.#layout = new CollectionLayout(definition.name);
    this.#secrets = definition.secrets && { fields: definition.secrets, cipher };
    this.#reader = new RecordReader(this.#layout, definition.codec, {
      keep: definition.cacheSize,
      secrets: this.#secrets,
    });
  }

  async get(id: string, options?: CallOptions): Promise<Stored<T> | undefined> {
    const entry = await this.#store.get(this.#layout.recordKey(id), options);
    return entry && this.#reader.read(entry);
  }

  /** Decodes an entry of this collection. */
  decodeEntry(entry: Entry): Stored<T> {
    return this.#reader.look(entry);
  }

  /** Creates a record; already-exists if the id is in use. */
  async create(id: string, record: T, options?: CallOptions): Promise<Stored<T>> {
    try {
      return await this.#commit(this.stageCreate(id, record), undefined, options);
    } catch (thrown) {
      throw this.#isAbout(thrown, id) ? alreadyExists(this.#definition.name, id, { cause: thrown }) : thrown;
    }
  }

  /** Replaces a record; conflict if it was changed or deleted since it was read. */
  async update(stored: Stored<T>, record: T, options?: CallOptions): Promise<Stored<T>> {
    try {
      return await this.#commit(this.stageUpdate(stored, record), stored.source.entry, options);
    } catch (thrown) {
      throw this.#isAbout(thrown, stored.id) ? conflict(this.#definition.name, stored.id, { cause: thrown }) : thrown;
    }
  }

  /** Reads, changes and writes a record; repeats on a conflict. Not-found if the record does not exist. */
  async modify(id: string, change: (record: T) => T, options?: CallOptions): Promise<Stored<T>> {
    for (;;) {
      const stored = await this.get(id, options);
      if (stored === undefined) throw notFound(this.#definition.name, id);
      try {
        return await this.#commit(this.stageUpdate(stored, change(stored.record)), stored.source.entry, options);
      } catch (thrown) {
        if (!this.#isAbout(thrown, id)) throw thrown;
      }
    }
  }

  /** Deletes a record; conflict if it was changed since it was read. */
  async delete(stored: Stored<T>, options?: CallOptions): Promise<void> {
    try {
      await this.#store.commit(this.stageDelete(stored), options);
    } catch (thrown) {
      throw this.#isAbout(thrown, stored.id) ? conflict(this.#definition.name, stored.id, { cause: thrown }) : thrown;
    }
  }

  /** Encodes a record, for writing the same text to several collections with one codec. */
  textOf(record: T): RecordText {
    if (this.#secrets !== undefined) throw new TypeError(`the secrets of "${this.#definition.name}" belong to one key`);
    return recordText(this.#definition.codec, record);
  }

  stageCreate(id: string, record: T, lease?: LeaseId, text?: RecordText): Transaction {
    return this.#stagePut(id, record, { condition: absent(this.#layout.recordKey(id)), old: [], lease, text });
  }

  stageUpdate(stored: Stored<T>, record: T, text?: RecordText): Transaction {
    const { entry, indexKeys: old } = stored.source;
    return this.#stagePut(stored.id, record, { condition: unchanged(entry), old, lease: entry.lease, text });
  }

  stageDelete(stored: Stored<T>): Transaction {
    const { entry, indexKeys } = stored.source;
    return {
      conditions: [unchanged(entry)],
      writes: [entry.key, ...indexKeys].map((key) => ({ op: "delete", key })),
    };
  }

  /** Deletes a record, if it exists, without reading it. Requires a collection without indexes. */
  stageDeleteUnread(id: string): Transaction {
    this.#assertUnindexed();
    return { writes: [{ op: "delete", key: this.#layout.recordKey(id) }] };
  }

  /** Deletes all records whose id has this prefix without reading them. Requires a collection without indexes. */
  stageDeletePrefix(idPrefix: string): Transaction {
    this.#assertUnindexed();
    return { writes: [{ op: "delete-prefix", prefix: this.#layout.recordKey(idPrefix) }] };
  }

  #assertUnindexed(): void {
    if (Object.keys(this.#definition.indexes ?? {}).length === 0) return;
    throw new TypeError(`"${this.#definition.name}" has indexes: read its records and delete them one by one`);
  }

  /** Returns the record after its staged transaction was committed, as a reader of the store decodes it. */
  committed(staged: Transaction, revision: number, before?: Stored<T>): Stored<T> {
    return this.#written(staged, revision, before?.source.entry);
  }

  /** Lists records in the order of their ids. */
  async list(options: ListOptions = {}): Promise<Listed<T>> {
    const { signal, after, ...rest } = options;
    const page = await this.#store.range(
      {
        prefix: this.#layout.recordPrefix,
        ...rest,
        ...(after === undefined ? {} : { after: this.#layout.recordKey(after) }),
      },
      signal && { signal },
    );
    return {
      ...this.#reader.readAll(page.entries),
      revision: page.revision,
      ...(page.next === undefined ? {} : { next: this.#layout.idOfRecord(page.next) }),
      ...(page.total === undefined ? {} : { total: page.total }),
    };
  }

  /** Lists records with this index value in the order of their ids; at most `MAX_OPERATIONS` per page. */
  async listBy(index: keyof I & string, value: string, options: ListOptions = {}): Promise<Listed<T>> {
    const { signal, after, limit = MAX_OPERATIONS, ...rest } = options;
    const call = signal === undefined ? {} : { signal };
    const page = await this.#store.range(
      {
        prefix: this.#layout.indexSpan(index, value),
        keysOnly: true,
        limit: Math.min(limit, MAX_OPERATIONS),
        ...rest,
        ...(after === undefined ? {} : { after: this.#layout.indexKey(index, value, after) }),
      },
      call,
    );
    const ids = page.entries.map((entry) => this.#layout.idOfIndexEntry(index, entry.key));
    const keys = ids.map((id) => this.#layout.recordKey(id));
    const entries = await this.#store.getMany(keys, { ...call, atRevision: page.revision });
    return {
      ...this.#reader.readAll(entries.filter((entry) => entry !== undefined)),
      revision: page.revision,
      ...(page.next === undefined ? {} : { next: this.#layout.idOfIndexEntry(index, page.next) }),
      ...(page.total === undefined ? {} : { total: page.total }),
    };
  }

  /** Streams changes from a revision; pending transactions share a batch. See `KeyValueStore.watch`. */
  async *watch(fromRevision: number, options: CallOptions = {}): AsyncGenerator<CollectionBatch<T>, void, undefined> {
    for await (const { revision, events } of this.#store.watch({
      prefix: this.#layout.recordPrefix,
      fromRevision,
      batched: true,
      ...options,
    })) {
      yield { revision, changes: events.map((event) => this.#changeOf(event)) };
    }
  }

  /**
   * Rewrites records with an outdated schema version, outdated index entries, or secrets that are not sealed with the
   * current key. Returns their number.
   */
  async refresh(options?: CallOptions): Promise<number> {
    let refreshed = 0;
    let after: string | undefined;
    do {
      const page = await this.list({ ...options, ...(after === undefined ? {} : { after }) });
      for (const stored of page.records.filter((each) => this.#isStale(each))) {
        await this.modify(stored.id, (record) => record, options);
        refreshed += 1;
      }
      after = page.next;
    } while (after !== undefined);
    return refreshed;
  }

  #changeOf(event: ChangeEvent): CollectionChange<T> {
    if (event.type === "delete")
      return { type: "delete", id: this.#layout.idOfRecord(event.key), revision: event.revision };
    const { entry } = event;
    try {
      const stored = this.#reader.read(entry);
      return { type: "put", id: stored.id, revision: entry.modRevision, stored };
    } catch (thrown) {
      if (!isUnreadable(thrown)) throw thrown;
      return { type: "unreadable", id: this.#layout.idOfRecord(entry.key), revision: entry.modRevision, fault: thrown };
    }
  }

  #isStale({ id, record, source }: Stored<T>): boolean {
    return source.outdated || source.indexKeys.join() !== this.#indexKeys(id, record).join();
  }

  #indexKeys(id: string, record: T): string[] {
    return this.#layout.indexKeys(this.#definition.indexes ?? {}, id, record);
  }

  #stagePut(
    id: string,
    record: T,
    how: {
      readonly condition: NonNullable<Transaction["conditions"]>[number];
      readonly old: readonly string[];
      readonly lease: LeaseId | undefined;
      readonly text: RecordText | undefined;
    },
  ): Transaction {
    const { lease } = how;
    const indexKeys = this.#indexKeys(id, record);
    const value = storedText(how.text ?? this.#sealedText(how.condition.key, record), indexKeys);
    const put = putOf(how.condition.key, value, lease);
    return {
      conditions: [how.condition],
      writes: [
        put,
        ...indexKeys.filter((key) => !how.old.includes(key)).map((key) => putOf(key, "", lease)),
        ...how.old.filter((key) => !indexKeys.includes(key)).map((key) => ({ op: "delete", key }) as const),
      ],
    };
  }

  #sealedText(key: string, record: T): RecordText {
    const secrets = this.#secrets;
    if (secrets === undefined) return this.textOf(record);
    return recordText(this.#definition.codec, record, (json) => sealSecrets(json, secrets.fields, key, secrets.cipher));
  }

  /** Commits and returns the new record. Validates that the record can be decoded before writing it. */
  async #commit(staged: Transaction, before: Entry | undefined, options?: CallOptions): Promise<Stored<T>> {
    this.#reader.decode(entryOf(putOfRecord(staged), 0, before));
    const { revision } = await this.#store.commit(staged, options);
    return this.#written(staged, revision, before);
  }

  #written(staged: Transaction, revision: number, before: Entry | undefined): Stored<T> {
    return this.#reader.read(entryOf(putOfRecord(staged), revision, before));
  }

  #isAbout(thrown: unknown, id: string): boolean {
    return conflictOf(thrown)?.key === this.#layout.recordKey(id);
  }
}

/** Returns the put of the record, which is the first write. */
function putOfRecord({ writes }: Transaction): Put {
  return writes[0] as Put;
}
