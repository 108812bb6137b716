import { invalidQuery } from "../errors.ts";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

/** Milliseconds of a duration such as `1h30m`; undefined when it is not one. */
export function parseDuration(text: string): number | undefined {
  let total = 0;
  let last = Infinity;
  let at = 0;
  while (at < text.length) {
    const digits = at;
    while (isDigit(text[at])) at += 1;
    const letters = at;
    while (at < text.length && !isDigit(text[at])) at += 1;
    const unit = UNITS[text.slice(letters, at)];
    // Units descend, each at most once.
    if (letters === digits || unit === undefined || unit >= last) return undefined;
    total += Number(text.slice(digits, letters)) * unit;
    last = unit;
  }
  return text === "" || !Number.isSafeInteger(total) ? undefined : total;
}

/** A number literal with Go's rules: hexadecimal, octal by a leading zero, underscores, Inf, NaN, or a duration in seconds. */
export function parseNumber(text: string): number {
  const plain = text.replaceAll("_", "").toLowerCase();
  if (plain === "inf" || plain === "+inf") return Infinity;
  if (plain === "-inf") return -Infinity;
  if (plain === "nan") return Number.NaN;
  const duration = parseDuration(plain);
  if (duration !== undefined) return duration / 1000;
  const value = isOctal(plain) ? Number.parseInt(plain, 8) : Number(plain);
  if (plain === "" || Number.isNaN(value)) throw invalidQuery(`"${text}" is not a number`);
  return value;
}

/** The value of a quoted string: escapes of Go in "…" and '…', none in `…`. */
export function parseString(literal: string): string {
  const quote = literal[0] ?? "";
  const body = literal.slice(1, -1);
  if (literal.length < 2 || literal.at(-1) !== quote || endsInEscape(body, quote)) {
    throw invalidQuery(`unterminated string ${literal}`);
  }
  if (quote === "`") return body;
  let value = "";
  for (let at = 0; at < body.length;) {
    const char = body[at] ?? "";
    if (char === "\\") {
      const { text, length } = unescape(body, at + 1);
      value += text;
      at += length + 1;
    } else {
      value += char;
      at += 1;
    }
  }
  return value;
}

/** Whether the closing quote is escaped, and therefore none. */
function endsInEscape(body: string, quote: string): boolean {
  let slashes = 0;
  while (body[body.length - 1 - slashes] === "\\") slashes += 1;
  return quote !== "`" && slashes % 2 === 1;
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};
const CODES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function unescape(body: string, at: number): { readonly text: string; readonly length: number } {
  const char = body[at] ?? "";
  const simple = SIMPLE[char];
  if (simple !== undefined) return { text: simple, length: 1 };
  const size = CODES[char];
  const digits = size === undefined ? body.slice(at, at + 3) : body.slice(at + 1, at + 1 + size);
  const radix = size === undefined ? 8 : 16;
  const code = isInRadix(digits, size ?? 3, radix) ? Number.parseInt(digits, radix) : Number.NaN;
  if (!(code <= (size === undefined ? 255 : 0x10_ffff))) throw invalidQuery(`unknown escape sequence \\${char}`);
  return { text: String.fromCodePoint(code), length: (size === undefined ? 0 : 1) + digits.length };
}

function isInRadix(digits: string, length: number, radix: number): boolean {
  const allowed = new Set("0123456789abcdef".slice(0, radix));
  return digits.length === length && Array.from(digits.toLowerCase()).every((digit) => allowed.has(digit));
}

function isOctal(text: string): boolean {
  return text.length > 1 && text.startsWith("0") && Array.from(text).every((char) => char >= "0" && char <= "7");
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= "0" && char <= "9";
}
