interface DueEntry<K> {
  readonly key: K;
  readonly dueAt: number;
  readonly order: number;
}

/** Stale entries tolerated beyond the number of keys. */
const STALE_ALLOWED = 64;

/**
 * Keys by due time: each key once, at its earliest. Ties keep insertion order. Memory is proportional to the number of
 * keys.
 */
export class DueHeap<K> {
  #heap: DueEntry<K>[] = [];
  readonly #current = new Map<K, DueEntry<K>>();
  #order = 0;

  get size(): number {
    return this.#current.size;
  }

  /** Sets a key's due time, unless it is already due earlier. */
  set(key: K, dueAt: number): void {
    const present = this.#current.get(key);
    if (present && present.dueAt <= dueAt) return;
    const entry = { key, dueAt, order: (this.#order += 1) };
    this.#current.set(key, entry);
    this.#heap.push(entry);
    this.#up(this.#heap.length - 1);
    this.#compact();
  }

  has(key: K): boolean {
    return this.#current.has(key);
  }

  delete(key: K): boolean {
    // The heap entry stays and is skipped later: removal from the middle would cost a scan.
    return this.#current.delete(key);
  }

  /** When the next key is due, or undefined. */
  nextDueAt(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.dueAt;
  }

  /** Removes and returns the next key that is due at `now`, or undefined. */
  takeDue(now: number): K | undefined {
    this.#dropStale();
    const top = this.#heap[0];
    if (!top || top.dueAt > now) return undefined;
    this.#pop();
    this.#current.delete(top.key);
    return top.key;
  }

  clear(): void {
    this.#heap = [];
    this.#current.clear();
  }

  /** Entries held, including stale ones. */
  get heldEntries(): number {
    return this.#heap.length;
  }

  /** Keys that are delayed and cancelled repeatedly would leave entries until far in the future. */
  #compact(): void {
    if (this.#heap.length <= 2 * this.#current.size + STALE_ALLOWED) return;
    this.#heap = [...this.#current.values()].toSorted((a, b) => a.dueAt - b.dueAt || a.order - b.order);
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top && this.#current.get(top.key) !== top; top = this.#heap[0]) this.#pop();
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#down(0);
    }
  }

  #up(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#before(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #down(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      let least = index;
      if (left < this.#heap.length && this.#before(left, least)) least = left;
      if (left + 1 < this.#heap.length && this.#before(left + 1, least)) least = left + 1;
      if (least === index) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #before(a: number, b: number): boolean {
    const left = this.#heap[a] as DueEntry<K>;
    const right = this.#heap[b] as DueEntry<K>;
    return left.dueAt === right.dueAt ? left.order < right.order : left.dueAt < right.dueAt;
  }

  #swap(a: number, b: number): void {
    const held = this.#heap[a] as DueEntry<K>;
    this.#heap[a] = this.#heap[b] as DueEntry<K>;
    this.#heap[b] = held;
  }
}
