import type { Dimension } from "../recommendation.ts";
import { MAX_CPU_MILLICORES, MAX_MEMORY_BYTES } from "../resources/settings.ts";

const BINARY_UNITS = [
  ["Gi", 2 ** 30],
  ["Mi", 2 ** 20],
  ["Ki", 2 ** 10],
] as const;

/** The limits of the estimates: an upper bound at them is not known. */
const UNBOUNDED: Readonly<Partial<Record<string, number>>> = { cpu: MAX_CPU_MILLICORES, memory: MAX_MEMORY_BYTES };

/** A value of a dimension in the spelling of Kubernetes: `3`, `250m`, `12` cores, `128Mi`; `unbounded` at the limit of the estimate. */
export function formatValue(value: number, dimension: Dimension | (string & {})): string {
  if (value >= (UNBOUNDED[dimension] ?? Number.POSITIVE_INFINITY)) return "unbounded";
  if (dimension === "cpu") return value < 10_000 ? `${formatNumber(Math.round(value))}m` : formatNumber(value / 1000);
  if (dimension !== "memory") return formatNumber(value);
  const [unit, size] = BINARY_UNITS.find(([, least]) => value >= least) ?? ["", 1];
  return `${formatNumber(value / size)}${unit}`;
}

/** A share in percent: `85 %`, `<0.1 %`. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.001) return "<0.1 %";
  return `${Number((share * 100).toPrecision(3))} %`;
}

/** The value of a signal or of a step of a computation, with the unit that its name ends with. */
export function formatSignal(name: string, value: number): string {
  if (name.endsWith("_millicores")) return formatValue(value, "cpu");
  if (name.endsWith("_bytes")) return formatValue(value, "memory");
  if (name.endsWith("_ms")) return `${formatNumber(value)} ms`;
  if (SHARES.some((end) => name.endsWith(end))) return formatShare(value);
  return formatNumber(value);
}

const SHARES = ["availability", "_ratio", "confidence"];

/** A window such as `10m`; a history that has just begun is shorter than its unit. */
export function formatWindow(window: string): string {
  return window === "0m" ? "less than 1m" : window;
}

/** Three significant digits, without a fraction above 1000. */
export function formatNumber(value: number): string {
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}
