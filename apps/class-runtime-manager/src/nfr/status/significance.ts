import { BURN_RATE_WINDOWS, type BurnRate, type Compliance, type Recommendation } from "@oaas/nfr";

/*
 * Which changes are worth a write. Measurements change with every tick; a status that followed them would cost one write
 * per class and tick, and everyone who watches classes would pay for it.
 */

/** CPU and memory follow the load all the time; replicas are whole numbers. */
const AMOUNT_TOLERANCE = 0.1;
const BOUND_TOLERANCE = 0.25;
/** Bounds narrow with the confidence, so that they are written when it reaches the next of these levels. */
const CONFIDENCE_LEVELS = [0.25, 0.5, 0.75, 1];
/** Keeps a confidence near a level from alternating. */
const CONFIDENCE_SLACK = 0.05;
const MEASURED_TOLERANCE = 0.25;
const BUDGET_TOLERANCE = 0.1;
/** An unchanged recommendation is written again after this time, with new numbers. */
export const REFRESH_AFTER_MS = 12 * 3_600_000;

/** Burn rates that alerts distinguish, as in the SRE workbook. */
const BURN_STEPS = [1, 3, 6, 14.4];

/** Whether a recommendation is not worth a write over the written one. */
export function isSameRecommendation(written: Recommendation, next: Recommendation): boolean {
  const isSameValue =
    next.dimension === "replicas"
      ? written.target === next.target &&
        isNear(written.lowerBound, next.lowerBound, BOUND_TOLERANCE, 1) &&
        isNear(written.upperBound, next.upperBound, BOUND_TOLERANCE, 1)
      : isNear(written.target, next.target, AMOUNT_TOLERANCE);
  return (
    isSameValue &&
    isSameLevel(written.confidence, next.confidence) &&
    written.current === next.current &&
    written.basis.floor === next.basis.floor &&
    next.observedAtMs - written.observedAtMs < REFRESH_AFTER_MS
  );
}

function isSameLevel(written: number, next: number): boolean {
  const levelOf = (confidence: number): number => CONFIDENCE_LEVELS.filter((level) => confidence >= level).length;
  return levelOf(written) === levelOf(next) || Math.abs(written - next) <= CONFIDENCE_SLACK;
}

/** How much a measurement changed: a new status counts at once, new numbers only once in a while. */
export function complianceChange(written: Compliance | undefined, next: Compliance): "none" | "numbers" | "status" {
  if (written === undefined || written.status !== next.status || written.target !== next.target) return "status";
  if (withoutNumbers(written.reason) !== withoutNumbers(next.reason)) return "numbers";
  const isSame =
    isNearOptional(written.measured, next.measured, MEASURED_TOLERANCE * Math.abs(next.target)) &&
    isNearOptional(written.errorBudgetLeft, next.errorBudgetLeft, BUDGET_TOLERANCE) &&
    BURN_RATE_WINDOWS.every(({ long }) => burnLevel(written, long) === burnLevel(next, long));
  return isSame ? "none" : "numbers";
}

function isNear(a: number, b: number, tolerance: number, slack = 0): boolean {
  return Math.abs(a - b) <= Math.max(slack, tolerance * Math.max(Math.abs(a), Math.abs(b)));
}

function isNearOptional(a: number | undefined, b: number | undefined, tolerance: number): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Math.abs(a - b) <= Math.max(tolerance, MEASURED_TOLERANCE * Math.max(Math.abs(a), Math.abs(b)));
}

/** The alert level of a burn rate: both windows must exceed it. */
function burnLevel({ burnRates }: Compliance, long: string): number {
  const rate = burnRates.find((one: BurnRate) => one.long === long);
  const both = Math.min(rate?.longRate ?? 0, rate?.shortRate ?? 0);
  return BURN_STEPS.filter((step) => both >= step).length;
}

function withoutNumbers(text: string | undefined): string | undefined {
  return text?.replaceAll(/\d+(\.\d+)?/g, "#");
}
