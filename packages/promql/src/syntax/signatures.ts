export type ValueType = "scalar" | "vector" | "matrix" | "string";

/** The types of a function. */
export interface Signature {
  readonly args: readonly ValueType[];
  /** How many of the last arguments may be left out. */
  readonly optional?: number;
  /** Whether the last argument may be repeated, also zero times. */
  readonly isRepeated?: true;
  readonly returns: "scalar" | "vector";
}

const OF_VECTOR: Signature = { args: ["vector"], returns: "vector" };
const OF_MATRIX: Signature = { args: ["matrix"], returns: "vector" };
const OF_DATE: Signature = { args: ["vector"], optional: 1, returns: "vector" };

function each(names: string, signature: Signature): Record<string, Signature> {
  return Object.fromEntries(names.split(" ").map((name) => [name, signature]));
}

/** The functions that are implemented. */
const SIGNATURES: ReadonlyMap<string, Signature> = new Map(
  Object.entries({
    ...each("abs ceil exp floor ln log10 log2 sgn sqrt sort sort_desc timestamp absent", OF_VECTOR),
    ...each("acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh deg rad", OF_VECTOR),
    ...each("rate irate increase delta idelta deriv changes resets", OF_MATRIX),
    ...each("avg_over_time min_over_time max_over_time sum_over_time count_over_time", OF_MATRIX),
    ...each("stddev_over_time stdvar_over_time last_over_time present_over_time absent_over_time", OF_MATRIX),
    ...each("day_of_month day_of_week day_of_year days_in_month hour minute month year", OF_DATE),
    quantile_over_time: { args: ["scalar", "matrix"], returns: "vector" },
    predict_linear: { args: ["matrix", "scalar"], returns: "vector" },
    clamp: { args: ["vector", "scalar", "scalar"], returns: "vector" },
    clamp_min: { args: ["vector", "scalar"], returns: "vector" },
    clamp_max: { args: ["vector", "scalar"], returns: "vector" },
    round: { args: ["vector", "scalar"], optional: 1, returns: "vector" },
    histogram_quantile: { args: ["scalar", "vector"], returns: "vector" },
    label_replace: { args: ["vector", "string", "string", "string", "string"], returns: "vector" },
    label_join: { args: ["vector", "string", "string", "string"], isRepeated: true, returns: "vector" },
    scalar: { args: ["vector"], returns: "scalar" },
    vector: { args: ["scalar"], returns: "vector" },
    time: { args: [], returns: "scalar" },
    pi: { args: [], returns: "scalar" },
  } satisfies Record<string, Signature>),
);

export function signatureOf(name: string): Signature | undefined {
  return SIGNATURES.get(name);
}
