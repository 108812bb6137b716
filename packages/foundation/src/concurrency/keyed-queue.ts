import { Semaphore } from "./semaphore.ts";

/** Limits concurrent work per key. Different keys do not wait for each other; see `Semaphore` for the guarantees. */
export class KeyedQueue {
  readonly #permits: number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** `permits` is the number of concurrent calls per key; 1 by default. */
  constructor(permits = 1) {
    this.#permits = permits;
  }

  /** Number of keys with running or waiting work. */
  get size(): number {
    return this.#semaphores.size;
  }

  /** Runs `work` when fewer than `permits` calls with this key are running. */
  async run<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#semaphores.get(key) ?? new Semaphore({ name: key, permits: this.#permits });
    this.#semaphores.set(key, semaphore);
    try {
      return await semaphore.run(signal, work);
    } finally {
      const isIdle = semaphore.running === 0 && semaphore.waiting === 0;
      if (isIdle && this.#semaphores.get(key) === semaphore) this.#semaphores.delete(key);
    }
  }
}
