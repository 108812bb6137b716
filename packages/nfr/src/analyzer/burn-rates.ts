import { BURN_RATE_WINDOWS, type BurnRate } from "../compliance.ts";
import { roundTo } from "./aggregates.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";
import { countRequests, type RequestCounts } from "./request-history.ts";
import type { AnalyzerSettings } from "./settings.ts";
import { integrateRate } from "./window.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const WINDOW_MS: Readonly<Record<(typeof BURN_RATE_WINDOWS)[number]["long" | "short"], number>> = {
  "5m": 5 * MINUTE,
  "30m": 30 * MINUTE,
  "1h": HOUR,
  "2h": 2 * HOUR,
  "6h": 6 * HOUR,
  "1d": 24 * HOUR,
  "3d": 72 * HOUR,
};

/** How an error budget is spent: the share of bad requests that is allowed, and the requests. */
export interface Budget {
  /** The allowed share of bad requests, above 0. */
  readonly allowed: number;
  readonly kind: "errors" | "slow";
  readonly counts: RequestCounts | undefined;
}

/** An error budget over the last three days, or the known part of them. */
export interface BudgetUse {
  readonly burnRates: readonly BurnRate[];
  readonly errorBudgetLeft: number | undefined;
}

/** The burn rates of all windows. The shortest window comes from the samples, the others from the request history. */
export function computeBurnRates(
  budget: Budget,
  measured: Measurements,
  nowMs: number,
  settings: AnalyzerSettings,
): BudgetUse {
  const rateOf = (window: keyof typeof WINDOW_MS): number | undefined => {
    const counts = window === "5m" ? countRecent(budget, measured, nowMs, settings) : countLong(budget, nowMs, window);
    if (counts === undefined || counts.total < settings.minRequests) return undefined;
    return roundTo(Math.min(1, counts.bad / counts.total) / budget.allowed, 3);
  };
  const burnRates = BURN_RATE_WINDOWS.map(({ long, short }) => toBurnRate(long, short, rateOf(long), rateOf(short)));
  const spent = burnRates.at(-1)?.longRate;
  return { burnRates, errorBudgetLeft: spent === undefined ? undefined : roundTo(1 - spent, 3) };
}

function toBurnRate(
  long: string,
  short: string,
  longRate: number | undefined,
  shortRate: number | undefined,
): BurnRate {
  if (longRate !== undefined && shortRate !== undefined) return { long, short, longRate, shortRate };
  return { long, short, ...optional("longRate", longRate), ...optional("shortRate", shortRate) };
}

function countLong({ counts }: Budget, nowMs: number, window: keyof typeof WINDOW_MS) {
  return counts === undefined ? undefined : countRequests(counts, nowMs, WINDOW_MS[window]);
}

function countRecent({ kind }: Budget, { windows }: Measurements, nowMs: number, { stepMs }: AnalyzerSettings) {
  const requests = windows.requests_per_second;
  const bad = kind === "errors" ? windows.errors_per_second : windows.slow_requests_per_second;
  if (requests === undefined || bad === undefined) return undefined;
  const afterMs = nowMs - WINDOW_MS["5m"];
  return { total: integrateRate(requests, stepMs, afterMs), bad: integrateRate(bad, stepMs, afterMs) };
}
