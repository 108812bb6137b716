import { positionAfter, type Ordered } from "./ordered-page.ts";

export interface SortedListOptions<T> {
  readonly keyOf: (item: T) => string;
  readonly includes: (item: T) => boolean;
  readonly descending: boolean;
}

/** Matching items in the order of their unique keys, updated item by item. */
export class SortedList<T> implements Ordered<T> {
  readonly keys: string[];
  readonly items: T[];
  readonly #options: SortedListOptions<T>;

  constructor(all: Iterable<T>, options: SortedListOptions<T>) {
    const { keyOf, includes, descending } = options;
    const sorted = [...all]
      .filter(includes)
      .map((item) => ({ key: keyOf(item), item }))
      .sort((a, b) => (a.key < b.key ? -1 : 1) * (descending ? -1 : 1));
    this.keys = sorted.map(({ key }) => key);
    this.items = sorted.map(({ item }) => item);
    this.#options = options;
  }

  /** Replaces an item; either may be undefined. */
  replace(before: T | undefined, after: T | undefined): void {
    const { keyOf, includes, descending } = this.#options;
    if (before !== undefined && includes(before)) {
      const at = positionAfter(this.keys, keyOf(before), descending) - 1;
      this.keys.splice(at, 1);
      this.items.splice(at, 1);
    }
    if (after !== undefined && includes(after)) {
      const key = keyOf(after);
      const at = positionAfter(this.keys, key, descending);
      this.keys.splice(at, 0, key);
      this.items.splice(at, 0, after);
    }
  }
}
