import { equalJson } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import {
  invalidField,
  invalidSomewhere,
  mistypedField,
  placeText,
  requiredField,
  tooLongField,
  tooManyField,
  unsupportedField,
  type FieldError,
} from "../field-error.ts";
import { goPattern } from "./go-pattern.ts";
import { hasFormat } from "./string-format.ts";
import { memberSchema, type StructuralSchema } from "../structural-schema.ts";

type Errors = readonly FieldError[];

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/**
 * Schema violations of a value, in the server's order and words. Unknown fields are not errors: they are pruned before.
 * Members are checked in the order of the object.
 */
export function schemaErrors(value: unknown, schema: StructuralSchema, field = ""): Errors {
  return errorsOf(value as JsonValue, schema, field);
}

function errorsOf(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  // Null is only checked for being allowed.
  if (value === null) {
    return [...(schema.nullable === true ? [] : typeErrors(value, schema, field)), ...enumErrors(value, schema, field)];
  }
  return [
    ...typeErrors(value, schema, field),
    ...junctionErrors(value, schema, field),
    ...(typeof value === "string" ? stringErrors(value, schema, field) : []),
    ...(typeof value === "number" ? numberErrors(value, schema, field) : []),
    ...(isJsonArray(value) ? listErrors(value, schema, field) : []),
    ...enumErrors(value, schema, field),
    ...(isJsonObject(value) ? objectErrors(value, schema, field) : []),
  ];
}

function typeErrors(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const wanted = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : schema.type;
  if (wanted === undefined) return [];
  const found = typeName(value);
  const isMet = found === "integer" && wanted === "number" ? true : wanted.includes(found);
  return isMet ? [] : [mistypedField(field, found, String(wanted))];
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function junctionErrors(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const each = (parts: readonly StructuralSchema[]): readonly Errors[] =>
    parts.map((part) => errorsOf(value, part, field));
  const place = JSON.stringify(field);
  const found: FieldError[] = [];

  const any = each(anyOf);
  if (any.length > 0 && any.every(isSome)) {
    found.push(invalidSomewhere(`${place} must validate at least one schema (anyOf)`), ...(any[0] ?? []));
  }
  const one = each(oneOf);
  const valid = one.filter((errors) => errors.length === 0).length;
  if (one.length > 0 && valid !== 1) {
    const count = valid === 0 ? "none valid" : `${valid} valid alternatives`;
    found.push(invalidSomewhere(`${place} must validate one and only one schema (oneOf). Found ${count}`));
    if (valid === 0) found.push(...(one[0] ?? []));
  }
  const all = each(allOf);
  if (all.some(isSome)) {
    const none = all.every(isSome) ? ". None validated" : "";
    found.push(...all.flat(), invalidSomewhere(`${place} must validate all the schemas (allOf)${none}`));
  }
  if (not !== undefined && errorsOf(value, not, field).length === 0) {
    found.push(invalidSomewhere(`${place} must not validate the schema (not)`));
  }
  return found;
}

function isSome(errors: Errors): boolean {
  return errors.length > 0;
}

/** The first of too long, too short and pattern mismatch; then the format. */
function stringErrors(text: string, schema: StructuralSchema, field: string): Errors {
  const format = schema.format ?? "";
  return [
    ...(isText(schema) ? lengthErrors(text, schema, field) : []),
    ...(hasFormat(text, format) ? [] : [mistypedField(field, text, format)]),
  ];
}

/** String rules do not apply to other types. */
function isText({ type }: StructuralSchema): boolean {
  return type === undefined || type === "string";
}

function lengthErrors(text: string, { minLength = 0, maxLength, pattern }: StructuralSchema, field: string): Errors {
  const length = Array.from(text).length;
  if (maxLength !== undefined && length > maxLength) return [tooLongField(field, maxLength)];
  if (length < minLength) {
    return [invalidField(field, text, `${placeText(field)} should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && goPattern(pattern)?.test(text) === false) {
    return [invalidField(field, text, `${placeText(field)} should match '${pattern}'`)];
  }
  return [];
}

function numberErrors(value: number, schema: StructuralSchema, field: string): Errors {
  const { multipleOf, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  const [maximum, minimum] = [boundFor(value, schema.maximum), boundFor(value, schema.minimum)];
  const found: FieldError[] = [];
  const refuse = (rule: string): void => {
    found.push(invalidField(field, value, `${placeText(field)} should be ${rule}`));
  };
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) refuse(`a multiple of ${multipleOf}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    refuse(`less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    refuse(`greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  return [...found, ...integerErrors(value, schema, field)];
}

/** The server compares integers with truncated bounds. */
function boundFor(value: number, bound: number | undefined): number | undefined {
  return bound !== undefined && Number.isInteger(value) ? Math.trunc(bound) : bound;
}

function integerErrors(value: number, { type, format }: StructuralSchema, field: string): Errors {
  if (type !== "integer") return [];
  const isTooBig = format === "int32" && (value < INT32.least || value > INT32.most);
  if (Number.isInteger(value) && !isTooBig) return [];
  const which = format === undefined ? "(default format)" : `with format ${format}`;
  return [invalidSomewhere(`Checked value must be of type integer ${which} in ${field}`)];
}

/** Null never matches an enum, even if listed: the server compares typed values. */
function enumErrors(value: JsonValue, schema: StructuralSchema, field: string): Errors {
  const isMet = schema.enum === undefined || (value !== null && schema.enum.some((choice) => equalJson(choice, value)));
  return isMet ? [] : [unsupportedField(field, value, schema.enum ?? [])];
}

function listErrors(items: readonly JsonValue[], schema: StructuralSchema, field: string): Errors {
  const { minItems = 0, maxItems, items: of } = schema;
  return [
    ...(of === undefined ? [] : items.flatMap((item, index) => errorsOf(item, of, `${field}[${index}]`))),
    ...countErrors(items.length, minItems, maxItems, "items", field),
  ];
}

function objectErrors(object: JsonObject, schema: StructuralSchema, field: string): Errors {
  const { minProperties = 0, maxProperties, required = [] } = schema;
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  return [
    ...countErrors(Object.keys(object).length, minProperties, maxProperties, "properties", field),
    ...required.filter((name) => memberOf(object, name) === undefined).map((name) => requiredField(at(name))),
    ...Object.entries(object).flatMap(([name, member]) => {
      const of = memberSchema(schema, name);
      return of === undefined ? [] : errorsOf(member, of, at(name));
    }),
  ];
}

function countErrors(count: number, least: number, most: number | undefined, what: string, field: string): Errors {
  if (most !== undefined && count > most) return [tooManyField(field, count, most)];
  if (count >= least) return [];
  return [invalidField(field, count, `${placeText(field)} should have at least ${least} ${what}`)];
}
