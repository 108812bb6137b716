import { equalJson } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import {
  invalidField,
  invalidSomewhere,
  mistypedField,
  formatPath,
  requiredField,
  tooLongField,
  tooManyField,
  unsupportedField,
  type FieldError,
} from "../field-error.ts";
import { compileGoPattern } from "./go-pattern.ts";
import { hasFormat } from "./string-format.ts";
import { memberSchema, type StructuralSchema } from "../structural-schema.ts";

type Errors = readonly FieldError[];

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/**
 * Schema violations of a value, with the server's order and messages. Unknown fields are not errors: they are pruned before.
 * Members are checked in the order of the object.
 */
export function validateSchema(value: unknown, schema: StructuralSchema, field = ""): Errors {
  return validateValue(value as JsonValue, schema, field);
}

function validateValue(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  // Null is only checked for being allowed.
  if (value === null) {
    return [
      ...(schema.nullable === true ? [] : validateType(value, schema, field)),
      ...validateEnum(value, schema, field),
    ];
  }
  return [
    ...validateType(value, schema, field),
    ...validateJunction(value, schema, field),
    ...(typeof value === "string" ? validateString(value, schema, field) : []),
    ...(typeof value === "number" ? validateNumber(value, schema, field) : []),
    ...(isJsonArray(value) ? validateList(value, schema, field) : []),
    ...validateEnum(value, schema, field),
    ...(isJsonObject(value) ? validateObject(value, schema, field) : []),
  ];
}

function validateType(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const expected = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : schema.type;
  if (expected === undefined) return [];
  const actual = typeName(value);
  const matchesType = actual === "integer" && expected === "number" ? true : expected.includes(actual);
  return matchesType ? [] : [mistypedField(field, actual, String(expected))];
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function validateJunction(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const each = (parts: readonly StructuralSchema[]): readonly Errors[] =>
    parts.map((part) => validateValue(value, part, field));
  const place = JSON.stringify(field);
  const actual: FieldError[] = [];

  const any = each(anyOf);
  if (any.length > 0 && any.every(matchesAny)) {
    actual.push(invalidSomewhere(`${place} must validate at least one schema (anyOf)`), ...(any[0] ?? []));
  }
  const one = each(oneOf);
  const valid = one.filter((errors) => errors.length === 0).length;
  if (one.length > 0 && valid !== 1) {
    const count = valid === 0 ? "none valid" : `${valid} valid alternatives`;
    actual.push(invalidSomewhere(`${place} must validate one and only one schema (oneOf). Found ${count}`));
    if (valid === 0) actual.push(...(one[0] ?? []));
  }
  const all = each(allOf);
  if (all.some(matchesAny)) {
    const none = all.every(matchesAny) ? ". None validated" : "";
    actual.push(...all.flat(), invalidSomewhere(`${place} must validate all the schemas (allOf)${none}`));
  }
  if (not !== undefined && validateValue(value, not, field).length === 0) {
    actual.push(invalidSomewhere(`${place} must not validate the schema (not)`));
  }
  return actual;
}

function matchesAny(errors: Errors): boolean {
  return errors.length > 0;
}

/** The first of too long, too short and pattern mismatch; then the format. */
function validateString(text: string, schema: StructuralSchema, field: string): Errors {
  const format = schema.format ?? "";
  return [
    ...(isText(schema) ? validateLength(text, schema, field) : []),
    ...(hasFormat(text, format) ? [] : [mistypedField(field, text, format)]),
  ];
}

/** String rules do not apply to other types. */
function isText({ type }: StructuralSchema): boolean {
  return type === undefined || type === "string";
}

function validateLength(text: string, { minLength = 0, maxLength, pattern }: StructuralSchema, field: string): Errors {
  const length = Array.from(text).length;
  if (maxLength !== undefined && length > maxLength) return [tooLongField(field, maxLength)];
  if (length < minLength) {
    return [invalidField(field, text, `${formatPath(field)} should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && compileGoPattern(pattern)?.test(text) === false) {
    return [invalidField(field, text, `${formatPath(field)} should match '${pattern}'`)];
  }
  return [];
}

function validateNumber(value: number, schema: StructuralSchema, field: string): Errors {
  const { multipleOf, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  const [maximum, minimum] = [boundFor(value, schema.maximum), boundFor(value, schema.minimum)];
  const actual: FieldError[] = [];
  const addError = (rule: string): void => {
    actual.push(invalidField(field, value, `${formatPath(field)} should be ${rule}`));
  };
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) addError(`a multiple of ${multipleOf}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    addError(`less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    addError(`greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  return [...actual, ...validateInteger(value, schema, field)];
}

/** The server compares integers with truncated bounds. */
function boundFor(value: number, bound: number | undefined): number | undefined {
  return bound !== undefined && Number.isInteger(value) ? Math.trunc(bound) : bound;
}

function validateInteger(value: number, { type, format }: StructuralSchema, field: string): Errors {
  if (type !== "integer") return [];
  const isTooBig = format === "int32" && (value < INT32.least || value > INT32.most);
  if (Number.isInteger(value) && !isTooBig) return [];
  const which = format === undefined ? "(default format)" : `with format ${format}`;
  return [invalidSomewhere(`Checked value must be of type integer ${which} in ${field}`)];
}

/** Null never matches an enum, even if listed: the server compares typed values. */
function validateEnum(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const matchesType =
    schema.enum === undefined || (value !== null && schema.enum.some((choice) => equalJson(choice, value)));
  return matchesType ? [] : [unsupportedField(field, value, schema.enum ?? [])];
}

function validateList(items: readonly JsonValue[], schema: StructuralSchema, field: string): Errors {
  const { minItems = 0, maxItems, items: of } = schema;
  return [
    ...(of === undefined ? [] : items.flatMap((item, index) => validateValue(item, of, `${field}[${index}]`))),
    ...validateCount(items.length, minItems, maxItems, "items", field),
  ];
}

function validateObject(object: JsonObject, schema: StructuralSchema, field: string): Errors {
  const { minProperties = 0, maxProperties, required = [] } = schema;
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  return [
    ...validateCount(Object.keys(object).length, minProperties, maxProperties, "properties", field),
    ...required.filter((name) => memberOf(object, name) === undefined).map((name) => requiredField(at(name))),
    ...Object.entries(object).flatMap(([name, member]) => {
      const of = memberSchema(schema, name);
      return of === undefined ? [] : validateValue(member, of, at(name));
    }),
  ];
}

function validateCount(count: number, least: number, most: number | undefined, what: string, field: string): Errors {
  if (most !== undefined && count > most) return [tooManyField(field, count, most)];
  if (count >= least) return [];
  return [invalidField(field, count, `${formatPath(field)} should have at least ${least} ${what}`)];
}
