const MINUTE_MS = 60_000;

/** Limits the actions in the cluster within a minute. */
export class ActionBudget {
  readonly #perMinute: () => number;
  #takenAtMs: number[] = [];

  constructor(perMinute: () => number) {
    this.#perMinute = perMinute;
  }

  hasLeft(nowMs: number): boolean {
    this.#takenAtMs = this.#takenAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS && atMs <= nowMs);
    return this.#takenAtMs.length < this.#perMinute();
  }

  take(nowMs: number): void {
    this.#takenAtMs.push(nowMs);
  }
}
