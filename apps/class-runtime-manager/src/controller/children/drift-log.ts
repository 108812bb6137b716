import {
  driftRecord,
  isSameDrift,
  mergeDrift,
  type Correction,
  type DriftRecord,
} from "../../lifecycle/status/drift-record.ts";

/** A repeated correction changes the status at most this often. */
const REPEAT_MS = 60_000;
/** Classes with corrections that are not in their status yet. */
const MAX_CLASSES = 1_000;

/**
 * Remembers corrections until they are in the status of their class.
 *
 * *Guarantees*: memory is bounded; a correction that repeats is counted, and changes the status once a minute at most.
 */
export class DriftLog {
  /** By uid of the class, newest first. */
  readonly #pending = new Map<string, readonly DriftRecord[]>();

  /** Records the corrections of one pass. */
  add(uid: string, corrections: readonly Correction[]): void {
    if (corrections.length === 0) return;
    let pending = this.#pending.get(uid) ?? [];
    for (const correction of corrections) pending = mergeDrift(pending, [driftRecord(correction)]);
    this.#pending.delete(uid);
    this.#pending.set(uid, pending);
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= MAX_CLASSES) break;
      this.#pending.delete(oldest);
    }
  }

  /** The records of a class with its pending corrections; `stored` itself if nothing is due. */
  merged(uid: string, stored: readonly DriftRecord[] | undefined, nowMs: number): readonly DriftRecord[] | undefined {
    const pending = this.#pending.get(uid) ?? [];
    const isDue = pending.some((record) => {
      const known = stored?.find((each) => isSameDrift(each, record));
      return known === undefined || nowMs - Date.parse(known.last_at) >= REPEAT_MS;
    });
    return isDue ? mergeDrift(stored ?? [], pending) : stored;
  }

  /** The status of the class has these records: pending ones among them are done. */
  written(uid: string, stored: readonly DriftRecord[] | undefined): void {
    const pending = this.#pending.get(uid);
    if (pending === undefined || stored === undefined) return;
    const left = pending.filter(
      (record) => !stored.some((each) => isSameDrift(each, record) && each.last_at === record.last_at),
    );
    if (left.length === 0) this.#pending.delete(uid);
    else this.#pending.set(uid, left);
  }

  /** The class is gone. */
  forget(uid: string): void {
    this.#pending.delete(uid);
  }
}
