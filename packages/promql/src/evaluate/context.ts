import { expensiveQuery } from "../errors.ts";
import type { Expression } from "../syntax/expression.ts";
import type { TimeSeriesStore } from "../store/time-series-store.ts";
import type { Value } from "./value.ts";

/** The times of an evaluation: `startMs`, `startMs + stepMs`, … */
export interface Grid {
  readonly startMs: number;
  readonly stepMs: number;
  readonly count: number;
}

export function gridTime({ startMs, stepMs }: Grid, index: number): number {
  return startMs + index * stepMs;
}

export interface EvaluationOptions {
  /** How far an instant selector looks back. Default five minutes. */
  readonly lookbackMs?: number;
  /** The step of a subquery without one. Default one minute. */
  readonly defaultStepMs?: number;
  /** The samples that one query may read and produce. Default 10 million. */
  readonly maxSamples?: number;
  /**
   * The major version whose semantics apply: 3 (default) excludes the sample at the start of a range or of the
   * look-back and extrapolates counters that start within a range differently.
   */
  readonly prometheus?: 2 | 3;
}

/** The parameters of one evaluation of one node. */
export interface Context {
  readonly store: TimeSeriesStore;
  readonly grid: Grid;
  /** The times of the whole query, for `@ start()` and `@ end()`. */
  readonly query: { readonly startMs: number; readonly endMs: number };
  readonly options: Required<EvaluationOptions>;
  readonly budget: Budget;
  /** Evaluates a part of the expression, by default at the same times. */
  readonly evaluate: (expr: Expression, grid?: Grid) => Value;
}

/** Counts the work of a query and ends it beyond the limit. */
export class Budget {
  readonly #limit: number;
  #left: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  spend(samples: number): void {
    this.#left -= samples;
    if (this.#left < 0) {
      throw expensiveQuery(
        "samples",
        `query processing would read more than ${this.#limit} samples: select fewer series, a shorter range or a longer step`,
      );
    }
  }
}
