import { compareKeys, type KeyRange } from "../../port/key-order.ts";

const CHUNK = 128;
/** Keys that wait for their place; so few that sorting them in holds nobody up. */
const MOST_FRESH = 1_024;

interface Place {
  readonly chunk: number;
  readonly index: number;
}

/** Characters above U+FFFF, for which JavaScript's own order of strings is another than ours. */
const HAS_SURROGATE = /[\ud800-\udfff]/;

/**
 * Keys in order, in chunks, so that an insertion among a million moves a hundred and not all of them. New keys are sorted in together, when
 * somebody asks for the order or many have come: a store is written to more often than it is listed, and neighbours share their way.
 */
export class SortedKeys {
  #chunks: string[][] = [[]];
  #fresh: string[] = [];
  /** Whether JavaScript compares the keys that were ever here as we do, only faster. */
  #isPlain = true;

  /** Adds a key that is not there. */
  insert(key: string): void {
    if (this.#isPlain && HAS_SURROGATE.test(key)) this.#isPlain = false;
    this.#fresh.push(key);
    if (this.#fresh.length >= MOST_FRESH) this.#settle();
  }

  /** Removes a key that is there. */
  remove(key: string): void {
    this.#settle();
    const { chunk, index } = this.#lowerBound(key);
    const keys = this.#chunks[chunk] as string[];
    keys.splice(index, 1);
    if (keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(chunk, 1);
  }

  /** The first keys of a range, at most `limit`. */
  slice(range: KeyRange, limit: number): string[] {
    this.#settle();
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
    this.#settle();
    const from = this.#lowerBound(range.start);
    const to = this.#end(range);
    let total = to.index - from.index;
    for (let chunk = from.chunk; chunk < to.chunk; chunk += 1) total += (this.#chunks[chunk] as string[]).length;
    return total;
  }

  clear(): void {
    this.#chunks = [[]];
    this.#fresh = [];
    this.#isPlain = true;
  }

  #settle(): void {
    if (this.#fresh.length === 0) return;
    if (this.#isPlain) this.#fresh.sort();
    else this.#fresh.sort(compareKeys);
    const isBelow = this.#isPlain ? isPlainlyBelow : isKeyBelow;
    let last: Place = { chunk: 0, index: -1 };
    for (const key of this.#fresh) {
      const next = (this.#chunks[last.chunk] as string[])[last.index + 1];
      // Mostly just behind the one before, as the next revision of the same thing is.
      const isNext = last.index >= 0 && next !== undefined && isBelow(key, next);
      last = this.#place(key, isNext ? { chunk: last.chunk, index: last.index + 1 } : this.#lowerBound(key));
    }
    this.#fresh = [];
  }

  /** Answers where it is then. */
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

  /** Where the first key that is not below `key` stands, or would be put. */
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

/** What `splice` does, for less: it is made for more than one item, and every write passes here. */
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

/** The first of `length` positions for which the (sorted) predicate is false. */
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
