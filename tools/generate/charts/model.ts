/** A value of a chart: one source of `values.yaml`, `values.schema.json` and the table of the README. */
export interface Value {
  readonly doc: string;
  readonly default: unknown;
  /** JSON Schema. */
  readonly schema: object;
}

/** Values by key. */
export interface ValueGroup {
  readonly doc: string;
  readonly values: Values;
}

export type Values = Readonly<Record<string, Value | ValueGroup>>;

export interface Chart {
  readonly name: string;
  readonly description: string;
  readonly values: Values;
  readonly keywords: readonly string[];
  /** The images that it runs, for Artifact Hub. */
  readonly images: readonly string[];
  readonly dependencies?: readonly ChartDependency[];
  /** Markdown between the description and the values. */
  readonly readme: string;
  /** Generated files besides those of every chart, by path in the chart. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface ChartDependency {
  readonly name: string;
  readonly alias?: string;
  readonly condition: string;
}

export const text = (doc: string, value = "", schema: object = {}): Value => ({
  doc,
  default: value,
  schema: { type: "string", ...schema },
});

export const flag = (doc: string, value: boolean): Value => ({ doc, default: value, schema: { type: "boolean" } });

export const whole = (doc: string, value: number, minimum = 0, maximum?: number): Value => ({
  doc,
  default: value,
  schema: { type: "integer", minimum, ...(maximum === undefined ? {} : { maximum }) },
});

export const choice = (doc: string, value: string, options: readonly string[]): Value => ({
  doc,
  default: value,
  schema: { type: "string", enum: options },
});

/** A part of a Kubernetes object, which the API server validates. */
export const object = (doc: string, value: object = {}): Value => ({
  doc,
  default: value,
  schema: { type: "object" },
});

export const labels = (doc: string): Value => ({
  doc,
  default: {},
  schema: { type: "object", additionalProperties: { type: "string" } },
});

export const list = (doc: string, items: object, value: readonly unknown[] = []): Value => ({
  doc,
  default: value,
  schema: { type: "array", items },
});

export const group = (doc: string, values: Values): ValueGroup => ({ doc, values });

export function isGroup(value: Value | ValueGroup): value is ValueGroup {
  return "values" in value;
}
