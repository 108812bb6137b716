const WRITTEN_NUMBER = /^(?<digits>\d+(?:\.\d+)?)\s*(?<unit>%|[A-Za-z/]*)$/;

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000 };
const PER_SECOND = new Set(["rps", "/s", "req/s", "requests/s"]);

/** The fix for a number that was written as a text, such as `99.9%` or `100ms`; undefined for any other text. */
export function numberFix(field: string, text: string): string | undefined {
  const { digits = "", unit = "" } = WRITTEN_NUMBER.exec(text.trim())?.groups ?? {};
  if (digits === "") return undefined;
  if (unit === "") return `write ${digits} without quotes`;
  const value = convert(Number(digits), unit.toLowerCase(), field);
  return value === undefined ? undefined : `write ${rounded(value)}`;
}

/** The fix for a percentage in a field from 0 to 1; undefined for a number that is not a percentage. */
export function percentageFix(value: number): string | undefined {
  return value > 1 && value <= 100 ? `for ${value} % write ${rounded(value / 100)}` : undefined;
}

function convert(value: number, unit: string, field: string): number | undefined {
  if (unit === "%") return value / 100;
  if (field.endsWith("_ms")) return MILLISECONDS[unit] === undefined ? undefined : value * MILLISECONDS[unit];
  return PER_SECOND.has(unit) ? value : undefined;
}

/** Without the error of the binary representation: 99.9 / 100 is 0.9990000000000001. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
