/** Lets one reader wait until something happened, however often. */
export class Wakeup {
  #isDue = false;
  #resolve: (() => void) | undefined;

  readonly wake = (): void => {
    this.#isDue = true;
    this.#resolve?.();
    this.#resolve = undefined;
  };

  /** Resolves at once when woken since the last time. */
  async wait(): Promise<void> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#isDue = false;
  }
}
