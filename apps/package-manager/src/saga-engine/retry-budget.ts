/** How many retries per first try are allowed in the long run, and how many at once after a quiet time. */
export interface RetryBudgetLimits {
  readonly ratio: number;
  readonly burst: number;
}

const DEFAULT_RETRY_BUDGET: RetryBudgetLimits = { ratio: 0.5, burst: 50 };

/** Keeps retries a share of the work per target, so that a target in trouble is not buried under them. */
export class RetryBudget {
  readonly #limits: RetryBudgetLimits;
  readonly #left = new Map<string, number>();

  constructor(limits: RetryBudgetLimits = DEFAULT_RETRY_BUDGET) {
    this.#limits = limits;
  }

  /** Counts a first try. */
  earn(target: string): void {
    const left = this.#of(target) + this.#limits.ratio;
    // A full budget needs no memory.
    if (left >= this.#limits.burst) this.#left.delete(target);
    else this.#left.set(target, left);
  }

  /** Takes one retry; false when there is none left. */
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
