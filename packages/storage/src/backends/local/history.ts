import { checkPast } from "../../port/check-requests.ts";
import { compactedFault } from "../../port/store-faults.ts";
import type { ChangeEvent, Entry } from "../../port/key-value-store.ts";

/** How much history is kept for watches and for reads of the past; the older end is dropped first. */
export interface HistoryLimits {
  readonly revisions: number;
  /** Of keys and values, in characters. */
  readonly characters: number;
}

export const DEFAULT_HISTORY: HistoryLimits = { revisions: 10_000, characters: 32 * 1024 * 1024 };

/**
 * The last transactions, one per revision, without gaps.
 *
 * Guarantees: `compacted` is the newest revision that can no longer be asked for; memory is bounded by the limits
 * (the newest transaction is always kept). Changes are kept in columns and become events for who asks: thousands wait
 * here for a while, and as objects of their own they were most of what is moved when memory is tidied up.
 */
export class History {
  /** What became of each key that was changed; undefined when it was deleted. */
  #after: (Entry | undefined)[] = [];
  /** What was there before; undefined when nothing was. */
  #before: (Entry | undefined)[] = [];
  /** Where the changes of each revision end, and before them where those of the first begin; counted from the first ever. */
  #ends: number[] = [0];
  /** How large each revision is: what is dropped was not looked at for long, and is not fetched for that. */
  #sizes: number[] = [];
  /** Changes that are no longer in the columns. */
  #gone = 0;
  /** Revisions that are still in the columns, but empty. */
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

  /** Adds the next revision. Its events carry what was there before. */
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

  /** Whether a revision, neither compacted nor in the future, changed a key that concerns somebody. */
  touches(revision: number, concerns: (key: string) => boolean): boolean {
    const begin = this.#endOf(revision - 1);
    const end = this.#endOf(revision);
    for (let at = begin; at < end; at += 1) if (concerns(this.#keyAt(at))) return true;
    return false;
  }

  /** Adds what such a revision changed, as far as it concerns somebody, to a list. */
  tell(revision: number, { concerns, withPrevious, to }: Listener): void {
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

  /** What each key that changed since a revision was then; undefined for a key that did not exist. */
  undoTo(revision: number): ReadonlyMap<string, Entry | undefined> {
    checkPast("$.atRevision", revision, this.revision);
    if (revision < this.#compacted) throw compactedFault(revision, this.#compacted);
    const was = new Map<string, Entry | undefined>();
    const end = this.#endOf(revision);
    for (let at = this.#after.length - 1; at >= end; at -= 1) was.set(this.#keyAt(at), this.#before[at]);
    return was;
  }

  /** The place behind a revision's changes. */
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

  /** Takes what was dropped out of the columns. */
  #tidy(changes: number): void {
    this.#after = this.#after.slice(changes);
    this.#before = this.#before.slice(changes);
    this.#ends = this.#ends.slice(this.#dropped);
    this.#sizes = this.#sizes.slice(this.#dropped);
    this.#gone += changes;
    this.#dropped = 0;
  }
}

/** Somebody who is told of changes. */
export interface Listener {
  readonly concerns: (key: string) => boolean;
  /** Whether to tell what was there before. */
  readonly withPrevious: boolean;
  readonly to: ChangeEvent[];
}
