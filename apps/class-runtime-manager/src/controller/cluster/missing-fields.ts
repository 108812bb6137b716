import type { StructuralSchema } from "@oaas/contracts/crd";
import { pathOf } from "@oaas/foundation";

/** The parts of a schema that say which fields an object keeps. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly items?: FieldSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/**
 * Fields of the expected schema that the API server would drop, because the schema it serves does not have them. The
 * fields below a missing one are not listed.
 */
export function missingFields(expected: StructuralSchema, served: FieldSchema, path: string): readonly string[] {
  if (served["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const { additionalProperties } = served;
  const missing: string[] = [];
  for (const [name, child] of Object.entries(expected.properties ?? {})) {
    const at = pathOf(path, name);
    const found = served.properties?.[name];
    if (found !== undefined) missing.push(...missingFields(child, found, at));
    else if (additionalProperties === undefined || additionalProperties === false) missing.push(at);
  }
  if (expected.items && served.items) missing.push(...missingFields(expected.items, served.items, `${path}[*]`));
  if (expected.additionalProperties && typeof additionalProperties === "object") {
    missing.push(...missingFields(expected.additionalProperties, additionalProperties, pathOf(path, "*")));
  }
  return missing;
}
