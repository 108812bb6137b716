/** Tells everybody who waits that something happened; what it was, they look up themselves, each at its own pace. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  /** Wakes all who wait now. */
  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Waits for the next ring; resolves as well when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
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
