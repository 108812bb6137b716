/**
 * What enforcement may change. CPU is in millicores and memory in bytes, per replica; `max_replicas` is the maximum of an
 * autoscaler.
 */
export const DIMENSIONS = ["replicas", "max_replicas", "cpu", "memory"] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** What a recommendation was computed from. */
export interface Basis {
  /** The window of the samples, such as `10m`. */
  readonly window: string;
  /** The query of the signal that set the target. */
  readonly query: string;
  /** The numbers that entered, by name, such as `requests_per_second`. */
  readonly values: Readonly<Record<string, number>>;
  /** The floor that set the target, such as `min_scale`, when one did. */
  readonly floor?: string;
  /** The limit that cut the target, such as `max_scale`, when one did. */
  readonly ceiling?: string;
}

/** The replicas that are needed all the time, whatever an autoscaler adds for a while. */
export interface LastingNeed {
  /** For the smallest load of the window. */
  readonly replicas: number;
  /** For the floors and the throughput that the user stated. */
  readonly stated: number;
  /** Whether at most the allowed share of the requests of the last hour was slow or failed. */
  readonly isWithinBudget: boolean;
  /**
   * The share of the error budget of the last hours that was spent, of the worst requirement; above 1 it is overspent.
   * Absent without a latency requirement, and when too little is known.
   */
  readonly spent?: SpentBudget;
  /** Replicas that were ready. */
  readonly ready: number;
}

export interface SpentBudget {
  readonly hour: number;
  readonly sixHours: number;
}

/** The recommended value of one dimension of a component. `lowerBound <= target <= upperBound`. */
export interface Recommendation {
  /** A function key, or `odgm`. */
  readonly component: string;
  readonly dimension: Dimension;
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
  /** What the minimum of an autoscaler is derived from; replicas only. */
  readonly lasting?: LastingNeed;
  readonly basis: Basis;
  /** 0 to 1. */
  readonly confidence: number;
  /** The value in effect when the recommendation was computed. */
  readonly current?: number;
  readonly observedAtMs: number;
  readonly validUntilMs: number;
}
