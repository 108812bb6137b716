import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { goText } from "../../go-format.ts";
import { allowsAdditional, type StructuralSchema } from "../../schema/structural-schema.ts";
import {
  declaredMember,
  itemElement,
  mergeSchemaOf,
  shapeOf,
  type MaybeSchema,
  type MergeShape,
  objectSchema,
} from "./merge-shape.ts";
import { elementText, memberElement } from "../fields/path-element.ts";

/**
 * Errors that prevent a configuration from being applied: undeclared fields, values of another type, duplicate list
 * items. One line per error with its path, in the server's words.
 */
export function configErrors(config: JsonValue, schema: MaybeSchema): readonly string[] {
  return errorsOf(config, schema, "");
}

function errorsOf(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  if (value === null) return [];
  const shape = shapeOf(schema, value);
  if (shape.kind === "map") return mapErrors(value, schema, path);
  if (shape.kind === "list") return listErrors(value, shape, path);
  return leafErrors(value, schema, path);
}

const at = (path: string, message: string): string => `${path}: ${message}`;

function mapErrors(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  if (!isJsonObject(value)) return [at(path, `expected map, got &{${goText(value)}}`)];
  return Object.entries(value).flatMap(([name, member]) => {
    const inside = `${path}${elementText(memberElement(name))}`;
    if (!isKnown(schema, name)) return [at(inside, "field not declared in schema")];
    return errorsOf(member, mergeSchemaOf(schema, name), inside);
  });
}

function isKnown(schema: MaybeSchema, name: string): boolean {
  if (schema === undefined || schema.type === undefined) return true;
  return (
    declaredMember(schema, name) !== undefined ||
    allowsAdditional(schema) ||
    schema["x-kubernetes-preserve-unknown-fields"] === true
  );
}

function listErrors(
  value: JsonValue,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  path: string,
): readonly string[] {
  if (!isJsonArray(value)) return [at(path, `expected list, got &{${goText(value)}}`)];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    const element = itemElement(shape, item);
    if (element === undefined) return [at(path, `element ${index}: ${keylessText(item, shape.keys)}`)];
    const isRepeated = seen.has(element);
    seen.add(element);
    const repeated = isRepeated ? [at(path, `duplicate entries for key ${elementText(element)}`)] : [];
    return [...repeated, ...errorsOf(item, shape.items, `${path}${elementText(element)}`)];
  });
}

function keylessText(item: JsonValue, keys: readonly string[]): string {
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  const names = keys.map((key) => JSON.stringify(key)).join(" ");
  const why = "(and doesn't have default values for any key fields)";
  return `associative list with keys has an element that omits all key fields [${names}] ${why}`;
}

const NUMERIC = "numeric (int or float)";

const SCALARS: Readonly<Record<string, { readonly is: string; readonly called: string }>> = {
  string: { is: "string", called: "string" },
  boolean: { is: "boolean", called: "boolean" },
  integer: { is: "number", called: NUMERIC },
  number: { is: "number", called: NUMERIC },
};

function leafErrors(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  const scalar = SCALARS[schema?.type ?? ""];
  if (scalar === undefined || typeof value === scalar.is) return [];
  const got = scalar.called === NUMERIC ? typeText(value) : `&value.valueUnstructured{Value:${JSON.stringify(value)}}`;
  return [at(path, `expected ${scalar.called}, got ${got}`)];
}

/** Go's name for the type of a non-numeric value. */
function typeText(value: JsonValue): string {
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Whether a schema declares all fields of an object. */
export function isReadableAs(object: JsonObject, schema: StructuralSchema): boolean {
  return configErrors(object, objectSchema(schema)).length === 0;
}
