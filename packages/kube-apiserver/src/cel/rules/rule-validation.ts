import { equalJson } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import { invalidField, type FieldError } from "../../schema/field-error.ts";
import { additionalOf, propertyOf, type StructuralSchema } from "../../schema/structural-schema.ts";
import { compileRule, type CompiledRule } from "./compiled-rule.ts";
import { evaluateCel } from "../evaluator.ts";
import { parseFieldPath } from "./rule-declaration.ts";
import { CelError, fromResource, type CelValue } from "../values/values.ts";

/** A value, its old value if any, and its path. */
interface ValueLocation {
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly field: string;
  readonly isRoot: boolean;
}

/** The schema rules that an object violates, with the server's messages; `old` is the object that it replaces. */
export function validateRules(object: object, schema: StructuralSchema, old?: object): readonly FieldError[] {
  if (!hasRules(schema)) return [];
  const location = { value: object as JsonObject, old: old as JsonObject | undefined, field: "", isRoot: true };
  return validateLocation(location, schema);
}

const withRules = new WeakMap<StructuralSchema, boolean>();

/** Whether the schema contains a rule anywhere: most have none, and then nothing is walked. */
export function hasRules(schema: StructuralSchema): boolean {
  const cached = withRules.get(schema);
  if (cached !== undefined) return cached;
  // A recursive schema: its rules have been checked already.
  withRules.set(schema, false);
  const { items, properties = {} } = schema;
  const below = [items, additionalOf(schema), ...Object.values(properties)];
  const found =
    (schema["x-kubernetes-validations"] ?? []).length > 0 || below.some((each) => each !== undefined && hasRules(each));
  withRules.set(schema, found);
  return found;
}

function validateLocation(location: ValueLocation, schema: StructuralSchema): readonly FieldError[] {
  const { value } = location;
  // An allowed null is not visible to rules.
  if (value === null || !hasRules(schema)) return [];
  return [...evaluateRules(location, schema), ...validateChildren(location, schema)];
}

function validateChildren({ value, old, field }: ValueLocation, schema: StructuralSchema): readonly FieldError[] {
  if (isJsonArray(value)) {
    const { items } = schema;
    if (!items) return [];
    return value.flatMap((item, index) =>
      validateLocation(
        { value: item, old: findOldItem(item, old, schema), field: `${field}[${index}]`, isRoot: false },
        items,
      ),
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
    return validateLocation({ value: member, old: before && memberOf(before, name), field: at, isRoot: false }, of);
  });
}

/** The old item with the same keys; only such lists have correlatable items. */
function findOldItem(item: JsonValue, old: JsonValue | undefined, schema: StructuralSchema): JsonValue | undefined {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (!isJsonArray(old) || !isJsonObject(item) || schema["x-kubernetes-list-type"] !== "map") return undefined;
  return old.find(
    (earlier) => isJsonObject(earlier) && keys.every((key) => equalJson(memberOf(earlier, key), memberOf(item, key))),
  );
}

function evaluateRules(location: ValueLocation, schema: StructuralSchema): readonly FieldError[] {
  const compiled = compileRules(schema, location.isRoot);
  if (compiled.length === 0) return [];
  const self = fromResource(location.value, schema, location.isRoot);
  const oldSelf =
    location.old === undefined || location.old === null
      ? undefined
      : fromResource(location.old, schema, location.isRoot);
  const values = new Map<string, CelValue>([
    ["self", self],
    ...(oldSelf === undefined ? [] : [["oldSelf", oldSelf] as const]),
  ]);
  const isUnchanged = location.old !== undefined && equalJson(location.old, location.value);
  return compiled.flatMap((rule) => {
    if (rule.usesOldSelf ? oldSelf === undefined : isUnchanged) return [];
    const result = evaluateCel(rule.test, values);
    return result === true ? [] : [createRuleError(rule, result, location, schema, values)];
  });
}

const compiledRules = new WeakMap<StructuralSchema, readonly CompiledRule[]>();

/** Rules that do not compile were rejected with the definition. */
function compileRules(schema: StructuralSchema, isRoot: boolean): readonly CompiledRule[] {
  const cached = compiledRules.get(schema);
  if (cached) return cached;
  const compiled = (schema["x-kubernetes-validations"] ?? []).flatMap((rule) => {
    const result = compileRule(rule, schema, isRoot);
    return result.ok ? [result.value] : [];
  });
  compiledRules.set(schema, compiled);
  return compiled;
}

function createRuleError(
  { rule, message }: CompiledRule,
  result: CelValue,
  { value, field }: ValueLocation,
  schema: StructuralSchema,
  values: ReadonlyMap<string, CelValue>,
): FieldError {
  const staticMessage = rule.message ?? "";
  if (result instanceof CelError) {
    const label = staticMessage === "" ? rule.rule : staticMessage;
    return invalidField(field, schema.type ?? "", `${result.message} evaluating rule: ${label}`);
  }
  const evaluatedMessage = message && evaluateCel(message, values);
  const isUsable =
    typeof evaluatedMessage === "string" && evaluatedMessage.trim() !== "" && !/[\n\r]/.test(evaluatedMessage);
  const detail = isUsable
    ? evaluatedMessage.trim()
    : staticMessage === ""
      ? `failed rule: ${rule.rule}`
      : staticMessage;
  return createFieldError(
    rule.reason ?? "FieldValueInvalid",
    `${field}${formatFieldPath(rule.fieldPath)}`,
    value,
    detail,
  );
}

function formatFieldPath(path = ""): string {
  return (parseFieldPath(path) ?? []).map((token) => (/^[\w-]+$/.test(token) ? `.${token}` : `[${token}]`)).join("");
}

function createFieldError(reason: string, field: string, value: JsonValue, detail: string): FieldError {
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
