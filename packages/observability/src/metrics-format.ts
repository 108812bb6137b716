/** The formats of `/metrics`. Only OpenMetrics carries exemplars. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** The content type of each format. */
export const METRICS_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Scrapers send a few ranges. */
const MAX_RANGES = 16;

/** Selects the format by an `Accept` header: OpenMetrics only for clients that prefer it by name, as Prometheus does. */
export function selectMetricsFormat(accept: string | undefined): MetricsFormat {
  let [openmetrics, text] = [0, 0];
  for (const range of (accept ?? "").split(",", MAX_RANGES)) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const isVersion1 = parameters.every((each) => !each.startsWith("version=") || each.startsWith("version=1."));
    if (type === "application/openmetrics-text" && isVersion1)
      openmetrics = Math.max(openmetrics, weightOf(parameters));
    if (type === "text/plain") text = Math.max(text, weightOf(parameters));
  }
  return openmetrics > 0 && openmetrics >= text ? "openmetrics" : "prometheus";
}

function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((each) => each.startsWith("q="));
  const value = weight === undefined ? 1 : Number(weight.slice(2));
  return Number.isFinite(value) ? value : 0;
}
