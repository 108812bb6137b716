import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { heldBy } from "@oaas/contracts/rest";
import type { DocumentKind } from "./document.ts";
import { nearestName } from "./nearest-name.ts";

type Form = Parameters<typeof heldBy>[0];

/** The request and response schemas of each document kind. Response fields are known too, because users send back what they read. */
export interface DocumentForms {
  readonly heldBy: typeof heldBy;
  readonly of: Readonly<Record<DocumentKind, readonly Form[]>>;
}

/** Loads the schemas of the REST contract. */
export async function documentForms(): Promise<DocumentForms> {
  const contract = await import("@oaas/contracts/rest");
  return {
    heldBy: contract.heldBy,
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
  forms: DocumentForms,
): readonly Violation[] {
  return unknownIn(content, forms.of[kind], forms.heldBy, ROOT_PATH);
}

function unknownIn(
  value: unknown,
  forms: readonly Form[],
  held: DocumentForms["heldBy"],
  path: string,
): readonly Violation[] {
  if (Array.isArray(value)) {
    const items = forms.map((form) => held(form).items).filter((each) => each !== undefined);
    return value.flatMap((item, index) => unknownIn(item, items, held, pathOf(path, index)));
  }
  if (typeof value !== "object" || value === null) return [];
  const fields = new Map<string, Form[]>();
  for (const [name, form] of forms.flatMap((each) => Object.entries(held(each).members ?? {})))
    fields.set(name, [...(fields.get(name) ?? []), form]);
  // A map has user-defined keys; the contract checks its values.
  if (fields.size === 0) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = fields.get(name);
    return known
      ? unknownIn(member, known, held, pathOf(path, name))
      : [unknown(pathOf(path, name), name, [...fields.keys()])];
  });
}

function unknown(path: string, name: string, known: readonly string[]): Violation {
  const meant = nearestName(name, known);
  const fix = meant === undefined ? `use one of ${known.join(", ")}` : `did you mean ${meant}?`;
  return { path, message: "unknown field", fix };
}
