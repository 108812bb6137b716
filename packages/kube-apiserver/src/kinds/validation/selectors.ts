import { type JsonObject, type LabelOperator, type LabelRequirement, matchesLabels } from "@oaas/kube-core";
import { objectAt, objectsAt, textAt, textEntries, textsAt } from "../json-access.ts";
import { forbidden, invalid, invalidFor, required, type Errors } from "./field-errors.ts";
import { validateLabels } from "./metadata.ts";
import { labelValue, qualifiedName } from "./names.ts";

const WITH_VALUES: ReadonlySet<string> = new Set(["In", "NotIn"]);
const WITHOUT_VALUES: ReadonlySet<string> = new Set(["Exists", "DoesNotExist"]);

/** Violations of a label selector. */
export function validateSelector(selector: JsonObject, field: string): Errors {
  return [
    ...validateLabels(selector, `${field}.matchLabels`),
    ...objectsAt(selector, "matchExpressions").flatMap((expression, index) =>
      validateExpression(expression, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

function validateExpression(expression: JsonObject, field: string): Errors {
  const [key, operator] = [textAt(expression, "key"), textAt(expression, "operator")];
  const values = textsAt(expression, "values");
  return [
    ...validateOperator(operator, values.length, field),
    ...invalidFor(`${field}.key`, key, qualifiedName(key)),
    ...values.flatMap((value, index) => invalidFor(`${field}.values[${index}]`, value, labelValue(value))),
  ];
}

function validateOperator(operator: string, count: number, field: string): Errors {
  if (WITH_VALUES.has(operator)) {
    return count > 0 ? [] : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (WITHOUT_VALUES.has(operator)) {
    if (count === 0) return [];
    return [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [invalid(`${field}.operator`, operator, "not a valid selector operator")];
}

/** The requirements of a selector, as far as they are valid. */
export function requirementsOf(selector: JsonObject): readonly LabelRequirement[] {
  return [
    ...textEntries(selector, "matchLabels").map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
    ...objectsAt(selector, "matchExpressions").map((expression) => ({
      key: textAt(expression, "key"),
      operator: textAt(expression, "operator") as LabelOperator,
      values: textsAt(expression, "values"),
    })),
  ];
}

/** Whether a selector is empty. */
export function isEmptySelector(selector: JsonObject): boolean {
  return requirementsOf(selector).length === 0;
}

/** Whether a selector matches these labels; a missing one matches nothing. */
export function matchesSelector(selector: JsonObject | undefined, labels: JsonObject): boolean {
  if (selector === undefined || isEmptySelector(selector)) return false;
  return matchesLabels(requirementsOf(selector), labels as Readonly<Record<string, string>>);
}

/** A selector with its members in Go's order. */
export function formatSelector(selector: JsonObject): JsonObject {
  const expressions = objectsAt(selector, "matchExpressions");
  return {
    ...(Object.keys(objectAt(selector, "matchLabels")).length === 0
      ? {}
      : { matchLabels: objectAt(selector, "matchLabels") }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}
