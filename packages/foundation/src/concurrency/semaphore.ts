import { abortFault } from "../time/deadline.ts";
import { resourceExhausted } from "../faults/fault.ts";

export interface SemaphoreOptions {
  /** Name of the limited resource, for the fault when the queue is full. */
  readonly name: string;
  /** Number of permits. */
  readonly permits: number;
  /** Limit of waiting callers; unlimited by default. */
  readonly maxWaiting?: number;
}

/**
 * Limits concurrent work.
 *
 * Guarantees: grants permits in the order of requests; an aborted caller leaves the queue and takes no permit; a full
 * queue rejects with resource-exhausted.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** Permits in use. */
  get running(): number {
    return this.#running;
  }

  /** Callers that wait for a permit. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Runs `work` with a permit. Rejects with the signal's fault if it aborts before. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Waits for a permit. The returned function releases it and is idempotent. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw abortFault(signal);
    if (this.#running < this.#options.permits) this.#running += 1;
    else await this.#wait(signal);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { name, permits, maxWaiting = Infinity } = this.#options;
    if (this.#queue.size >= maxWaiting)
      throw resourceExhausted(name, `too many calls to ${name}: ${permits} are running and ${maxWaiting} are waiting`);
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        signal?.removeEventListener("abort", abandon);
        resolve();
      };
      const abandon = (): void => {
        this.#queue.delete(grant);
        reject(abortFault(signal as AbortSignal));
      };
      this.#queue.add(grant);
      signal?.addEventListener("abort", abandon, { once: true });
    });
  }

  /** Hands the permit to the next caller directly, so that a new caller cannot overtake. */
  #release(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
