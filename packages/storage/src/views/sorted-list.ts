import { positionAfter, type Ordered } from "./ordered-page.ts";

export interface SortedListOptions<T> {
  readonly keyOf: (item: T) => string;
  readonly includes: (item: T) => boolean;
  readonly descending: boolean;
}

/** Items that match, in the order of their keys, kept so as single items come, go and change. Keys must differ. */
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

  /** Takes the place of what was before; either may be nothing. */
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
