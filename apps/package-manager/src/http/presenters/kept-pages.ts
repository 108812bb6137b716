/** Pages that are kept. Whoever asks again for one asks for one of the first, or goes on from where they are. */
const MAX_PAGES = 32;

interface KeptPage {
  readonly items: readonly object[];
  readonly bytes: Buffer;
}

/**
 * Lists in JSON, put together once: a page of the same things is the same bytes. Things never change, there is another one for each state,
 * so that a look at which ones they are is enough.
 */
export class KeptPages<Item extends object> {
  readonly #textOf: (item: Item) => string;
  readonly #pages = new Map<Item, KeptPage>();

  constructor(textOf: (item: Item) => string) {
    this.#textOf = textOf;
  }

  /** All of them as a JSON list. */
  json(items: readonly Item[]): Buffer {
    const [first] = items;
    if (first === undefined) return EMPTY;
    const kept = this.#pages.get(first);
    if (kept && isSame(kept.items, items)) return kept.bytes;
    const bytes = Buffer.from(`[${items.map(this.#textOf).join(",")}]`);
    this.#pages.delete(first);
    this.#pages.set(first, { items, bytes });
    if (this.#pages.size > MAX_PAGES) {
      const [oldest] = this.#pages.keys();
      this.#pages.delete(oldest as Item);
    }
    return bytes;
  }
}

const EMPTY = Buffer.from("[]");

function isSame(left: readonly object[], right: readonly object[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
