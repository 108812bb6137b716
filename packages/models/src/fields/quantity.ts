import { quoteText, type TextRule } from "./text-rule.ts";

/**
 * Kubernetes quantities: `500m`, `1.5`, `256Mi`, `1e3`.
 *
 * The number of digits and the exponent are limited, so that a short text cannot represent a huge number.
 */
const FORM = /^([+-]?)(\d{1,18}(?:\.\d{0,9})?|\.\d{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,2})?$/;

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_PREFIXES = "KMGTPE";

/** Returns the value in nano units; smaller values are rounded up. Undefined if it is not a quantity. */
export function quantityNanos(text: string): bigint | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, sign = "", digits = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = digits.split(".");
  const nanos = scaled(BigInt(whole + fraction), suffix, fraction.length);
  return sign === "-" ? -nanos : nanos;
}

function scaled(value: bigint, suffix: string, fractionDigits: number): bigint {
  if (suffix.endsWith("i")) {
    const factor = 1024n ** BigInt(BINARY_PREFIXES.indexOf(suffix.charAt(0)) + 1);
    return timesTenTo(value * factor, 9 - fractionDigits);
  }
  const exponent = /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL_EXPONENT[suffix] ?? 0);
  return timesTenTo(value, 9 - fractionDigits + exponent);
}

function timesTenTo(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

/** An amount of CPU or memory: a quantity that is not negative. */
export const RESOURCE_QUANTITY: TextRule = {
  what: "a Kubernetes quantity",
  maxLength: 34,
  pattern: FORM.source.replace("([+-]?)", "\\+?"),
  findProblem(text) {
    const fix = "use a number with a unit, such as 500m or 0.5 for CPU, 256Mi or 1Gi for memory";
    if (!FORM.test(text)) return { message: `${quoteText(text)} is not a Kubernetes quantity`, fix };
    return text.startsWith("-") ? { message: `${quoteText(text)} is negative`, fix } : undefined;
  },
};
