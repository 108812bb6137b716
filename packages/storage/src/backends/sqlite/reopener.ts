import { backoffDelay, Fault, type Ambient, type BackoffPolicy, type Timer } from "@oaas/foundation";
import type { SqliteIncident } from "./open-database.ts";

export interface ReopenerOptions {
  readonly file: string;
  readonly ambient: Ambient;
  readonly policy: BackoffPolicy;
  /** Opens the file and proves that it can be written; throws otherwise. */
  readonly reopen: () => void;
  /** Called with the reason of each failed attempt. */
  readonly onFailure: (fault: Fault) => void;
  readonly onIncident?: ((incident: SqliteIncident) => void) | undefined;
}

/** Opens a failed database again with backoff, until it succeeds or is stopped. */
export class Reopener {
  readonly #options: ReopenerOptions;
  #attempts = 0;
  #openSinceMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: ReopenerOptions) {
    this.#options = options;
  }

  /** Starts the attempts. A file that fails again soon after it was opened continues the backoff. */
  start(fault: Fault): void {
    const { file, ambient, policy, onIncident } = this.#options;
    if (this.#isStopped || this.#timer !== undefined) return;
    if (ambient.clock.monotonic() - this.#openSinceMs > policy.capMs) this.#attempts = 0;
    onIncident?.({ what: "database failed; it will be opened again", path: file, fault });
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    const { ambient, policy } = this.#options;
    const delayMs = backoffDelay(policy, this.#attempts, ambient.random);
    this.#attempts += 1;
    this.#timer = ambient.timers.after(delayMs, () => this.#attempt());
  }

  #attempt(): void {
    const { file, ambient, reopen, onFailure, onIncident } = this.#options;
    const details = { attempts: this.#attempts };
    try {
      reopen();
      this.#timer = undefined;
      this.#openSinceMs = ambient.clock.monotonic();
      onIncident?.({ what: "reopened database", path: file, details });
    } catch (thrown) {
      const fault = Fault.from(thrown);
      onFailure(fault);
      onIncident?.({ what: "reopen database failed", path: file, fault, details });
      this.#schedule();
    }
  }
}
