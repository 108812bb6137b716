import type { HistogramSpec, MetricSpec } from "./meter.ts";

export type MetricType = "counter" | "gauge" | "histogram";

/** A declared metric without its static types. */
export interface DeclaredMetric {
  readonly type: MetricType;
  readonly spec: MetricSpec<string> & Partial<Pick<HistogramSpec<string>, "buckets">>;
}

const METRIC_NAME = /^[a-z_:][a-z0-9_:]*$/;
const LABEL_NAME = /^[a-z][a-z0-9_]*$/;

/** Throws a TypeError when a metric is declared wrongly or contradicts the one that has its name. */
export function checkDeclaration(metric: DeclaredMetric, existing: DeclaredMetric | undefined): void {
  const { spec, type } = metric;
  if (!METRIC_NAME.test(spec.name)) throw new TypeError(`"${spec.name}" is no name of a metric`);
  for (const label of spec.labels ?? []) {
    if (!LABEL_NAME.test(label) || label === "le") throw new TypeError(`"${label}" is no label of ${spec.name}`);
  }
  const isAscending = (spec.buckets ?? []).every(
    (bound, index, all) => index === 0 || bound > (all[index - 1] ?? bound),
  );
  if (!isAscending) throw new TypeError(`the buckets of ${spec.name} do not ascend`);
  if (existing === undefined) return;
  const same = existing.type === type && shape(existing) === shape(metric);
  if (!same) throw new TypeError(`the metric ${spec.name} is declared twice, differently`);
}

function shape({ spec }: DeclaredMetric): string {
  return JSON.stringify([spec.help, spec.labels ?? [], spec.buckets ?? []]);
}

/** What is wrong with the labels of one measurement; undefined when they are exactly the declared ones. */
export function labelProblem(spec: MetricSpec<string>, labels: Readonly<Record<string, string>>): string | undefined {
  const declared = spec.labels ?? [];
  const extra = Object.keys(labels).find((label) => !declared.includes(label));
  if (extra !== undefined) return `${spec.name} has no label "${extra}"`;
  const missing = declared.find((label) => labels[label] === undefined);
  return missing === undefined ? undefined : `${spec.name} needs the label "${missing}"`;
}
