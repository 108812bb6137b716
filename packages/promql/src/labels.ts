/** The labels of a series, sorted by name, without empty values. `__name__` is one of them. */
export type Labels = readonly (readonly [name: string, value: string])[];

export const METRIC_NAME = "__name__";
export const BUCKET_BOUND = "le";

export const NO_LABELS: Labels = [];

/** Sorts by name and drops empty values; the last value of a repeated name wins. */
export function labelsFrom(values: Readonly<Record<string, string>> | Iterable<readonly [string, string]>): Labels {
  const entries = Symbol.iterator in values ? values : Object.entries(values);
  return [...new Map(entries)]
    .filter(([, value]) => value !== "")
    .toSorted(([one], [other]) => compareText(one, other));
}

/** Object.fromEntries defines own members, so that a label named `__proto__` is one too. */
export function labelsToObject(labels: Labels): Readonly<Record<string, string>> {
  return Object.fromEntries(labels);
}

/** A missing label has the value "". */
export function labelValue(labels: Labels, name: string): string {
  for (const [one, value] of labels) if (one === name) return value;
  return "";
}

/** Equal for equal labels only. */
export function labelsKey(labels: Labels): string {
  return JSON.stringify(labels);
}

export function keepLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labels.filter(([name]) => names.has(name));
}

export function dropLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labels.filter(([name]) => !names.has(name));
}

export function dropMetricName(labels: Labels): Labels {
  return labels.filter(([name]) => name !== METRIC_NAME);
}

/** An empty value removes the label. */
export function withLabel(labels: Labels, name: string, value: string): Labels {
  return labelsFrom([...labels, [name, value]]);
}

/** As Prometheus shows it: `name{label="value"}`. */
export function formatLabels(labels: Labels): string {
  const others = dropMetricName(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const name = labelValue(labels, METRIC_NAME);
  return others.length === 0 && name !== "" ? name : `${name}{${others.join(", ")}}`;
}

/** Orders by code units, as Go orders ASCII names. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
