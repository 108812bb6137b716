import { patternRule, quoteText, type TextRule } from "../fields/text-rule.ts";

/** A day of the calendar. */
export const CALENDAR_DATE: TextRule = {
  what: "a date",
  maxLength: 10,
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  findProblem(text) {
    const fix = "use YYYY-MM-DD, such as 2026-01-31";
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
    // Date.parse accepts February 30 in some engines.
    const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
    return isDay ? undefined : { message: `${quoteText(text)} is not a date`, fix };
  },
};

/** What the resources of a cluster cost. */
export interface ClusterCost {
  /** Price of one requested CPU core for one hour. */
  readonly cpuHour: number;
  /** Price of one requested GiB of memory for one hour. */
  readonly gibHour: number;
  /** ISO 4217 code, such as EUR. */
  readonly currency: string;
}

export const COST_RANGE = { min: 0, max: 1_000_000 } as const;
export const CURRENCY: TextRule = patternRule({
  what: "a currency code",
  pattern: /^[A-Z]{3}$/,
  maxLength: 3,
  fix: "use three capital letters of ISO 4217, such as EUR",
});
