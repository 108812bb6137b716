import { isJsonObject, type JsonValue } from "@oaas/kube-core";
import { validateRuleDeclarations } from "../../cel/rules/rule-declaration.ts";
import { forbiddenField, invalidField, requiredField, unsupportedField, type FieldError } from "../field-error.ts";
import { compileGoPattern } from "../validation/go-pattern.ts";
import { validateListDeclaration } from "./list-declaration.ts";
import { additionalOf, type StructuralSchema } from "../structural-schema.ts";

type Errors = readonly FieldError[];
type Level = "root" | "item" | "field";

const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

const WITHOUT_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/**
 * Why a definition's schema is not structural, with the server's messages; `field` is the path of the schema. The schema is
 * untrusted input.
 */
export function validateStructurality(schema: StructuralSchema, field: string): Errors {
  const errors = [
    ...validateShape(schema, "root", field),
    ...junctions(schema, field).flatMap(validateUndeclared(schema, field)),
  ];
  // Rules need types, which only a structural schema has.
  return errors.length > 0 ? errors : validateRuleDeclarations(schema, field);
}

function validateShape(schema: StructuralSchema, level: Level, field: string): Errors {
  const { items, properties = {}, type } = schema;
  const additional = additionalOf(schema);
  return [
    ...(type === "array" && items === undefined ? [requiredField(`${field}.items`, "must be specified")] : []),
    ...(items === undefined ? [] : validateShape(items, "item", `${field}.items`)),
    ...Object.entries(properties).flatMap(([name, property]) =>
      validateShape(property, "field", `${field}.properties[${name}]`),
    ),
    ...(additional === undefined ? [] : validateShape(additional, "field", `${field}.additionalProperties`)),
    ...validateAdditional(schema, level, field),
    ...validateType(schema, level, field),
    ...validateEmbedded(schema, field),
    ...validateImplied(schema, level, field),
    ...validateRule(schema, field),
    ...validateListDeclaration(schema, field),
    ...junctions(schema, field).flatMap(({ part, at }) => validateNested(part, at)),
  ];
}

function validateAdditional(schema: StructuralSchema, level: Level, field: string): Errors {
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties === undefined) return [];
  const at = `${field}.additionalProperties`;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  return [
    ...(level === "root" ? [forbiddenField(at, "must not be used at the root")] : []),
    ...(isEmbedded ? [forbiddenField(at, "must not be used if x-kubernetes-embedded-resource is set")] : []),
    ...(additionalProperties !== false && Object.keys(properties).length > 0
      ? [forbiddenField(at, "additionalProperties and properties are mutual exclusive")]
      : []),
  ];
}

function validateType(schema: StructuralSchema, level: Level, field: string): Errors {
  const { type = "" } = schema;
  const at = `${field}.type`;
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    return [type === "" ? requiredField(at, detail) : invalidField(at, type, detail)];
  }
  if (type === "") {
    const isFree =
      schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
    return isFree || getRef(schema) !== undefined ? [] : [requiredField(at, WITHOUT_TYPE[level])];
  }
  if (!TYPES.includes(type)) return [unsupportedField(at, type, TYPES)];
  return level === "root" && type !== "object" ? [invalidField(at, type, "must be object at the root")] : [];
}

function validateEmbedded(schema: StructuralSchema, field: string): Errors {
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isPreserving = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (!isEmbedded || isPreserving || Object.keys(schema.properties ?? {}).length > 0) return [];
  const detail =
    "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
  return [requiredField(`${field}.properties`, detail)];
}

/** A schema may restrict only the name in the metadata. */
function validateImplied(schema: StructuralSchema, level: Level, field: string): Errors {
  if (level !== "root" && schema["x-kubernetes-embedded-resource"] !== true) return [];
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const at = `${field}.properties`;
  const found: FieldError[] = [];
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (property !== undefined && property.type !== "string") {
      found.push(invalidField(`${at}[${name}].type`, property.type ?? "", "must be string"));
    }
  }
  if (metadata === undefined) return found;
  if (metadata.type !== "object") {
    found.push(invalidField(`${at}[metadata].type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root" && !restrictsNameOnly(metadata)) {
    const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    found.push(forbiddenField(`${at}[metadata]`, detail));
  }
  return found;
}

function restrictsNameOnly({ type: _type, properties = {}, ...others }: StructuralSchema): boolean {
  const isNameOnly = Object.keys(properties).every((name) => name === "name" || name === "generateName");
  return isNameOnly && Object.keys(others).every((name) => name === "default");
}

function validateRule(schema: StructuralSchema, field: string): Errors {
  const { pattern, uniqueItems } = schema;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  const found: FieldError[] = [];
  if (getRef(schema) !== undefined) found.push(forbiddenField(`${field}.$ref`, "$ref is not supported"));
  if (uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    found.push(forbiddenField(`${field}.uniqueItems`, detail));
  }
  if (pattern !== undefined && compileGoPattern(pattern) === undefined) {
    found.push(invalidField(`${field}.pattern`, pattern, "must be a valid regular expression, but isn't"));
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    const at = `${field}.x-kubernetes-preserve-unknown-fields`;
    found.push(invalidField(at, false, "must be true or undefined"));
  }
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (isIntOrString && schema[name] === true) {
      found.push(invalidField(`${field}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"));
    }
  }
  return found;
}

function getRef(schema: StructuralSchema): JsonValue | undefined {
  return (schema as { readonly $ref?: JsonValue }).$ref;
}

interface Part {
  readonly part: StructuralSchema;
  readonly at: string;
}

/** The parts of `allOf`, `anyOf`, `oneOf` and `not`, except those that spell out int-or-string. */
function junctions(schema: StructuralSchema, field: string): readonly Part[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const [first, ...rest] = allOf;
  const all = first !== undefined && isIntOrStringPair(first.anyOf) ? [omitAnyOf(first), ...rest] : allOf;
  const parts = (name: string, of: readonly StructuralSchema[]): readonly Part[] =>
    of.map((part, index) => ({ part, at: `${field}.${name}[${index}]` }));
  return [
    ...(isIntOrStringPair(anyOf) ? [] : parts("anyOf", anyOf)),
    ...parts("allOf", all),
    ...parts("oneOf", oneOf),
    ...(not === undefined ? [] : [{ part: not, at: `${field}.not` }]),
  ];
}

function isIntOrStringPair(anyOf: readonly StructuralSchema[] | undefined): boolean {
  const isOnly = (part: StructuralSchema | undefined, type: string): boolean =>
    part?.type === type && Object.keys(part).length === 1;
  return anyOf?.length === 2 && isOnly(anyOf[0], "integer") && isOnly(anyOf[1], "string");
}

function omitAnyOf({ anyOf: _anyOf, ...rest }: StructuralSchema): StructuralSchema {
  return rest;
}

/** Structural keywords, which are allowed only outside of junctions; with the server's word for their absence. */
const SHAPES: Readonly<Record<string, string>> = {
  type: "empty",
  additionalProperties: "undefined",
  default: "undefined",
  title: "empty",
  description: "empty",
  nullable: "false",
  externalDocs: "undefined",
  "x-kubernetes-preserve-unknown-fields": "false",
  "x-kubernetes-embedded-resource": "false",
  "x-kubernetes-int-or-string": "false",
  "x-kubernetes-list-map-keys": "empty",
  "x-kubernetes-list-type": "undefined",
  "x-kubernetes-map-type": "undefined",
  "x-kubernetes-validations": "empty",
};

function validateNested(part: StructuralSchema, field: string): Errors {
  const shapes = Object.entries(part).filter(([name, value]) => Object.hasOwn(SHAPES, name) && value !== false);
  return [
    ...shapes.map(([name]) => forbiddenField(`${field}.${name}`, `must be ${SHAPES[name]} to be structural`)),
    ...validateRule(part, field),
    ...junctions(part, field).flatMap((deeper) => validateNested(deeper.part, deeper.at)),
    ...(isJsonObject(part.items) ? validateNested(part.items, `${field}.items`) : []),
    ...Object.entries(part.properties ?? {}).flatMap(([name, property]) => {
      const at = `${field}.properties[${name}]`;
      const metadata = name === "metadata" ? [forbiddenField(at, "must not be specified in a nested context")] : [];
      return [...metadata, ...validateNested(property, at)];
    }),
  ];
}

/** Fields in the root's junctions must be declared outside; the server does not check deeper ones. */
function validateUndeclared(schema: StructuralSchema, field: string): (part: Part) => Errors {
  return ({ part, at }) =>
    Object.keys(part.properties ?? {})
      .filter((name) => !Object.hasOwn(schema.properties ?? {}, name))
      .map((name) =>
        requiredField(`${field}.properties[${name}]`, `because it is defined in ${at}.properties[${name}]`),
      );
}
