/** Notifies all waiting callers of a change. It carries no data; each caller reads the new state itself. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  /** Wakes all callers that are waiting now. */
  notify(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next notification or when the signal aborts. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
