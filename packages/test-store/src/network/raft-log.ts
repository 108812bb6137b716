import type { StoredObject } from "../objects/stored-object.ts";
import { storeObject } from "./single-copy.ts";

/** One write in the log. Without an id it only confirms a new leader. */
export interface LogEntry {
  readonly term: number;
  readonly id?: string | undefined;
  readonly after?: StoredObject | undefined;
}

/** Entries of a leader that follow the entry at `previous`. */
export interface LogSuffix {
  readonly previous: number;
  readonly previousTerm: number;
  readonly entries: readonly LogEntry[];
}

/** A whole log, for a member that lacks the beginning of the suffix. */
export interface LogSnapshot {
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly base: number;
  readonly baseTerm: number;
  readonly commit: number;
  readonly entries: readonly LogEntry[];
}

/** Applied entries that are kept for members that lag behind. */
const KEPT_ENTRIES = 256;

/** The log of one copy of a raft partition, with the objects after the applied entries. */
export class RaftLog {
  #objects = new Map<string, StoredObject>();
  /** Entries after `#base`. */
  #entries: LogEntry[] = [];
  #base = 0;
  #baseTerm = 0;
  #commit = 0;

  /** Objects after the committed entries. */
  get objects(): ReadonlyMap<string, StoredObject> {
    return this.#objects;
  }

  get last(): number {
    return this.#base + this.#entries.length;
  }

  get commit(): number {
    return this.#commit;
  }

  get lastTerm(): number {
    return this.termAt(this.last) ?? 0;
  }

  termAt(index: number): number | undefined {
    return index === this.#base ? this.#baseTerm : this.#entries[index - this.#base - 1]?.term;
  }

  append(entry: LogEntry): number {
    this.#entries.push(entry);
    return this.last;
  }

  /** The object after all entries, committed or not. */
  latest(id: string): StoredObject | undefined {
    for (let index = this.#entries.length - 1; index >= this.#commit - this.#base; index -= 1) {
      const entry = this.#entries[index];
      if (entry?.id === id) return entry.after;
    }
    return this.#objects.get(id);
  }

  /** Applies entries up to `index` and forgets old ones. */
  apply(index: number): void {
    for (; this.#commit < Math.min(index, this.last); this.#commit += 1) {
      const { id, after } = this.#entries[this.#commit - this.#base] ?? {};
      if (id !== undefined) storeObject(this.#objects, id, after);
    }
    const excess = this.#commit - this.#base - KEPT_ENTRIES;
    if (excess < KEPT_ENTRIES) return;
    this.#baseTerm = this.#entries[excess - 1]?.term ?? this.#baseTerm;
    this.#entries.splice(0, excess);
    this.#base += excess;
  }

  /** What follows an entry; undefined when the log no longer has it. */
  after(previous: number): LogSuffix | undefined {
    const previousTerm = this.termAt(previous);
    if (previousTerm === undefined) return undefined;
    return { previous, previousTerm, entries: this.#entries.slice(previous - this.#base) };
  }

  /**
   * Adds what follows an entry, and replaces from the first entry that differs. Returns false, and changes nothing, when
   * the entry before differs. An old suffix takes nothing away.
   */
  accept({ previous, previousTerm, entries }: LogSuffix): boolean {
    if (this.termAt(previous) !== previousTerm) return false;
    const differs = entries.findIndex(({ term }, offset) => this.termAt(previous + 1 + offset) !== term);
    if (differs < 0) return true;
    this.#entries.length = previous + differs - this.#base;
    this.#entries.push(...entries.slice(differs));
    return true;
  }

  snapshot(): LogSnapshot {
    return {
      objects: this.#objects,
      base: this.#base,
      baseTerm: this.#baseTerm,
      commit: this.#commit,
      entries: this.#entries,
    };
  }

  install({ objects, base, baseTerm, commit, entries }: LogSnapshot): void {
    this.#objects = new Map(objects);
    [this.#base, this.#baseTerm, this.#commit, this.#entries] = [base, baseTerm, commit, [...entries]];
  }

  /** Negative when the other log is more up to date. */
  compare(other: Pick<RaftLog, "last" | "lastTerm">): number {
    return this.lastTerm - other.lastTerm || this.last - other.last;
  }
}
