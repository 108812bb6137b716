import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import type { StructuralSchema } from "./structural-schema.ts";

const REFERENCE = "#/components/schemas/";

/** Descriptions, and keywords about a kind as a whole. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "description",
  "title",
  "externalDocs",
  "x-kubernetes-group-version-kind",
]);

type Filling = Record<string, unknown>;

/**
 * The schemas of the built-in kinds by name, from the server's OpenAPI v3 document: references are resolved (recursive
 * types share one object), descriptions and defaults that equal Go's zero values are removed.
 */
export function openApiSchemas(document: JsonObject): ReadonlyMap<string, StructuralSchema> {
  const components = memberOf(document, "components");
  const sources = isJsonObject(components) ? memberOf(components, "schemas") : undefined;
  const entries = Object.entries(isJsonObject(sources) ? sources : {});
  const schemasByName = new Map(entries.map(([name]): [string, Filling] => [name, {}]));
  // A schema with siblings of its reference can be built only after the referenced one.
  const later: (() => void)[] = [];
  for (const [name, source] of entries)
    Object.assign(schemasByName.get(name) ?? {}, membersOf(source, schemasByName, later));
  for (const finish of later) finish();
  return schemasByName;
}

function resolveSchema(source: JsonValue, schemasByName: ReadonlyMap<string, Filling>, later: (() => void)[]): Filling {
  const target = schemasByName.get(referenceOf(source) ?? "");
  const own = membersOf(source, schemasByName, later);
  if (target === undefined) return own;
  if (Object.keys(own).length === 0) return target;
  const both: Filling = {};
  later.push(() => Object.assign(both, target, own));
  return both;
}

/** The type name a schema refers to, directly or as the only part of allOf. */
function referenceOf(source: JsonValue): string | undefined {
  if (!isJsonObject(source)) return undefined;
  const allOf = memberOf(source, "allOf");
  const reference = memberOf(source, "$ref");
  if (typeof reference === "string" && reference.startsWith(REFERENCE)) return reference.slice(REFERENCE.length);
  return isJsonArray(allOf) && allOf.length === 1 ? referenceOf(allOf[0] ?? null) : undefined;
}

function membersOf(source: JsonValue, schemasByName: ReadonlyMap<string, Filling>, later: (() => void)[]): Filling {
  if (!isJsonObject(source)) return {};
  const isReference = referenceOf(source) !== undefined;
  const isIntOrString = memberOf(source, "format") === "int-or-string";
  if (isIntOrString) return { "x-kubernetes-int-or-string": true };
  const inside = (value: JsonValue): Filling => resolveSchema(value, schemasByName, later);
  return Object.fromEntries(
    Object.entries(source).flatMap(([name, value]): [string, unknown][] => {
      if (LEFT_OUT.has(name) || (isReference && (name === "allOf" || name === "$ref"))) return [];
      if (name === "default") return isZero(value) ? [] : [[name, value]];
      if (name === "properties" && isJsonObject(value)) {
        return [[name, Object.fromEntries(Object.entries(value).map(([key, property]) => [key, inside(property)]))]];
      }
      if (name === "items" || name === "not" || (name === "additionalProperties" && isJsonObject(value))) {
        return [[name, inside(value)]];
      }
      if ((name === "oneOf" || name === "anyOf" || name === "allOf") && isJsonArray(value)) {
        return [[name, value.map(inside)]];
      }
      return [[name, value]];
    }),
  );
}

function isZero(value: JsonValue): boolean {
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  return value === null || value === "" || value === 0 || value === false;
}
