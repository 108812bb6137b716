import { checkPast } from "../../checks.ts";
import { compactedFault } from "../../kv-faults.ts";
import type { ChangeEvent, Entry } from "../../kv.ts";

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
 * (the newest transaction is always kept).
 */
export class History {
  /** What each transaction changed. */
  #records: (readonly ChangeEvent[])[] = [];
  /** How large each of them is: what is dropped was not looked at for long, and is not fetched for that. */
  #sizes: number[] = [];
  #dropped = 0;
  #characters = 0;
  #compacted: number;
  readonly #limits: HistoryLimits;

  constructor(revision: number, limits: HistoryLimits) {
    this.#compacted = revision;
    this.#limits = limits;
  }

  get revision(): number {
    return this.#compacted + this.#records.length - this.#dropped;
  }

  get compacted(): number {
    return this.#compacted;
  }

  /** Adds the next revision. Its events carry what was there before. */
  append(events: readonly ChangeEvent[]): void {
    const characters = sizeOf(events);
    this.#records.push(events);
    this.#sizes.push(characters);
    this.#characters += characters;
    while (this.revision - this.#compacted > 1 && this.#tooBig()) this.#dropOldest();
  }

  /** The events of a revision that is neither compacted nor in the future. */
  at(revision: number): readonly ChangeEvent[] {
    if (revision <= this.#compacted) throw compactedFault(revision, this.#compacted + 1);
    return this.#records[this.#dropped + revision - this.#compacted - 1] as readonly ChangeEvent[];
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
    for (let at = this.revision; at > revision; at -= 1) {
      for (const event of this.at(at)) was.set(event.type === "put" ? event.entry.key : event.key, event.previous);
    }
    return was;
  }

  #tooBig(): boolean {
    return this.revision - this.#compacted > this.#limits.revisions || this.#characters > this.#limits.characters;
  }

  #dropOldest(): void {
    this.#characters -= this.#sizes[this.#dropped] as number;
    this.#records[this.#dropped] = NOTHING;
    this.#dropped += 1;
    this.#compacted += 1;
    if (this.#dropped > 1024 && this.#dropped * 2 > this.#records.length) {
      this.#records = this.#records.slice(this.#dropped);
      this.#sizes = this.#sizes.slice(this.#dropped);
      this.#dropped = 0;
    }
  }
}

const NOTHING: readonly ChangeEvent[] = [];

function sizeOf(events: readonly ChangeEvent[]): number {
  let characters = 0;
  for (const event of events)
    characters += event.type === "put" ? event.entry.key.length + event.entry.value.length : event.key.length;
  return characters;
}
