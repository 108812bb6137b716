import { encodePair, encodeSegment, decodeSegment, pairPrefix, secondOfPair } from "./key-encoding.ts";

/** Index definitions: the values of a record in each index. */
export type Indexes<T> = Readonly<Record<string, (record: T) => readonly string[] | string | undefined>>;

/**
 * Keys of a collection.
 *
 * ```
 *   c/<collection>/<id>                            the record
 *   i/<collection>/<index>/<value> U+0001 <id>     one per index and value, empty
 * ```
 */
export class CollectionLayout {
  readonly recordPrefix: string;
  readonly #indexPrefix: string;

  constructor(name: string) {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`"${name}" is not a valid collection name`);
    this.recordPrefix = `c/${name}/`;
    this.#indexPrefix = `i/${name}/`;
  }

  recordKey(id: string): string {
    return this.recordPrefix + encodeSegment(id);
  }

  idOfRecord(key: string): string {
    return decodeSegment(key.slice(this.recordPrefix.length));
  }

  /** Returns the prefix of all entries of one index value. */
  indexSpan(index: string, value: string): string {
    return `${this.#indexPrefix}${index}/${pairPrefix(value)}`;
  }

  indexKey(index: string, value: string, id: string): string {
    return `${this.#indexPrefix}${index}/${encodePair(value, id)}`;
  }

  idOfIndexEntry(index: string, key: string): string {
    return secondOfPair(key.slice(`${this.#indexPrefix}${index}/`.length));
  }

  /** Returns the index keys of a record, sorted and unique. */
  indexKeys<T>(indexes: Indexes<T>, id: string, record: T): string[] {
    const keys: string[] = [];
    for (const index in indexes) {
      const values = indexes[index]?.(record) ?? [];
      for (const value of typeof values === "string" ? [values] : values) keys.push(this.indexKey(index, value, id));
    }
    return keys.length < 2 ? keys : [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
  }
}
