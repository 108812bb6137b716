import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { DocumentKind } from "./document.ts";
import { objectOf, solid, type Schema, type Schemas } from "./json-schema.ts";
import { nearestName } from "./nearest-name.ts";

/** What may be sent of each kind, and what is answered: a document that was read from the platform may be sent back. */
const FORMS: Readonly<Record<DocumentKind, readonly [string, string]>> = {
  package: ["OPackageInput", "OPackage"],
  deployment: ["DeploymentRequest", "OClassDeployment"],
};

/**
 * Fields that mean nothing to the platform. It reads over them, as peers of other versions need it to; but in a file that a
 * person wrote such a field is a mistake, and what was meant would silently not happen.
 */
export function unknownFields(
  kind: DocumentKind,
  content: Readonly<Record<string, unknown>>,
  schemas: Schemas,
): readonly Violation[] {
  const forms = FORMS[kind].map((id): Schema => ({ $ref: `/${id}` }));
  return unknownIn(content, forms, schemas, ROOT_PATH);
}

function unknownIn(value: unknown, forms: readonly Schema[], schemas: Schemas, path: string): readonly Violation[] {
  if (Array.isArray(value)) {
    const items = forms.map((form) => solid(form).items).filter((each) => each !== undefined);
    return value.flatMap((item, index) => unknownIn(item, items, schemas, pathOf(path, index)));
  }
  if (typeof value !== "object" || value === null) return [];
  const bodies = forms.map((form) => objectOf({ schema: form, id: "" }, schemas).body?.properties);
  const fields = new Map<string, Schema[]>();
  for (const [name, schema] of bodies.flatMap((body) => Object.entries(body ?? {})))
    fields.set(name, [...(fields.get(name) ?? []), schema]);
  // A map has names of its own; what it may hold the contract itself checks.
  if (fields.size === 0) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = fields.get(name);
    return known
      ? unknownIn(member, known, schemas, pathOf(path, name))
      : [unknown(pathOf(path, name), name, [...fields.keys()])];
  });
}

function unknown(path: string, name: string, known: readonly string[]): Violation {
  const meant = nearestName(name, known);
  const fix = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`;
  return { path, message: "is not known", fix };
}
