/** Quotes a label value for PromQL. */
export function quoteLabel(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"`;
}

/** A regular expression (RE2) that matches exactly the values; quoted for PromQL. PromQL anchors it. */
export function quoteAlternatives(values: readonly string[]): string {
  return quoteLabel(values.map(quotePattern).join("|"));
}

/** A regular expression (RE2) that matches exactly the value. */
export function quotePattern(value: string): string {
  return value.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** A PromQL duration, such as `90s`; milliseconds when needed. */
export function promqlDuration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
