import { z } from "zod";
import { EMPTY_IS_ABSENT, DESCRIPTIONS } from "../reading/fields.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Converts zod schemas to JSON Schema; named schemas reference each other.
 *
 * `named` schemas become components; `others` are inline schemas (a query, a list), returned in the same order.
 */
export function jsonSchemasOf(
  io: "input" | "output",
  named: Readonly<Record<string, z.ZodType>>,
  others: readonly z.ZodType[],
): { readonly components: Record<string, JsonSchema>; readonly inPlace: readonly JsonSchema[] } {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const placeOf = new Map<z.ZodType, string>();
  for (const schema of others) {
    const id = registry.get(schema)?.id;
    if (id !== undefined || placeOf.has(schema)) continue;
    placeOf.set(schema, ` ${placeOf.size}`);
    registry.add(schema, { id: ` ${placeOf.size - 1}` });
  }
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: refTo,
    unrepresentable: "throw",
    override: ({ jsonSchema }) => {
      removeNoise(jsonSchema);
      if (io === "input" && "properties" in jsonSchema) jsonSchema.additionalProperties ??= false;
    },
  });
  const bare = (id: string): JsonSchema => {
    const { $schema: _, $id: __, id: ___, ...rest } = (schemas[id] ?? {}) as Record<string, unknown>;
    return addDescriptions(rest) as JsonSchema;
  };
  return {
    components: Object.fromEntries(Object.keys(named).map((id) => [id, bare(id)])),
    inPlace: others.map((schema) => {
      const place = placeOf.get(schema);
      return place === undefined ? { $ref: refTo(registry.get(schema)?.id ?? "") } : bare(place);
    }),
  };
}

/**
 * Adds the description of each field. It belongs to the field and not to its schema, which several fields may share, so it
 * is added after the conversion.
 */
function addDescriptions(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(addDescriptions);
  if (typeof node !== "object" || node === null) return node;
  const { [DESCRIPTIONS]: descriptions, ...rest } = node as Record<string, unknown>;
  const schema = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, addDescriptions(value)]));
  if (descriptions === undefined) return schema;
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).map(([name, member]) => {
    const description = (descriptions as Readonly<Record<string, string>>)[name];
    return [name, description === undefined ? member : { ...member, description }];
  });
  return { ...schema, properties: Object.fromEntries(members) as JsonSchema };
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** Removes keywords without meaning for clients: readOnly, empty additionalProperties, string keys, double bounds. */
function removeNoise(schema: Record<string, unknown>): void {
  delete schema["readOnly"];
  // Rules and list types of the custom resources, which share some schemas.
  for (const keyword of Object.keys(schema)) if (keyword.startsWith("x-kubernetes-")) delete schema[keyword];
  const extra = schema["additionalProperties"];
  if (typeof extra === "object" && extra !== null && Object.keys(extra).length === 0) {
    delete schema["additionalProperties"];
  }
  const names = schema["propertyNames"];
  if (typeof names === "object" && names !== null && JSON.stringify(names) === '{"type":"string"}') {
    delete schema["propertyNames"];
  }
  if (schema[EMPTY_IS_ABSENT] === true) {
    delete schema[EMPTY_IS_ABSENT];
    const unlessEmpty = { ...schema };
    for (const member of Object.keys(schema)) delete schema[member];
    const { anyOf, ...rest } = unlessEmpty;
    const options = Array.isArray(anyOf) && Object.keys(rest).length === 0 ? (anyOf as unknown[]) : [unlessEmpty];
    schema["anyOf"] = [...options, { const: "" }];
  }
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
}
