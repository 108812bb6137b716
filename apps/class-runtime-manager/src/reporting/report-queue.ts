import type { StoredClass } from "../classes/ports.ts";

/** A pending report about one class. */
export interface Report {
  readonly about: "status" | "metrics";
  readonly object: StoredClass;
  /** Whether the object was deleted; `object` is its last state. */
  readonly isDeleted: boolean;
}

/** Limit of pending deletions. The receiver detects the rest when it lists the classes. */
const MAX_DELETED = 1_000;

/**
 * Pending reports. Holds only the newest state of each class, so its size is bounded by the number of classes plus the
 * limit of deletions.
 */
export class ReportQueue {
  readonly #status = new Map<string, Report>();
  readonly #metrics = new Map<string, Report>();
  readonly #maxDeleted: number;
  #deleted = 0;

  constructor(maxDeleted = MAX_DELETED) {
    this.#maxDeleted = maxDeleted;
  }

  get size(): number {
    return this.#status.size + this.#metrics.size;
  }

  /**
   * Adds a report and replaces an older one of the same class. Returns how many deletions were dropped to stay within
   * the limit.
   */
  put(report: Report): number {
    const queue = this.#queueOf(report);
    const key = keyOf(report);
    this.#remove(queue, key);
    queue.set(key, report);
    if (!report.isDeleted) return 0;
    this.#metrics.delete(key);
    this.#deleted += 1;
    return this.#dropExcessDeletions();
  }

  /** Puts back a report that could not be sent, unless a newer one of the class is queued. */
  putBack(report: Report): void {
    if (!this.#queueOf(report).has(keyOf(report))) this.put(report);
  }

  /** Removes and returns up to `limit` reports of different classes: status before metrics, oldest first. */
  take(limit: number): Report[] {
    const batch = [...this.#status.values(), ...this.#metrics.values()].slice(0, limit);
    for (const report of batch) this.#remove(this.#queueOf(report), keyOf(report));
    return batch;
  }

  #queueOf({ about }: Report): Map<string, Report> {
    return about === "status" ? this.#status : this.#metrics;
  }

  #remove(queue: Map<string, Report>, key: string): void {
    if (queue.get(key)?.isDeleted) this.#deleted -= 1;
    queue.delete(key);
  }

  #dropExcessDeletions(): number {
    let dropped = 0;
    for (const [key, { isDeleted }] of this.#status) {
      if (this.#deleted <= this.#maxDeleted) break;
      if (!isDeleted) continue;
      this.#remove(this.#status, key);
      dropped += 1;
    }
    return dropped;
  }
}

function keyOf({ object }: Report): string {
  return `${object.storedAs ?? object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
}
