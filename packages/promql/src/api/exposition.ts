import { formatValue } from "../evaluate/format-number.ts";
import { dropMetricName, labelValue, METRIC_NAME, type Labels } from "../labels.ts";

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/** One line of the text format of Prometheus. */
export function formatSample(labels: Labels, value: number): string {
  const pairs = dropMetricName(labels).map(([name, text]) => `${name}="${escapeText(text)}"`);
  const shown = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${labelValue(labels, METRIC_NAME)}${shown} ${formatValue(value)}`;
}

function escapeText(text: string): string {
  return text.replaceAll(/["\\\n]/g, (char) => ESCAPES[char] ?? char);
}
