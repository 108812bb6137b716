import { BURN_RATE_WINDOWS } from "@oaas/nfr";
import type { Alert, RecordingRule, RuleGroup, Severity } from "./model.ts";
import { MONITORING } from "./settings.ts";

/** How fast the budget burns in each pair of windows before an alert; the values of the SRE workbook for 30 days. */
const BURN_RATES: Readonly<Record<(typeof BURN_RATE_WINDOWS)[number]["long"], { factor: number; severity: Severity }>> =
  {
    "1h": { factor: 14.4, severity: "critical" },
    "6h": { factor: 6, severity: "critical" },
    "1d": { factor: 3, severity: "warning" },
    "3d": { factor: 1, severity: "warning" },
  };

/** Requests per second in a window; `bad` may have no series when there are none. Both have the same labels. */
interface Requests {
  readonly bad: (window: string) => string;
  readonly total: (window: string) => string;
}

/** The share of a window that was bad, for objectives on time. */
interface BadTime {
  readonly badTime: (window: string) => string;
}

/** An objective for the share of good requests, or of good time, over 30 days. */
export type Objective<Measured extends Requests | BadTime = Requests | BadTime> = Measured & {
  /** Used in the names of recorded series. */
  readonly name: string;
  /** In percent. */
  readonly objective: number;
  readonly alert: Pick<Alert, "alert" | "summary" | "description">;
};

/** An objective for the share of good requests. */
export type RequestObjective = Objective<Requests>;

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };

/** The seconds of a PromQL duration with one unit, such as `30m`. */
function secondsOf(window: string): number {
  return Number(window.slice(0, -1)) * (SECONDS[window.slice(-1)] ?? Number.NaN);
}

/** The recorded share of bad requests or time in a window. */
export function ratioSeries(name: string, window: string): string {
  return `oaas:${name}:ratio_rate${window}`;
}

/** The bad share of every window, and the alerts: both windows of a pair must burn the budget. */
export function burnRateGroup(objective: Objective): RuleGroup {
  const windows = [...new Set(BURN_RATE_WINDOWS.flatMap(({ long, short }) => [short, long]))];
  const inOrder = windows.toSorted((a, b) => secondsOf(a) - secondsOf(b));
  return {
    name: `oaas-${objective.name.replaceAll("_", "-")}`,
    rules: [
      ...inOrder.flatMap((window) => ratioRules(objective, window)),
      ...(["critical", "warning"] as const).map((severity) => burnRateAlert(objective, severity)),
    ],
  };
}

/** All requests, then the share of bad ones where there are enough; rules of a group run in order. */
function ratioRules(objective: Objective, window: string): RecordingRule[] {
  const record = ratioSeries(objective.name, window);
  if ("badTime" in objective) return [{ record, expr: objective.badTime(window) }];
  const all = `oaas:${objective.name}:requests_rate${window}`;
  const isEnough = `${all} >= ${MONITORING.minRequests} / ${secondsOf(window)}`;
  return [
    { record: all, expr: objective.total(window) },
    { record, expr: `((${objective.bad(window)}) or 0 * ${all}) / (${isEnough})` },
  ];
}

function burnRateAlert({ name, objective, alert }: Objective, severity: Severity): Alert {
  const pairs = BURN_RATE_WINDOWS.filter(({ long }) => BURN_RATES[long].severity === severity);
  const expr = pairs
    .map(({ long, short }) => {
      const limit = `${BURN_RATES[long].factor} * ${budgetOf(objective)}`;
      return `(${ratioSeries(name, short)} > ${limit} and ${ratioSeries(name, long)} > ${limit})`;
    })
    .join(" or ");
  const rates = pairs
    .map(({ long, short }) => `${BURN_RATES[long].factor} times in ${long} and ${short}`)
    .join(", or ");
  return {
    ...alert,
    severity,
    expr,
    description: `${alert.description} The error budget of ${objective} % over 30 days burns too fast: ${rates}.`,
  };
}

/** The share of requests that may be bad. */
function budgetOf(objective: number): number {
  return Number(((100 - objective) / 100).toFixed(9));
}
