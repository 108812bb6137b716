import fields from "./fields.json" with { type: "json" };
import { rootSchema, type KindDefinition } from "./manifest.ts";
import type { StructuralSchema } from "./structural-keywords.ts";

/** The fields of an object: `*` for the values of a map, `[*]` for the items of a list. */
export interface FieldTree {
  readonly [name: string]: FieldTree;
}

/**
 * The fields of spec and status of each kind. Generated, because converting the schemas at run time takes 10 MiB of
 * resident memory.
 */
export const CRD_FIELDS: Readonly<Record<string, FieldTree>> = fields;

/** The fields of spec and status of a kind, for the generator. */
export function fieldsOf(definition: KindDefinition): FieldTree {
  const { spec, status } = rootSchema(definition).properties ?? {};
  return { spec: treeOf(spec ?? {}), status: treeOf(status ?? {}) };
}

function treeOf({ properties, additionalProperties, items }: StructuralSchema): FieldTree {
  return {
    ...Object.fromEntries(Object.entries(properties ?? {}).map(([name, schema]) => [name, treeOf(schema)])),
    ...(additionalProperties === undefined ? {} : { "*": treeOf(additionalProperties) }),
    ...(items === undefined ? {} : { "[*]": treeOf(items) }),
  };
}
