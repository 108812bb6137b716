import { z } from "zod";
import type { StructuralSchema } from "./structural-keywords.ts";

/*
 * Null means absent. The Rust manager writes absent options as null, and a YAML key without a value is null. The API
 * server drops null fields on create but not on server-side apply, so the schema must allow them.
 */

/** Allows null for every optional field without a default; for a field with a default, null would override the default. */
export function allowNullMembers(schema: StructuralSchema): StructuralSchema {
  const { properties, additionalProperties, items, required = [] } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapMembers(properties, required) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: allowNullMembers(additionalProperties) }),
    ...(items === undefined ? {} : { items: allowNullMembers(items) }),
  };
}

function mapMembers(properties: Readonly<Record<string, StructuralSchema>>, required: readonly string[]) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const inner = allowNullMembers(member);
      const optional = !required.includes(name) && member.default === undefined;
      return [name, optional ? nullable(inner) : inner];
    }),
  );
}

function nullable(schema: StructuralSchema): StructuralSchema {
  if (schema.enum === undefined) return { ...schema, nullable: true };
  return { ...schema, enum: [...schema.enum, null], nullable: true };
}

/** Removes null fields before validation. */
export function absentNulls<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => withoutNullMembers(value, 0), schema);
}

/** No schema is deeper; the fields below are left to the readers of free-form parts. */
const MAX_DEPTH = 100;

/** Objects without null fields, which are nearly all, are not copied. */
function withoutNullMembers(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutNullMembers(item, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let isChanged = false;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const inner = withoutNullMembers(member, depth + 1);
    isChanged ||= inner !== member || inner === null;
    if (inner !== null) kept.push([name, inner]);
  }
  return isChanged ? Object.fromEntries(kept) : value;
}
