import type { SortedObjects } from "./sorted-objects.ts";
import type { StoredObject } from "./stored-object.ts";

/** One commit of one object. `after` of a deletion is the last state under the deletion's revision, as watchers are told it. */
export interface Change {
  readonly revision: number;
  readonly isDeletion: boolean;
  readonly before?: StoredObject;
  readonly after: StoredObject;
}

/**
 * The newest changes of one kind, a bounded number of them. Readers keep a place of their own and come back for more, so that a
 * slow one costs no memory: it finds out that history has gone past it.
 */
export class ChangeHistory {
  readonly #limit: number;
  #changes: Change[] = [];
  /** How many changes were forgotten: the place of the first that is still there. */
  #first = 0;
  #compacted: number;

  /** Nothing up to `compacted` is known. */
  constructor(limit: number, compacted: number) {
    this.#limit = limit;
    this.#compacted = compacted;
  }

  /** The place behind the newest change. */
  get end(): number {
    return this.#first + this.#changes.length;
  }

  /** Changes at or before this revision can no longer be told. */
  get compacted(): number {
    return this.#compacted;
  }

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length >= this.#limit * 2) this.#forget(this.#changes.length - this.#limit);
  }

  /** The change at a place; undefined when there is none yet, or no longer. */
  at(place: number): Change | undefined {
    return this.#changes[place - this.#first];
  }

  /** Whether a place is still there, or is the one behind the newest. */
  reaches(place: number): boolean {
    return place >= this.#first;
  }

  /** The place of the first change behind a revision; undefined when history does not reach back to it. */
  placeAfter(revision: number): number | undefined {
    if (revision < this.#compacted) return undefined;
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#first + low;
  }

  /** The objects as they were at a revision: the present ones with everything since undone. */
  undone(present: SortedObjects, revision: number): SortedObjects | undefined {
    const place = this.placeAfter(revision);
    if (place === undefined) return undefined;
    let objects = present;
    for (let at = this.end - 1; at >= place; at -= 1) {
      const { before, after } = this.at(at) as Change;
      objects = before === undefined ? objects.without(after.key) : objects.with(before);
    }
    return objects;
  }

  /** Forgets every change up to a revision. */
  compact(revision: number): void {
    const place = this.placeAfter(revision);
    if (place === undefined) return;
    this.#forget(place - this.#first);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  #forget(count: number): void {
    if (count === 0) return;
    this.#compacted = (this.#changes[count - 1] as Change).revision;
    this.#changes = this.#changes.slice(count);
    this.#first += count;
  }
}
