const INTEGER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function count(value: number): string {
  return INTEGER.format(value);
}

/** At most three significant digits. */
export function number(value: number): string {
  return SHORT.format(value);
}

/** "99.95 %": enough digits to tell targets apart, none that say nothing. */
export function percent(ratio: number): string {
  const missing = 1 - ratio;
  const digits = missing <= 0 || missing >= 1 ? 1 : Math.min(9, Math.max(1, Math.ceil(-Math.log10(missing)) - 1));
  return `${Number((ratio * 100).toFixed(digits))} %`;
}

/** Downtime that an availability allows in 30 days: "4 m 19 s". */
export function downtimeMs(availability: number): number {
  return (1 - availability) * 30 * 24 * 3600 * 1000;
}

export function money(value: number, currency: string): string {
  return `${value.toFixed(2)} ${currency}`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${SHORT.format(size)} ${units[unit]}`;
}

/** A measured value with its unit as the API names it. */
export function measured(value: number, unit: string): string {
  if (unit === "ratio") return percent(value);
  if (unit === "rps" || unit === "requests_per_second") return `${number(value)} req/s`;
  if (unit === "bytes") return bytes(value);
  return `${number(value)} ${unit}`;
}

/** A JSON value on one line, shortened. */
export function inline(value: unknown, limit = 160): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
