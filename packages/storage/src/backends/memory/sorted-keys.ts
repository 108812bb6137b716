import { compareKeys, type KeyRange } from "../../port/key-order.ts";

const CHUNK = 128;
/** Limit of pending changes; small enough to sort quickly. */
const MAX_PENDING = 1_024;
/** Before the first key: the next key has to be searched. */
const NO_PLACE: Place = { chunk: 0, index: -1 };

interface Place {
  readonly chunk: number;
  readonly index: number;
}

/** Characters above U+FFFF, which JavaScript sorts differently. */
const HAS_SURROGATE = /[\ud800-\udfff]/;

/**
 * Sorted keys in chunks, so that an insertion moves about a hundred keys. Changes are applied in batches, before a read
 * or when there are many, because writes are more frequent than lists.
 */
export class SortedKeys {
  #chunks: string[][] = [[]];
  readonly #pending = new Map<string, "insert" | "remove">();
  /** Whether the faster JavaScript comparison gives the same order for all keys so far. */
  #isPlain = true;

  /** Adds a new key. */
  insert(key: string): void {
    if (this.#isPlain && HAS_SURROGATE.test(key)) this.#isPlain = false;
    this.#change(key, "insert");
  }

  /** Removes an existing key. */
  remove(key: string): void {
    this.#change(key, "remove");
  }

  /** Returns the first keys of a range, at most `limit`. */
  slice(range: KeyRange, limit: number): string[] {
    this.#applyPending();
    const from = this.#lowerBound(range.start);
    const to = this.#end(range);
    const found: string[] = [];
    for (let chunk = from.chunk; chunk <= to.chunk && found.length < limit; chunk += 1) {
      const first = chunk === from.chunk ? from.index : 0;
      const last = chunk === to.chunk ? to.index : Number.MAX_SAFE_INTEGER;
      const keys = this.#chunks[chunk] as string[];
      for (const key of keys.slice(first, Math.min(last, first + limit - found.length))) found.push(key);
    }
    return found;
  }

  count(range: KeyRange): number {
    if (range.end !== undefined && compareKeys(range.start, range.end) >= 0) return 0;
    this.#applyPending();
    const from = this.#lowerBound(range.start);
    const to = this.#end(range);
    let total = to.index - from.index;
    for (let chunk = from.chunk; chunk < to.chunk; chunk += 1) total += (this.#chunks[chunk] as string[]).length;
    return total;
  }

  clear(): void {
    this.#chunks = [[]];
    this.#pending.clear();
    this.#isPlain = true;
  }

  /** An insertion and a removal of the same key cancel each other out. */
  #change(key: string, change: "insert" | "remove"): void {
    if (this.#pending.has(key)) this.#pending.delete(key);
    else this.#pending.set(key, change);
    if (this.#pending.size >= MAX_PENDING) this.#applyPending();
  }

  #applyPending(): void {
    if (this.#pending.size === 0) return;
    const changed = [...this.#pending.keys()];
    if (this.#isPlain) changed.sort();
    else changed.sort(compareKeys);
    const isBelow = this.#isPlain ? isPlainlyBelow : isKeyBelow;
    let last = NO_PLACE;
    for (const key of changed) {
      const next = (this.#chunks[last.chunk] as string[])[last.index + 1];
      // Usually right after the previous key.
      const isNext = last.index >= 0 && next !== undefined && !isBelow(next, key);
      const place = isNext ? { chunk: last.chunk, index: last.index + 1 } : this.#lowerBound(key);
      last = this.#pending.get(key) === "insert" ? this.#place(key, place) : this.#removeAt(place);
    }
    this.#pending.clear();
  }

  /** Returns the position before the removed key. */
  #removeAt({ chunk, index }: Place): Place {
    const keys = this.#chunks[chunk] as string[];
    keys.splice(index, 1);
    if (keys.length > 0 || this.#chunks.length === 1) return { chunk, index: index - 1 };
    this.#chunks.splice(chunk, 1);
    return NO_PLACE;
  }

  /** Returns the new position. */
  #place(key: string, { chunk, index }: Place): Place {
    const keys = this.#chunks[chunk] as string[];
    makeRoom(keys, index, key);
    if (keys.length <= CHUNK) return { chunk, index };
    this.#chunks.splice(chunk + 1, 0, keys.splice(CHUNK / 2));
    return index < CHUNK / 2 ? { chunk, index } : { chunk: chunk + 1, index: index - CHUNK / 2 };
  }

  #end(range: KeyRange): Place {
    if (range.end !== undefined) return this.#lowerBound(range.end);
    const chunk = this.#chunks.length - 1;
    return { chunk, index: (this.#chunks[chunk] as string[]).length };
  }

  /** Returns the position of the first key that is not less than `key`. */
  #lowerBound(key: string): Place {
    const isBelow = this.#isPlain && !HAS_SURROGATE.test(key) ? isPlainlyBelow : isKeyBelow;
    const chunks = this.#chunks;
    const after = firstAt(chunks.length, (at) => {
      const keys = chunks[at] as string[];
      return keys.length > 0 && isBelow(keys[keys.length - 1] as string, key);
    });
    const chunk = Math.min(after, chunks.length - 1);
    const keys = chunks[chunk] as string[];
    return { chunk, index: firstAt(keys.length, (at) => isBelow(keys[at] as string, key)) };
  }
}

/** Inserts one item; faster than `splice`. */
function makeRoom(keys: string[], index: number, key: string): void {
  for (let at = keys.length; at > index; at -= 1) keys[at] = keys[at - 1] as string;
  keys[index] = key;
}

function isPlainlyBelow(candidate: string, key: string): boolean {
  return candidate < key;
}

function isKeyBelow(candidate: string, key: string): boolean {
  return compareKeys(candidate, key) < 0;
}

/** Binary search: returns the first position for which the predicate is false. */
function firstAt(length: number, isBefore: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
