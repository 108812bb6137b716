/** The requirements that are measured. */
export const REQUIREMENTS = ["throughput", "latency", "availability", "error_rate"] as const;

export type Requirement = (typeof REQUIREMENTS)[number];

export type ComplianceStatus = "met" | "violated" | "unknown";

/** The windows of a burn rate, long and short, as in the SRE workbook. */
export const BURN_RATE_WINDOWS = [
  { long: "1h", short: "5m" },
  { long: "6h", short: "30m" },
  { long: "1d", short: "2h" },
  { long: "3d", short: "6h" },
] as const;

/** How fast the error budget is spent: 1 spends it exactly over the period of the objective. */
export interface BurnRate {
  readonly long: string;
  readonly short: string;
  /** Absent when the window has too few requests. */
  readonly longRate?: number;
  readonly shortRate?: number;
}

/** Whether one requirement of a component is met. */
export interface Compliance {
  readonly component: string;
  readonly requirement: Requirement;
  readonly status: ComplianceStatus;
  /** Why the status is unknown, such as `too few requests: 12 of 30`. */
  readonly reason?: string;
  readonly measured?: number;
  readonly target: number;
  readonly window: string;
  /** Since when the status holds. */
  readonly sinceMs: number;
  /** The share of the error budget that is left, 0 to 1; negative when overspent. */
  readonly errorBudgetLeft?: number;
  readonly burnRates: readonly BurnRate[];
}
