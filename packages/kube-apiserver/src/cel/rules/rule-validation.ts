import { equalJson } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import { invalidField, type FieldError } from "../../schema/field-error.ts";
import { additionalOf, propertyOf, type StructuralSchema } from "../../schema/structural-schema.ts";
import { compileRule, type CompiledRule } from "./compiled-rule.ts";
import { evaluateCel } from "../evaluator.ts";
import { fieldPathTokens } from "./rule-declaration.ts";
import { CelError, fromResource, type CelValue } from "../values/values.ts";

/** A value, its old value if any, and its path. */
interface Place {
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly field: string;
  readonly isRoot: boolean;
}

/** The schema rules that an object violates, in the server's words; `old` is the object that it replaces. */
export function ruleErrors(object: object, schema: StructuralSchema, old?: object): readonly FieldError[] {
  if (!hasRules(schema)) return [];
  const place = { value: object as JsonObject, old: old as JsonObject | undefined, field: "", isRoot: true };
  return errorsAt(place, schema);
}

const withRules = new WeakMap<StructuralSchema, boolean>();

/** Whether the schema contains a rule anywhere: most have none, and then nothing is walked. */
export function hasRules(schema: StructuralSchema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  // A recursive schema: its rules have been checked already.
  withRules.set(schema, false);
  const { items, properties = {} } = schema;
  const below = [items, additionalOf(schema), ...Object.values(properties)];
  const found =
    (schema["x-kubernetes-validations"] ?? []).length > 0 || below.some((each) => each !== undefined && hasRules(each));
  withRules.set(schema, found);
  return found;
}

function errorsAt(place: Place, schema: StructuralSchema): readonly FieldError[] {
  const { value } = place;
  // An allowed null is not visible to rules.
  if (value === null || !hasRules(schema)) return [];
  return [...ownErrors(place, schema), ...errorsBelow(place, schema)];
}

function errorsBelow({ value, old, field }: Place, schema: StructuralSchema): readonly FieldError[] {
  if (isJsonArray(value)) {
    const { items } = schema;
    if (!items) return [];
    return value.flatMap((item, index) =>
      errorsAt({ value: item, old: earlierItem(item, old, schema), field: `${field}[${index}]`, isRoot: false }, items),
    );
  }
  if (!isJsonObject(value)) return [];
  const before = isJsonObject(old) && schema["x-kubernetes-map-type"] !== "atomic" ? old : undefined;
  const others = additionalOf(schema);
  return Object.entries(value).flatMap(([name, member]) => {
    const declared = propertyOf(schema, name);
    const of = declared ?? others;
    if (!of) return [];
    const at = declared ? (field === "" ? name : `${field}.${name}`) : `${field}[${name}]`;
    return errorsAt({ value: member, old: before && memberOf(before, name), field: at, isRoot: false }, of);
  });
}

/** The old item with the same keys; only such lists have correlatable items. */
function earlierItem(item: JsonValue, old: JsonValue | undefined, schema: StructuralSchema): JsonValue | undefined {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (!isJsonArray(old) || !isJsonObject(item) || schema["x-kubernetes-list-type"] !== "map") return undefined;
  return old.find(
    (earlier) => isJsonObject(earlier) && keys.every((key) => equalJson(memberOf(earlier, key), memberOf(item, key))),
  );
}

function ownErrors(place: Place, schema: StructuralSchema): readonly FieldError[] {
  const compiled = rulesOf(schema, place.isRoot);
  if (compiled.length === 0) return [];
  const self = fromResource(place.value, schema, place.isRoot);
  const oldSelf =
    place.old === undefined || place.old === null ? undefined : fromResource(place.old, schema, place.isRoot);
  const values = new Map<string, CelValue>([
    ["self", self],
    ...(oldSelf === undefined ? [] : [["oldSelf", oldSelf] as const]),
  ]);
  const isUnchanged = place.old !== undefined && equalJson(place.old, place.value);
  return compiled.flatMap((rule) => {
    if (rule.usesOldSelf ? oldSelf === undefined : isUnchanged) return [];
    const result = evaluateCel(rule.test, values);
    return result === true ? [] : [failure(rule, result, place, schema, values)];
  });
}

const compiledRules = new WeakMap<StructuralSchema, readonly CompiledRule[]>();

/** Rules that do not compile were rejected with the definition. */
function rulesOf(schema: StructuralSchema, isRoot: boolean): readonly CompiledRule[] {
  const known = compiledRules.get(schema);
  if (known) return known;
  const compiled = (schema["x-kubernetes-validations"] ?? []).flatMap((rule) => {
    const result = compileRule(rule, schema, isRoot);
    return result.ok ? [result.value] : [];
  });
  compiledRules.set(schema, compiled);
  return compiled;
}

function failure(
  { rule, message }: CompiledRule,
  result: CelValue,
  { value, field }: Place,
  schema: StructuralSchema,
  values: ReadonlyMap<string, CelValue>,
): FieldError {
  const stated = rule.message ?? "";
  if (result instanceof CelError) {
    const what = stated === "" ? rule.rule : stated;
    return invalidField(field, schema.type ?? "", `${result.message} evaluating rule: ${what}`);
  }
  const made = message && evaluateCel(message, values);
  const isUsable = typeof made === "string" && made.trim() !== "" && !/[\n\r]/.test(made);
  const detail = isUsable ? made.trim() : stated === "" ? `failed rule: ${rule.rule}` : stated;
  return withReason(rule.reason ?? "FieldValueInvalid", `${field}${pathBelow(rule.fieldPath)}`, value, detail);
}

function pathBelow(path = ""): string {
  return (fieldPathTokens(path) ?? []).map((token) => (/^[\w-]+$/.test(token) ? `.${token}` : `[${token}]`)).join("");
}

function withReason(reason: string, field: string, value: JsonValue, detail: string): FieldError {
  switch (reason) {
    case "FieldValueRequired":
      return { reason, field, message: `Required value: ${detail}` };
    case "FieldValueForbidden":
      return { reason, field, message: `Forbidden: ${detail}` };
    case "FieldValueDuplicate":
      return { reason, field, message: "Duplicate value" };
    default:
      // Objects and lists are not shown because they may be large.
      return typeof value === "object"
        ? { reason, field, message: `Invalid value: ${detail}` }
        : invalidField(field, value, detail);
  }
}
