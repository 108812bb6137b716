import { Notifier } from "@oaas/foundation";
import type { ClassChange, ClassDirectory } from "../../classes/ports.ts";

/** One change with its place in the log. */
export interface LoggedChange {
  readonly position: number;
  readonly change: ClassChange;
}

/**
 * The last changes in order, shared by all watchers: each has a place in it and no queue of its own, so that slow watchers cost
 * nothing and fast ones miss nothing.
 *
 * Guarantees: `since` answers every change after a position, or undefined when some of them are no longer kept or the position is
 * of another process.
 */
export class ChangeLog {
  readonly #epoch: string;
  readonly #capacity: number;
  readonly #kept: (LoggedChange | undefined)[] = [];
  readonly #notifier = new Notifier();
  #head = 0;

  /** `epoch` tells this log from that of any other process. */
  constructor(directory: Pick<ClassDirectory, "onChange">, epoch: string, capacity = 2048) {
    this.#epoch = epoch;
    this.#capacity = capacity;
    directory.onChange((change) => this.#append(change));
  }

  /** The position of the last change. */
  get head(): number {
    return this.#head;
  }

  /** A position as callers are given it. */
  token(position: number): string {
    return `${this.#epoch}.${position}`;
  }

  /** The position behind a token; undefined when it is none of this process. */
  position(token: string): number | undefined {
    const [epoch, position = ""] = token.split(".");
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(position)) return undefined;
    return Number(position) <= this.#head ? Number(position) : undefined;
  }

  /** All changes after a position; undefined when they are not all kept. */
  since(position: number): readonly LoggedChange[] | undefined {
    if (position < this.#head - this.#capacity) return undefined;
    const changes: LoggedChange[] = [];
    for (let at = position + 1; at <= this.#head; at += 1) {
      const one = this.#kept[at % this.#capacity];
      if (one?.position !== at) return undefined;
      changes.push(one);
    }
    return changes;
  }

  /** Resolves at the next change, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return this.#notifier.wait(signal);
  }

  #append(change: ClassChange): void {
    this.#head += 1;
    this.#kept[this.#head % this.#capacity] = { position: this.#head, change };
    this.#notifier.notify();
  }
}
