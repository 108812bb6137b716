import type { StoredClass } from "../classes/ports.ts";

/** One thing to tell about one class. */
export interface Report {
  readonly about: "status" | "metrics";
  readonly object: StoredClass;
  /** The object is gone; this is how it was last. */
  readonly isDeleted: boolean;
}

/** More classes that are gone than this are not remembered: the receiver finds out when it asks. */
const MAX_DELETED = 1_000;

/**
 * What is still to be told. Of each class the newest state counts, so that there is never more to tell than there are classes; those that are gone are
 * remembered up to a limit.
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

  /** Takes in a newer report of its class. Answers how many older ones were given up to make room. */
  put(report: Report): number {
    const queue = this.#of(report);
    const key = keyOf(report);
    this.#forget(queue, key);
    queue.set(key, report);
    if (!report.isDeleted) return 0;
    this.#metrics.delete(key);
    this.#deleted += 1;
    return this.#shrink();
  }

  /** Puts back what could not be told, unless something newer came meanwhile. */
  putBack(report: Report): void {
    if (!this.#of(report).has(keyOf(report))) this.put(report);
  }

  /** Takes out up to so many, no two about the same thing; states before numbers, the oldest first. */
  take(most: number): Report[] {
    const taken = [...this.#status.values(), ...this.#metrics.values()].slice(0, most);
    for (const report of taken) this.#forget(this.#of(report), keyOf(report));
    return taken;
  }

  #of({ about }: Report): Map<string, Report> {
    return about === "status" ? this.#status : this.#metrics;
  }

  #forget(queue: Map<string, Report>, key: string): void {
    if (queue.get(key)?.isDeleted) this.#deleted -= 1;
    queue.delete(key);
  }

  #shrink(): number {
    let given = 0;
    for (const [key, { isDeleted }] of this.#status) {
      if (this.#deleted <= this.#maxDeleted) break;
      if (!isDeleted) continue;
      this.#forget(this.#status, key);
      given += 1;
    }
    return given;
  }
}

function keyOf({ object }: Report): string {
  return `${object.writtenAs ?? object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
}
