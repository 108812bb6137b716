import type { SortedObjects } from "./sorted-objects.ts";
import type { StoredObject } from "./stored-object.ts";

/**
 * One commit of one object. `after` of a deletion is the last state with the deletion's revision, as watchers receive
 * it.
 */
export interface Change {
  readonly revision: number;
  readonly isDeletion: boolean;
  readonly before?: StoredObject;
  readonly after: StoredObject;
}

/**
 * A bounded history of changes of one kind. Readers keep their own position, so a slow one costs no memory: it learns
 * that its position expired.
 */
export class ChangeHistory {
  readonly #limit: number;
  #changes: Change[] = [];
  /** The number of forgotten changes: the position of the first one kept. */
  #first = 0;
  #compacted: number;

  /** Changes up to `compacted` are forgotten. */
  constructor(limit: number, compacted: number) {
    this.#limit = limit;
    this.#compacted = compacted;
  }

  /** The position after the newest change. */
  get end(): number {
    return this.#first + this.#changes.length;
  }

  /** Changes up to this revision are no longer available. */
  get compacted(): number {
    return this.#compacted;
  }

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length >= this.#limit * 2) this.#forget(this.#changes.length - this.#limit);
  }

  /** The change at a position; undefined when it does not exist yet, or no longer. */
  at(place: number): Change | undefined {
    return this.#changes[place - this.#first];
  }

  /** Whether a position is available, or the next one. */
  reaches(place: number): boolean {
    return place >= this.#first;
  }

  /** The position of the first change after a revision; undefined when it expired. */
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

  /** The objects at a revision: the current ones with later changes undone. */
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
