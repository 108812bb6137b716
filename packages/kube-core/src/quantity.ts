import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** The notation of an amount: decimal suffixes (`1500m`), binary ones (`1536Mi`), or exponents (`12e6`). */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** An amount, exact to a billionth, without floating point. */
export interface Quantity {
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** The zero quantity. */
export const ZERO_QUANTITY: Quantity = { nano: 0n, format: "DecimalSI" };

const NANO_PER_ONE = 10n ** 9n;

const DECIMAL_SUFFIXES = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const;
const BINARY_SUFFIXES = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n } as const;

/** Binary amounts are limited to 64 bits, as in Kubernetes; decimal ones are not. */
const BINARY_MAX_NANO = (2n ** 63n - 1n) * NANO_PER_ONE;

/** Limits the exponent, so that a short text cannot produce a number that fills the memory. Kubernetes has no limit. */
const MAX_EXPONENT = 100;
const MAX_TEXT = 256;

const FORM = /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:(?<suffix>[a-zA-Z]+)(?<exponent>[+-]?\d+)?)?$/;

/**
 * Parses a quantity as Kubernetes does: sign, decimals, one suffix of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an
 * exponent (`e3`, `E-3`). Fractions below a billionth are rounded away from zero, so that a request is never rounded to
 * nothing. Unlike Kubernetes, rejects a text without a digit (`.`, `-`) and exponents beyond ±100.
 */
export function parseQuantity(text: string | number): Result<Quantity, Violation> {
  const written = String(text);
  const groups = written.length > MAX_TEXT ? undefined : FORM.exec(written)?.groups;
  const whole = groups?.["whole"] ?? "";
  const fraction = groups?.["fraction"] ?? "";
  const unit = unitOf(groups?.["suffix"] ?? "", groups?.["exponent"]);
  if (whole + fraction === "" || unit === undefined) return err(refusal(written));

  // digits * 10^-places * 2^shift * 10^power, in billionths.
  const digits = BigInt(whole + fraction) << unit.shift;
  const power = 9 + unit.power - fraction.length;
  const exact = power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power));
  const nano = unit.format === "BinarySI" && exact > BINARY_MAX_NANO ? BINARY_MAX_NANO : exact;
  const format = unit.format === "BinarySI" && nano > 0n && nano < NANO_PER_ONE ? "DecimalSI" : unit.format;
  return ok({ nano: groups?.["sign"] === "-" ? -nano : nano, format });
}

interface Unit {
  readonly power: number;
  readonly shift: bigint;
  readonly format: QuantityFormat;
}

function unitOf(suffix: string, exponent: string | undefined): Unit | undefined {
  if (exponent !== undefined) {
    const power = Number(exponent);
    if ((suffix !== "e" && suffix !== "E") || Math.abs(power) > MAX_EXPONENT) return undefined;
    return { power, shift: 0n, format: "DecimalExponent" };
  }
  if (isKeyOf(DECIMAL_SUFFIXES, suffix)) return { power: DECIMAL_SUFFIXES[suffix], shift: 0n, format: "DecimalSI" };
  if (isKeyOf(BINARY_SUFFIXES, suffix)) return { power: 0, shift: BINARY_SUFFIXES[suffix], format: "BinarySI" };
  return undefined;
}

function isKeyOf<T extends object>(table: T, key: string): key is Extract<keyof T, string> {
  return Object.hasOwn(table, key);
}

function refusal(text: string): Violation {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return {
    path: ROOT_PATH,
    message: `"${shown}" is not a quantity`,
    fix: 'write a number with a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei, like "500m" or "1.5Gi"',
  };
}

/** A whole amount in the given format. */
export function quantityOf(whole: number | bigint, format: QuantityFormat = "DecimalSI"): Quantity {
  return { nano: BigInt(whole) * NANO_PER_ONE, format };
}

/**
 * The canonical text, as Kubernetes writes it: no fraction, with the largest suffix that needs none. Binary amounts
 * below 1024 or with a fraction are written in decimal.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return "0";
  const isWhole = nano % NANO_PER_ONE === 0n;
  if (format === "BinarySI" && isWhole && magnitude(nano) >= 1024n * NANO_PER_ONE)
    return binaryText(nano / NANO_PER_ONE);
  return decimalText(nano, format === "DecimalExponent");
}

function decimalText(nano: bigint, asExponent: boolean): string {
  const highest = asExponent ? Number.POSITIVE_INFINITY : DECIMAL_SUFFIXES.E;
  let rest = nano;
  let power = -9;
  while (rest % 1000n === 0n && power < highest) {
    rest /= 1000n;
    power += 3;
  }
  if (asExponent) return power === 0 ? `${rest}` : `${rest}e${power}`;
  const suffix = Object.entries(DECIMAL_SUFFIXES).find(([, value]) => value === power)?.[0] ?? "";
  return `${rest}${suffix}`;
}

function binaryText(whole: bigint): string {
  let text = `${whole}`;
  for (const [suffix, shift] of Object.entries(BINARY_SUFFIXES)) {
    if (whole % (1n << shift) === 0n) text = `${whole / (1n << shift)}${suffix}`;
  }
  return text;
}

/** Negative when a is less than b, positive when it is more, zero when the amounts are equal in any notation. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}

/** The sum, in the notation of the first unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

/** The difference, in the notation of the first unless that is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { nano: -b.nano, format: b.format });
}

/** The product with a number, exact for integers, else rounded away from zero to a billionth. */
export function multiplyQuantity(quantity: Quantity, factor: number | bigint): Quantity {
  if (typeof factor === "bigint") return { ...quantity, nano: quantity.nano * factor };
  const parsed = parseQuantity(factor);
  if (!parsed.ok) throw new RangeError(`cannot multiply a quantity by ${factor}`);
  return { ...quantity, nano: dividedUp(quantity.nano * parsed.value.nano, NANO_PER_ONE) };
}

/**
 * The number of whole units of 10^scale that hold the amount, rounded away from zero as in Kubernetes. Scale 0 gives
 * bytes or cores, -3 gives thousandths.
 */
export function quantityUnits(quantity: Quantity, scale = 0): bigint {
  return scale <= -9 ? quantity.nano * 10n ** BigInt(-9 - scale) : dividedUp(quantity.nano, 10n ** BigInt(9 + scale));
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Division rounded away from zero. */
function dividedUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  if (value % by === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}
