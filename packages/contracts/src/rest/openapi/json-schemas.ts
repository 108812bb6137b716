import { z } from "zod";
import { EMPTY_IS_ABSENT, MEANINGS } from "../reading/fields.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Makes JSON schemas of many zod schemas at once, so that those with a name refer to each other by it.
 *
 * `named` become components; `others` are schemas of one place (a query, a list), returned in the same order.
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
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  const bare = (id: string): JsonSchema => {
    const { $schema: _, $id: __, id: ___, ...rest } = (schemas[id] ?? {}) as Record<string, unknown>;
    return explain(rest) as JsonSchema;
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
 * Gives each member of an object its meaning. It belongs to the member and not to the member's schema, which may stand in many places; so it is
 * put in when the document is whole.
 */
function explain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(explain);
  if (typeof node !== "object" || node === null) return node;
  const { [MEANINGS]: meanings, ...rest } = node as Record<string, unknown>;
  const schema = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, explain(value)]));
  if (meanings === undefined) return schema;
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).map(([name, member]) => {
    const meaning = (meanings as Readonly<Record<string, string>>)[name];
    return [name, meaning === undefined ? member : { ...member, description: meaning }];
  });
  return { ...schema, properties: Object.fromEntries(members) as JsonSchema };
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** Drops what says nothing or says it wrongly: that a list is frozen in our types, that more members are allowed, that keys are text, the bounds of a double. */
function tidy(schema: Record<string, unknown>): void {
  delete schema["readOnly"];
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
