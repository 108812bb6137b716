import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { fieldsOf } from "@oaas/contracts/rest";
import type { DocumentKind } from "./document.ts";
import { nearestName } from "./nearest-name.ts";

type FieldSchema = Parameters<typeof fieldsOf>[0];

/**
 * The request and response schemas of each document kind. Response fields are known too, because users send back what
 * they read.
 */
export interface DocumentSchemas {
  readonly fieldsOf: typeof fieldsOf;
  readonly of: Readonly<Record<DocumentKind, readonly FieldSchema[]>>;
}

/** Loads the schemas of the REST contract. */
export async function loadDocumentSchemas(): Promise<DocumentSchemas> {
  const contract = await import("@oaas/contracts/rest");
  return {
    fieldsOf: contract.fieldsOf,
    of: {
      package: [contract.packageInput, contract.packageView],
      deployment: [contract.deploymentRequestInput, contract.classDeploymentView],
    },
  };
}

/**
 * Fields that are not in the contract. The package manager ignores them for compatibility with other versions; in a
 * hand-written file such a field is a typo that would silently have no effect.
 */
export function unknownFields(
  kind: DocumentKind,
  content: Readonly<Record<string, unknown>>,
  schemas: DocumentSchemas,
): readonly Violation[] {
  return unknownIn(content, schemas.of[kind], schemas.fieldsOf, ROOT_PATH);
}

function unknownIn(
  value: unknown,
  schemas: readonly FieldSchema[],
  fieldsOf: DocumentSchemas["fieldsOf"],
  path: string,
): readonly Violation[] {
  if (Array.isArray(value)) {
    const items = schemas.map((schema) => fieldsOf(schema).items).filter((each) => each !== undefined);
    return value.flatMap((item, index) => unknownIn(item, items, fieldsOf, pathOf(path, index)));
  }
  if (typeof value !== "object" || value === null) return [];
  const fields = new Map<string, FieldSchema[]>();
  for (const [name, schema] of schemas.flatMap((each) => Object.entries(fieldsOf(each).members ?? {})))
    fields.set(name, [...(fields.get(name) ?? []), schema]);
  // A map has user-defined keys; the contract checks its values.
  if (fields.size === 0) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = fields.get(name);
    return known
      ? unknownIn(member, known, fieldsOf, pathOf(path, name))
      : [unknownField(pathOf(path, name), name, [...fields.keys()])];
  });
}

function unknownField(path: string, name: string, known: readonly string[]): Violation {
  const nearest = nearestName(name, known);
  const fix = nearest === undefined ? `use one of ${known.join(", ")}` : `did you mean ${nearest}?`;
  return { path, message: "unknown field", fix };
}
