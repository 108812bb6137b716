import { checkPast } from "../../port/check-requests.ts";
import { compactedFault } from "../../port/store-faults.ts";
import type { ChangeEvent, Entry } from "../../port/key-value-store.ts";

/** Limits of the retained history. The oldest revisions are dropped first. */
export interface HistoryLimits {
  readonly revisions: number;
  /** Size of keys and values in characters. */
  readonly characters: number;
}

export const DEFAULT_HISTORY: HistoryLimits = { revisions: 10_000, characters: 32 * 1024 * 1024 };

/**
 * The last transactions, one per revision, without gaps.
 *
 * Guarantees: `compacted` is the newest revision that is no longer retained. The limits bound memory; the newest
 * transaction is always kept. Changes are stored in columns and converted to events on demand, because thousands of
 * event objects would dominate garbage collection.
 */
export class History {
  /** New entry of each changed key; undefined if it was deleted. */
  #after: (Entry | undefined)[] = [];
  /** Previous entry; undefined if the key did not exist. */
  #before: (Entry | undefined)[] = [];
  /**
   * End position of the changes of each revision, after the start position of the first; counted from the first change
   * ever.
   */
  #ends: number[] = [0];
  /** Size of each revision, for dropping revisions without reading them. */
  #sizes: number[] = [];
  /** Number of changes removed from the columns. */
  #gone = 0;
  /** Number of dropped revisions that are still in the columns. */
  #dropped = 0;
  #characters = 0;
  #compacted: number;
  readonly #limits: HistoryLimits;

  constructor(revision: number, limits: HistoryLimits) {
    this.#compacted = revision;
    this.#limits = limits;
  }

  get revision(): number {
    return this.#compacted + this.#sizes.length - this.#dropped;
  }

  get compacted(): number {
    return this.#compacted;
  }

  /** Adds the next revision with the previous entries. */
  append(events: readonly ChangeEvent[]): void {
    let characters = 0;
    for (const event of events) {
      const entry = event.type === "put" ? event.entry : undefined;
      characters += entry === undefined ? (event.previous as Entry).key.length : entry.key.length + entry.value.length;
      this.#after.push(entry);
      this.#before.push(event.previous);
    }
    this.#ends.push(this.#gone + this.#after.length);
    this.#sizes.push(characters);
    this.#characters += characters;
    while (this.revision - this.#compacted > 1 && this.#tooBig()) this.#dropOldest();
  }

  /** Whether a retained revision changed a key of the listener. */
  touches(revision: number, concerns: (key: string) => boolean): boolean {
    const begin = this.#endOf(revision - 1);
    const end = this.#endOf(revision);
    for (let at = begin; at < end; at += 1) if (concerns(this.#keyAt(at))) return true;
    return false;
  }

  /** Adds the changes of a retained revision that concern the listener to a list. */
  collect(revision: number, { concerns, withPrevious, to }: Listener): void {
    const begin = this.#endOf(revision - 1);
    const end = this.#endOf(revision);
    for (let at = begin; at < end; at += 1) {
      const key = this.#keyAt(at);
      if (!concerns(key)) continue;
      const entry = this.#after[at];
      const previous = withPrevious ? this.#before[at] : undefined;
      const event: ChangeEvent = entry === undefined ? { type: "delete", key, revision } : { type: "put", entry };
      to.push(previous === undefined ? event : { ...event, previous });
    }
  }

  compact(revision: number): void {
    checkPast("$", revision, this.revision);
    while (this.#compacted < revision) this.#dropOldest();
  }

  /** Returns the entries at a revision of all keys that changed since; undefined for keys that did not exist. */
  undoTo(revision: number): ReadonlyMap<string, Entry | undefined> {
    checkPast("$.atRevision", revision, this.revision);
    if (revision < this.#compacted) throw compactedFault(revision, this.#compacted);
    const was = new Map<string, Entry | undefined>();
    const end = this.#endOf(revision);
    for (let at = this.#after.length - 1; at >= end; at -= 1) was.set(this.#keyAt(at), this.#before[at]);
    return was;
  }

  /** End position of the changes of a revision. */
  #endOf(revision: number): number {
    if (revision < this.#compacted) throw compactedFault(revision + 1, this.#compacted + 1);
    return (this.#ends[this.#dropped + revision - this.#compacted] as number) - this.#gone;
  }

  #keyAt(at: number): string {
    const { key } = (this.#after[at] ?? this.#before[at]) as Entry;
    return key;
  }

  #tooBig(): boolean {
    return this.revision - this.#compacted > this.#limits.revisions || this.#characters > this.#limits.characters;
  }

  #dropOldest(): void {
    const end = this.#endOf(this.#compacted + 1);
    for (let at = this.#endOf(this.#compacted); at < end; at += 1) this.#after[at] = this.#before[at] = undefined;
    this.#characters -= this.#sizes[this.#dropped] as number;
    this.#dropped += 1;
    this.#compacted += 1;
    if (this.#dropped > 1024 && this.#dropped * 2 > this.#sizes.length) this.#tidy(end);
  }

  /** Removes dropped revisions from the columns. */
  #tidy(changes: number): void {
    this.#after = this.#after.slice(changes);
    this.#before = this.#before.slice(changes);
    this.#ends = this.#ends.slice(this.#dropped);
    this.#sizes = this.#sizes.slice(this.#dropped);
    this.#gone += changes;
    this.#dropped = 0;
  }
}

/** A receiver of changes. */
export interface Listener {
  readonly concerns: (key: string) => boolean;
  /** Whether to include the previous entries. */
  readonly withPrevious: boolean;
  readonly to: ChangeEvent[];
}
