/** `ratio` retries are allowed per first attempt in the long run, and `burst` in a row. */
export interface RetryBudgetLimits {
  readonly ratio: number;
  readonly burst: number;
}

const DEFAULT_RETRY_BUDGET: RetryBudgetLimits = { ratio: 0.5, burst: 50 };

/** Limits retries to a share of the first attempts per target, so that a failing target is not overloaded. */
export class RetryBudget {
  readonly #limits: RetryBudgetLimits;
  readonly #left = new Map<string, number>();

  constructor(limits: RetryBudgetLimits = DEFAULT_RETRY_BUDGET) {
    this.#limits = limits;
  }

  /** Counts a first attempt. */
  earn(target: string): void {
    const left = this.#of(target) + this.#limits.ratio;
    // A full budget needs no memory.
    if (left >= this.#limits.burst) this.#left.delete(target);
    else this.#left.set(target, left);
  }

  /** Takes one retry; false when none is left. */
  spend(target: string): boolean {
    const left = this.#of(target);
    if (left < 1) return false;
    this.#left.set(target, left - 1);
    return true;
  }

  #of(target: string): number {
    return this.#left.get(target) ?? this.#limits.burst;
  }
}
