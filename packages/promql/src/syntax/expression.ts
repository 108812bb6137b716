import type { Regex } from "../regex/regex.ts";

export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** One condition on a label. A missing label has the value "". */
export interface Matcher {
  readonly label: string;
  readonly operator: MatchOperator;
  readonly value: string;
  /** For `=~` and `!~`. */
  readonly regex?: Regex;
}

/** The time of an `@` modifier, in milliseconds or relative to the query. */
export type FixedTime = number | "start" | "end";

interface Shift {
  readonly offsetMs: number;
  readonly at?: FixedTime;
}

export interface Selector extends Shift {
  readonly type: "selector";
  readonly matchers: readonly Matcher[];
}

export interface RangeSelector {
  readonly type: "range";
  readonly selector: Selector;
  readonly rangeMs: number;
}

export interface Subquery extends Shift {
  readonly type: "subquery";
  readonly expr: Expression;
  readonly rangeMs: number;
  /** By default the evaluation interval. */
  readonly stepMs?: number;
}

export interface Call {
  readonly type: "call";
  readonly name: string;
  readonly args: readonly Expression[];
}

export type AggregateOperator =
  | "sum"
  | "min"
  | "max"
  | "avg"
  | "count"
  | "group"
  | "stddev"
  | "stdvar"
  | "topk"
  | "bottomk"
  | "quantile"
  | "count_values";

export interface Aggregate {
  readonly type: "aggregate";
  readonly operator: AggregateOperator;
  readonly expr: Expression;
  readonly parameter?: Expression;
  readonly grouping: readonly string[];
  readonly isWithout: boolean;
}

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%" | "^" | "atan2";
export type ComparisonOperator = "==" | "!=" | ">" | "<" | ">=" | "<=";
export type SetOperator = "and" | "or" | "unless";
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | SetOperator;

/** How the series of both sides are matched. */
export interface Matching {
  readonly cardinality: "one-to-one" | "many-to-one" | "one-to-many";
  readonly isOn: boolean;
  readonly labels: readonly string[];
  /** Labels of the one side that the result takes over. */
  readonly include: readonly string[];
}

export interface Binary {
  readonly type: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly isBool: boolean;
  readonly matching: Matching;
}

/** A parsed query. Parentheses are gone. */
export type Expression =
  | { readonly type: "number"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "negate"; readonly expr: Expression }
  | Selector
  | RangeSelector
  | Subquery
  | Call
  | Aggregate
  | Binary;

const COMPARISONS: ReadonlySet<string> = new Set<ComparisonOperator>(["==", "!=", ">", "<", ">=", "<="]);
const SETS: ReadonlySet<string> = new Set<SetOperator>(["and", "or", "unless"]);

export function isComparison(operator: BinaryOperator): operator is ComparisonOperator {
  return COMPARISONS.has(operator);
}

export function isSetOperator(operator: BinaryOperator): operator is SetOperator {
  return SETS.has(operator);
}
