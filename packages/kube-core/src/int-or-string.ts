import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** An integer, or a string that is a percentage (`25%`) or a name (such as a port name). */
export type IntOrString = number | string;

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

/** Whether a JSON value is valid in such a field. */
export function isIntOrString(value: unknown): value is IntOrString {
  return typeof value === "string" || (typeof value === "number" && isInt32(value));
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX;
}

/**
 * Computes a count from a number or a percentage of a total, as in `maxUnavailable`. Fractions are rounded as given: up
 * where zero would stop everything (surge), down where one too many would hurt (unavailable).
 */
export function scaledCount(value: IntOrString, total: number, rounding: "up" | "down"): Result<number, Violation> {
  if (typeof value === "number") {
    return isInt32(value) ? ok(value) : err({ path: ROOT_PATH, message: `${value} is not a 32-bit integer` });
  }
  const digits = /^(\d{1,9})%$/.exec(value)?.[1];
  if (digits === undefined) {
    return err({
      path: ROOT_PATH,
      message: `"${value}" is not a percentage`,
      fix: 'write a number, or a percentage like "25%"',
    });
  }
  // Integer arithmetic: 7% of 100 is 7, although 0.07 * 100 is slightly more.
  const hundredths = BigInt(digits) * BigInt(total);
  const up = rounding === "up" && hundredths % 100n > 0n ? 1n : 0n;
  return ok(Number(hundredths / 100n + up));
}
