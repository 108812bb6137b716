import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { checkName, checkQualifiedName } from "./names.ts";

/** Operators of a requirement. `Gt` and `Lt` compare integers; only the text form has them. */
export type LabelOperator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** Conditions that must all hold; an empty list matches everything. */
export type LabelRequirements = readonly LabelRequirement[];

/** A selector as in `spec.selector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/** The labels of an object. */
export type Labels = Readonly<Record<string, string>>;

const OBJECT_OPERATORS = new Set<string>(["In", "NotIn", "Exists", "DoesNotExist"]);
const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** Whether labels meet all requirements. A missing label meets only `NotIn` and `DoesNotExist`. */
export function matchesLabels(requirements: LabelRequirements, labels: Labels = {}): boolean {
  return requirements.every((requirement) => meets(requirement, labels));
}

/** Whether an object's selector selects these labels: no selector selects nothing, an empty one everything. */
export function selectsLabels(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  const requirements = selectorRequirements(selector);
  return requirements.ok && matchesLabels(requirements.value, labels);
}

function meets({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Gt":
    case "Lt": {
      const [label, bound] = [wholeNumber(value), wholeNumber(values[0])];
      if (label === undefined || bound === undefined) return false;
      return operator === "Gt" ? label > bound : label < bound;
    }
  }
}

/** Returns all violations of a requirement. */
export function checkRequirement(requirement: LabelRequirement): readonly Violation[] {
  const { key, operator, values } = requirement;
  return [
    ...violationsUnder(pathOf(ROOT_PATH, "key"), checkQualifiedName(key)),
    ...countViolations(operator, values),
    ...values.flatMap((value, index) =>
      violationsUnder(pathOf(ROOT_PATH, "values", index), [
        ...checkName("label-value", value),
        ...((operator === "Gt" || operator === "Lt") && wholeNumber(value) === undefined
          ? [{ path: ROOT_PATH, message: `"${value}" is not an integer` }]
          : []),
      ]),
    ),
  ];
}

function countViolations(operator: LabelOperator, values: readonly string[]): readonly Violation[] {
  const path = pathOf(ROOT_PATH, "values");
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? [] : [{ path, message: `is empty, ${operator} needs at least one value` }];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? [] : [{ path, message: `must be empty for ${operator}`, fix: "omit the values" }];
    case "Gt":
    case "Lt":
      return values.length === 1 ? [] : [{ path, message: `${operator} needs exactly one value` }];
  }
}

/** The requirements of an object's selector in canonical order, or all violations. */
export function selectorRequirements(selector: LabelSelector): Result<LabelRequirements, readonly Violation[]> {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const violations: Violation[] = [];
  const requirements: LabelRequirement[] = [];

  for (const [key, value] of Object.entries(matchLabels)) {
    const path = pathOf(ROOT_PATH, "matchLabels", key);
    violations.push(...violationsUnder(path, [...checkQualifiedName(key), ...checkName("label-value", value)]));
    requirements.push({ key, operator: "In", values: [value] });
  }
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const path = pathOf(ROOT_PATH, "matchExpressions", index);
    if (!OBJECT_OPERATORS.has(operator)) {
      violations.push({
        path: pathOf(path, "operator"),
        message: `"${operator}" is not an operator`,
        fix: `use ${[...OBJECT_OPERATORS].join(", ")}`,
      });
      continue;
    }
    violations.push(...violationsUnder(path, checkRequirement({ key, operator, values })));
    requirements.push({ key, operator, values });
  }
  return violations.length === 0 ? ok(canonicalRequirements(requirements)) : err(violations);
}

/** The requirements in canonical order with unique values: equal for equivalent selectors. */
export function canonicalRequirements(requirements: LabelRequirements): LabelRequirements {
  return requirements
    .map((requirement) => ({ ...requirement, values: [...new Set(requirement.values)].sort(byCodeUnits) }))
    .sort((a, b) => byCodeUnits(orderOf(a), orderOf(b)));
}

function orderOf({ key, operator, values }: LabelRequirement): string {
  return [key, operator, ...values].join("\0");
}

function byCodeUnits(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** A 64-bit integer, as labels write it. */
function wholeNumber(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text.replace("+", ""));
  return number < INT64.least || number > INT64.most ? undefined : number;
}
