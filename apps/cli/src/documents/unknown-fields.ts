import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { heldBy } from "@oaas/contracts/rest";
import type { DocumentKind } from "./document.ts";
import { nearestName } from "./nearest-name.ts";

type Form = Parameters<typeof heldBy>[0];

/** What the contract says of documents: what may be sent of each kind, and what is answered, for what was read from the platform may be sent back. */
export interface DocumentForms {
  readonly heldBy: typeof heldBy;
  readonly of: Readonly<Record<DocumentKind, readonly Form[]>>;
}

/** The contract's own; loaded when documents are looked at. */
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
 * Fields that mean nothing to the platform. It reads over them, as peers of other versions need it to; but in a file that a
 * person wrote such a field is a mistake, and what was meant would silently not happen.
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
  // A map has names of its own; what it may hold the contract itself checks.
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
  const fix = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`;
  return { path, message: "is not known", fix };
}
