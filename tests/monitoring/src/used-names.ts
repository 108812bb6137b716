import { parseQuery } from "@oaas/promql";
import { EXTERNAL_METRICS, PROCESS_METRICS, TARGET_LABELS } from "./external-metrics.ts";

type Expression = ReturnType<typeof parseQuery>;
type Selector = Extract<Expression, { readonly type: "selector" }>;
type Node = { readonly type?: string } & Readonly<Record<string, unknown>>;

/** A metric that code or a recording rule provides. */
export interface KnownMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** Labels by series name: histograms have three series. */
export type KnownSeries = ReadonlyMap<string, ReadonlySet<string>>;

/** All series that exist: of our metrics, of other programs, and recorded ones. */
export function knownSeries(metrics: readonly KnownMetric[]): KnownSeries {
  const external = Object.entries(EXTERNAL_METRICS).map(([name, { type, labels }]) => ({
    name,
    type,
    labels: Object.keys(labels),
  }));
  const processes = [...PROCESS_METRICS].map((name) => ({ name, type: "gauge", labels: [] }));
  const series = [...metrics, ...external, ...processes].flatMap(({ name, type, labels }) =>
    type === "histogram"
      ? ["_bucket", "_sum", "_count"].map((suffix) => [`${name}${suffix}`, new Set([...labels, "le"])] as const)
      : [[name, new Set(labels)] as const],
  );
  return new Map(series);
}

/** Replaces the placeholders of Grafana that PromQL does not know. */
export function withoutMacros(expr: string): string {
  return expr.replaceAll("$__rate_interval", "1m");
}

/** Names in a query that nothing provides: series, labels of matchers, labels of groupings. */
export function unknownNames(expr: string, known: KnownSeries): string[] {
  const parsed = parseQuery(withoutMacros(expr));
  const ofSelectors = nodesOf(parsed, "selector").flatMap((node) => unknownInSelector(node as Selector & Node, known));
  const ofGroupings = nodesOf(parsed, "aggregate").flatMap((node) => unknownInGrouping(node, known));
  return [...new Set([...ofSelectors, ...ofGroupings])];
}

/** The labels that the result of a query may have: those of its groupings. */
export function groupingsIn(expr: string): string[] {
  return nodesOf(parseQuery(withoutMacros(expr)), "aggregate").flatMap((node) => node["grouping"] as readonly string[]);
}

function nameOf({ matchers }: Selector): string {
  return matchers.find(({ label, operator }) => label === "__name__" && operator === "=")?.value ?? "";
}

function unknownInSelector(selector: Selector, known: KnownSeries): string[] {
  const name = nameOf(selector);
  const labels = known.get(name);
  if (labels === undefined) return [name];
  const used = selector.matchers.map(({ label }) => label).filter((label) => label !== "__name__");
  return used
    .filter((label) => !labels.has(label) && !TARGET_LABELS.includes(label))
    .map((label) => `${name}{${label}}`);
}

function unknownInGrouping(aggregate: Node, known: KnownSeries): string[] {
  const names = nodesOf(aggregate, "selector").map((node) => nameOf(node as Selector & Node));
  const below = new Set([...TARGET_LABELS, ...names.flatMap((name) => [...(known.get(name) ?? [])])]);
  const grouping = aggregate["grouping"] as readonly string[];
  return grouping.filter((label) => !below.has(label)).map((label) => `by (${label})`);
}

/** All nodes of a type in a parsed query. */
function nodesOf(node: unknown, type: string): Node[] {
  if (typeof node !== "object" || node === null) return [];
  const below = Object.values(node).flatMap((child) => nodesOf(child, type));
  return (node as Node).type === type ? [node as Node, ...below] : below;
}
