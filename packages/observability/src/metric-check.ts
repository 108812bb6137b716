import type { HistogramSpec, MetricSpec } from "./meter.ts";

export type MetricType = "counter" | "gauge" | "histogram";

/** A metric declaration without its static label types. */
export interface DeclaredMetric {
  readonly type: MetricType;
  readonly spec: MetricSpec<string> & Partial<Pick<HistogramSpec<string>, "buckets">>;
}

const METRIC_NAME = /^[a-z_:][a-z0-9_:]*$/;
const LABEL_NAME = /^[a-z][a-z0-9_]*$/;

/** Throws a TypeError when a declaration is invalid or differs from the existing one of the same name. */
export function checkDeclaration(metric: DeclaredMetric, existing: DeclaredMetric | undefined): void {
  const { spec, type } = metric;
  if (!METRIC_NAME.test(spec.name)) throw new TypeError(`"${spec.name}" is not a valid metric name`);
  for (const label of spec.labels ?? []) {
    if (!LABEL_NAME.test(label) || label === "le")
      throw new TypeError(`"${label}" is not a valid label name for ${spec.name}`);
  }
  const isAscending = (spec.buckets ?? []).every(
    (bound, index, all) => index === 0 || bound > (all[index - 1] ?? bound),
  );
  if (!isAscending) throw new TypeError(`the buckets of ${spec.name} are not in ascending order`);
  if (existing === undefined) return;
  const same = existing.type === type && shape(existing) === shape(metric);
  if (!same)
    throw new TypeError(`the metric ${spec.name} is already declared with a different type, help, labels or buckets`);
}

function shape({ spec }: DeclaredMetric): string {
  return JSON.stringify([spec.help, spec.labels ?? [], spec.buckets ?? []]);
}

/** Returns the problem with the labels of a value; undefined when they match the declaration. */
export function labelProblem(spec: MetricSpec<string>, labels: Readonly<Record<string, string>>): string | undefined {
  const declared = spec.labels ?? [];
  const extra = Object.keys(labels).find((label) => !declared.includes(label));
  if (extra !== undefined) return `${spec.name} has no label "${extra}"`;
  const missing = declared.find((label) => labels[label] === undefined);
  return missing === undefined ? undefined : `${spec.name} requires the label "${missing}"`;
}
