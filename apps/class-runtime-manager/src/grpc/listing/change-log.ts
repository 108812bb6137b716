import { Notifier } from "@oaas/foundation";
import type { ClassChange, ClassDirectory } from "../../classes/ports.ts";

/** A change and its position in the log. */
export interface LoggedChange {
  readonly position: number;
  readonly change: ClassChange;
}

/**
 * A bounded log of the last changes, shared by all watchers. A watcher has only a position in the log and no queue, so
 * slow watchers cost no memory.
 *
 * Guarantees: `since` returns every change after a position, or undefined if some of them are no longer in the log or
 * the position belongs to another process.
 */
export class ChangeLog {
  readonly #epoch: string;
  readonly #capacity: number;
  readonly #changes: (LoggedChange | undefined)[] = [];
  readonly #notifier = new Notifier();
  #head = 0;

  /** `epoch` distinguishes the logs of different processes. */
  constructor(directory: Pick<ClassDirectory, "onChange">, epoch: string, capacity = 2048) {
    this.#epoch = epoch;
    this.#capacity = capacity;
    directory.onChange((change) => this.#append(change));
  }

  /** The position of the last change. */
  get head(): number {
    return this.#head;
  }

  /** The resume token of a position. */
  token(position: number): string {
    return `${this.#epoch}.${position}`;
  }

  /** The position of a token; undefined if the token is not of this process. */
  position(token: string): number | undefined {
    const [epoch, position = ""] = token.split(".");
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(position)) return undefined;
    return Number(position) <= this.#head ? Number(position) : undefined;
  }

  /** All changes after a position; undefined if some are no longer in the log. */
  since(position: number): readonly LoggedChange[] | undefined {
    if (position < this.#head - this.#capacity) return undefined;
    const changes: LoggedChange[] = [];
    for (let at = position + 1; at <= this.#head; at += 1) {
      const one = this.#changes[at % this.#capacity];
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
    this.#changes[this.#head % this.#capacity] = { position: this.#head, change };
    this.#notifier.notify();
  }
}
