/** First in, first out, without the cost of shifting an array. */
class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#items.length;
  }

  items(): readonly T[] {
    return this.#items.slice(this.#head);
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.isEmpty) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** Stale tickets tolerated beyond the number of keys. */
const STALE_ALLOWED = 1024;

interface Ticket<K> {
  readonly key: K;
  readonly priority: number;
}

/** The groups of one priority, served in turn. */
class NamespaceQueue<K> {
  readonly #groups = new Map<string, Fifo<Ticket<K>>>();

  *tickets(): Iterable<readonly [string, Ticket<K>]> {
    for (const [group, fifo] of this.#groups) for (const ticket of fifo.items()) yield [group, ticket];
  }

  push(group: string, ticket: Ticket<K>): void {
    let fifo = this.#groups.get(group);
    if (!fifo) this.#groups.set(group, (fifo = new Fifo()));
    fifo.push(ticket);
  }

  shift(): Ticket<K> | undefined {
    const next = this.#groups.entries().next();
    if (next.done) return undefined;
    const [group, fifo] = next.value;
    const ticket = fifo.shift();
    // A map keeps insertion order: removing and re-adding a group moves it to the end.
    this.#groups.delete(group);
    if (!fifo.isEmpty) this.#groups.set(group, fifo);
    return ticket;
  }
}

/**
 * Waiting keys: highest priority first; groups within a priority take turns, so that one busy namespace does not starve
 * the others; in order of arrival within a group. A key waits once, at its highest priority.
 */
export class FairQueue<K> {
  readonly #levels = new Map<number, NamespaceQueue<K>>();
  readonly #waiting = new Map<K, Ticket<K>>();
  readonly #groupOf: (key: K) => string;
  #priorities: number[] = [];
  #stale = 0;

  constructor(groupOf: (key: K) => string) {
    this.#groupOf = groupOf;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(key: K): boolean {
    return this.#waiting.has(key);
  }

  /** Adds a key or raises its priority; false when it already waits at this priority or a higher one. */
  add(key: K, priority: number): boolean {
    const present = this.#waiting.get(key);
    if (present && present.priority >= priority) return false;
    const ticket = { key, priority };
    this.#waiting.set(key, ticket);
    this.#level(priority).push(this.#groupOf(key), ticket);
    if (present) this.#noteStale();
    return present === undefined;
  }

  take(): Ticket<K> | undefined {
    for (const priority of this.#priorities) {
      const level = this.#levels.get(priority);
      for (let ticket = level?.shift(); ticket; ticket = level?.shift()) {
        // A raised key leaves a stale ticket in its old level.
        if (this.#waiting.get(ticket.key) === ticket) {
          this.#waiting.delete(ticket.key);
          return ticket;
        }
        this.#stale -= 1;
      }
    }
    return undefined;
  }

  /** Tickets held, including stale ones. */
  get heldTickets(): number {
    return this.#waiting.size + this.#stale;
  }

  clear(): void {
    this.#levels.clear();
    this.#waiting.clear();
    this.#priorities = [];
    this.#stale = 0;
  }

  /** While higher levels are never empty, stale tickets would accumulate in the lower ones. */
  #noteStale(): void {
    this.#stale += 1;
    if (this.#stale <= this.#waiting.size + STALE_ALLOWED) return;
    this.#stale = 0;
    for (const [priority, level] of this.#levels) {
      const kept = new NamespaceQueue<K>();
      for (const [group, ticket] of level.tickets()) {
        if (this.#waiting.get(ticket.key) === ticket) kept.push(group, ticket);
      }
      this.#levels.set(priority, kept);
    }
  }

  #level(priority: number): NamespaceQueue<K> {
    let level = this.#levels.get(priority);
    if (!level) {
      this.#levels.set(priority, (level = new NamespaceQueue()));
      this.#priorities = [...this.#levels.keys()].toSorted((a, b) => b - a);
    }
    return level;
  }
}
