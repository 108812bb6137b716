import { checkDeclaration, labelProblem, type DeclaredMetric, type MetricType } from "../metric-check.ts";
import type { Meter, MetricSpec } from "../meter.ts";

type AnyLabels = Readonly<Record<string, string>>;

/** A meter that keeps every value. Throws on undeclared labels and on negative counter increments. */
export interface RecordingMeter extends Meter {
  /** Returns the value of a counter or gauge; undefined when the series does not exist. */
  value(name: string, labels?: AnyLabels): number | undefined;
  /** Returns the observations of a histogram, in order. */
  observations(name: string, labels?: AnyLabels): readonly number[];
}

export function createRecordingMeter(): RecordingMeter {
  const declared = new Map<string, DeclaredMetric>();
  const values = new Map<string, number>();
  const observed = new Map<string, number[]>();

  const keyOf = (spec: MetricSpec<string>, labels: AnyLabels = {}): string => {
    const problem = labelProblem(spec, labels);
    if (problem !== undefined) throw new TypeError(problem);
    return JSON.stringify([spec.name, ...(spec.labels ?? []).map((name) => labels[name])]);
  };
  const specOf = (name: string): MetricSpec<string> => {
    const metric = declared.get(name);
    if (metric === undefined) throw new Error(`the metric ${name} is not declared`);
    return metric.spec;
  };
  const declare = (type: MetricType, spec: DeclaredMetric["spec"]): void => {
    checkDeclaration({ type, spec }, declared.get(spec.name));
    if (declared.has(spec.name)) return;
    declared.set(spec.name, { type, spec });
    const isUnlabelled = (spec.labels ?? []).length === 0;
    for (const labels of [...(spec.startAtZero ?? []), ...(isUnlabelled ? [{}] : [])]) {
      if (type === "histogram") observed.set(keyOf(spec, labels), []);
      else values.set(keyOf(spec, labels), 0);
    }
  };
  const add = (spec: MetricSpec<string>, by: number, labels?: AnyLabels): void => {
    const key = keyOf(spec, labels);
    values.set(key, (values.get(key) ?? 0) + by);
  };

  return {
    counter: (spec) => {
      declare("counter", spec);
      const count = (by: number, labels?: AnyLabels): void => {
        if (!(by >= 0)) throw new RangeError(`${by} is not a valid value for ${spec.name}`);
        add(spec, by, labels);
      };
      return {
        add: count,
        remove: (labels?: AnyLabels) => void values.delete(keyOf(spec, labels)),
      };
    },
    gauge: (spec) => {
      declare("gauge", spec);
      return {
        set: (value, labels?: AnyLabels) => void values.set(keyOf(spec, labels), value),
        add: (by, labels?: AnyLabels) => add(spec, by, labels),
        remove: (labels?: AnyLabels) => void values.delete(keyOf(spec, labels)),
      };
    },
    histogram: (spec) => {
      declare("histogram", spec);
      const observe = (value: number, labels?: AnyLabels): void => {
        const key = keyOf(spec, labels);
        observed.set(key, [...(observed.get(key) ?? []), value]);
      };
      return {
        observe,
        remove: (labels?: AnyLabels) => void observed.delete(keyOf(spec, labels)),
      };
    },
    value: (name, labels) => values.get(keyOf(specOf(name), labels)),
    observations: (name, labels) => observed.get(keyOf(specOf(name), labels)) ?? [],
  };
}
