import type { StoredObject } from "./stored-object.ts";

/** Objects of adjacent keys, in order. */
type Chunk = readonly StoredObject[];

/** A chunk is split beyond this size: small enough to copy per write, large enough that there are few. */
const CHUNK_LIMIT = 128;

/**
 * Objects of one kind in key order. Immutable: a write returns a new one that shares all but one chunk, so that paged
 * lists and watches are cheap.
 */
export class SortedObjects {
  static readonly none: SortedObjects = new SortedObjects([], 0);

  readonly size: number;
  readonly #chunks: readonly Chunk[];

  private constructor(chunks: readonly Chunk[], size: number) {
    this.#chunks = chunks;
    this.size = size;
  }

  /** From sorted objects. */
  static of(objects: readonly StoredObject[]): SortedObjects {
    const chunks: Chunk[] = [];
    for (let at = 0; at < objects.length; at += CHUNK_LIMIT / 2) chunks.push(objects.slice(at, at + CHUNK_LIMIT / 2));
    return new SortedObjects(chunks, objects.length);
  }

  get(key: string): StoredObject | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (chunk === undefined) return undefined;
    const found = chunk[findIndex(chunk, key)];
    return found?.key === key ? found : undefined;
  }

  with(object: StoredObject): SortedObjects {
    const { key } = object;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return new SortedObjects([[object]], 1);
    const place = findIndex(chunk, key);
    const isThere = chunk[place]?.key === key;
    const next = isThere ? chunk.with(place, object) : chunk.toSpliced(place, 0, object);
    const size = this.size + (isThere ? 0 : 1);
    if (next.length <= CHUNK_LIMIT) return new SortedObjects(this.#chunks.with(at, next), size);
    const middle = next.length >> 1;
    return new SortedObjects(this.#chunks.toSpliced(at, 1, next.slice(0, middle), next.slice(middle)), size);
  }

  without(key: string): SortedObjects {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return this;
    const place = findIndex(chunk, key);
    if (chunk[place]?.key !== key) return this;
    const next = chunk.toSpliced(place, 1);
    const chunks = next.length === 0 ? this.#chunks.toSpliced(at, 1) : this.#chunks.with(at, next);
    return new SortedObjects(chunks, this.size - 1);
  }

  /** Objects from a key on (inclusive), in order. */
  *from(start: string): Generator<StoredObject> {
    for (let at = this.#chunkOf(start); at < this.#chunks.length; at += 1) {
      const chunk = this.#chunks[at] ?? [];
      const first = chunk[0];
      const skipped = first !== undefined && first.key < start ? findIndex(chunk, start) : 0;
      for (let place = skipped; place < chunk.length; place += 1) yield chunk[place] as StoredObject;
    }
  }

  /** Objects with a key prefix, in order. */
  withPrefix(prefix: string, start = prefix): readonly StoredObject[] {
    const found: StoredObject[] = [];
    for (const object of this.from(start)) {
      if (!object.key.startsWith(prefix)) break;
      found.push(object);
    }
    return found;
  }

  /** The last chunk that begins at or before the key; 0 when all begin after it. */
  #chunkOf(key: string): number {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#chunks[middle]?.[0]?.key ?? "") <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The position of a key in a chunk. */
function findIndex(chunk: Chunk, key: string): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunk[middle] as StoredObject).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
