import type { FieldTree } from "@oaas/contracts/crd";
import { pathOf } from "@oaas/foundation";

/** The parts of a schema that say which fields an object keeps. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly items?: FieldSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/**
 * The expected fields that the API server would drop, because the schema it serves does not have them. The fields below
 * a missing one are not listed.
 */
export function missingFields(expected: FieldTree, served: FieldSchema, path: string): readonly string[] {
  if (served["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const { properties, additionalProperties, items } = served;
  return Object.entries(expected).flatMap(([name, fields]) => {
    if (name === "[*]") return items ? missingFields(fields, items, `${path}[*]`) : [];
    const at = pathOf(path, name);
    const schema = properties?.[name] ?? additionalProperties;
    if (typeof schema === "object") return missingFields(fields, schema, at);
    return schema === true || name === "*" ? [] : [at];
  });
}
