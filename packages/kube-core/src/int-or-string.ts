import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** A whole number, or a string that is a percentage (`25%`) or a name (of a port, say). */
export type IntOrString = number | string;

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

/** Whether a value read from JSON may stand in such a field. */
export function isIntOrString(value: unknown): value is IntOrString {
  return typeof value === "string" || (typeof value === "number" && isInt32(value));
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX;
}

/**
 * A count out of a number or a percentage of a total, as in `maxUnavailable`. A part of one is rounded as told: up where
 * zero would stop everything (surge), down where one too many would hurt (unavailable).
 */
export function scaledCount(value: IntOrString, total: number, rounding: "up" | "down"): Result<number, Violation> {
  if (typeof value === "number") {
    return isInt32(value) ? ok(value) : err({ path: ROOT_PATH, message: `${value} is no 32-bit whole number` });
  }
  const digits = /^(\d{1,9})%$/.exec(value)?.[1];
  if (digits === undefined) {
    return err({
      path: ROOT_PATH,
      message: `"${value}" is no percentage`,
      fix: 'write a number, or a percentage like "25%"',
    });
  }
  // Whole numbers throughout: 7% of 100 is 7, also where 0.07 * 100 is a little more.
  const hundredths = BigInt(digits) * BigInt(total);
  const up = rounding === "up" && hundredths % 100n > 0n ? 1n : 0n;
  return ok(Number(hundredths / 100n + up));
}
