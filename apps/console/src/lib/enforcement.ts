/** The parts of a recorded decision that explain it. The record is the text that the policy wrote. */
export interface DecisionExplained {
  readonly atMs: number;
  readonly component: string;
  readonly dimension: string;
  readonly action: string;
  readonly lane: string | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Inputs by name, in the order of the record. */
  readonly numbers: readonly (readonly [string, number | string])[];
}

interface Decision {
  readonly component: string;
  readonly dimension: string;
  readonly applied_at: string;
  readonly record: string;
}

export function explainDecision({ component, dimension, applied_at: at, record }: Decision): DecisionExplained {
  const { input, outcome } = objectOf(parse(record));
  const { recommendation, minimums, maximums, urgency } = objectOf(input);
  const { action, lane, from, to } = objectOf(outcome);
  const { target, lowerBound, upperBound, confidence, basis } = objectOf(recommendation);
  const limits = (list: unknown): string =>
    (Array.isArray(list) ? list : [])
      .map((each) => `${String(objectOf(each)["value"])} (${String(objectOf(each)["source"])})`)
      .join(", ");
  const numbers: (readonly [string, unknown])[] = [
    ["recommended", target],
    ["lower bound", lowerBound],
    ["upper bound", upperBound],
    ["confidence", confidence],
    ["minimum", limits(minimums)],
    ["maximum", limits(maximums)],
    ...Object.entries(objectOf(urgency)).map(([name, value]) => [`urgency ${name}`, value] as const),
    ...Object.entries(objectOf(objectOf(basis)["values"])),
  ];
  return {
    atMs: Date.parse(at),
    component,
    dimension,
    action: typeof action === "string" ? action : "unknown",
    lane: typeof lane === "string" ? lane : undefined,
    from: typeof from === "number" ? from : undefined,
    to: typeof to === "number" ? to : undefined,
    numbers: numbers.filter(
      (pair): pair is readonly [string, number | string] =>
        typeof pair[1] === "number" || (typeof pair[1] === "string" && pair[1] !== ""),
    ),
  };
}

function parse(record: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(record));
  } catch {
    return {};
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
