import { MAX_VIOLATIONS, nearestName, omittedViolations, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { z } from "zod";
import { fieldsOf } from "./members.ts";
import { WireScalar } from "./wire-scalar.ts";

type Members = Readonly<Record<string, z.ZodType>>;

/** The names that an object accepts and ignores, by the fields that its schema declares. */
export type ToleratedNames = (members: Members) => ReadonlySet<string> | undefined;

/** The violations found so far; those beyond the limit are counted only. */
interface Found {
  readonly listed: Violation[];
  omitted: number;
}

/**
 * The fields of a document that its schema does not declare, at every depth, each with the nearest declared name. Maps have
 * keys of their own, so only their values are checked. The work is linear in the document; the list is bounded.
 */
export function findUnknownFields(
  schema: z.ZodType,
  document: unknown,
  tolerated: ToleratedNames,
  what = "field",
): readonly Violation[] {
  const found: Found = { listed: [], omitted: 0 };
  visit(schema, document, ROOT_PATH);
  return found.omitted === 0 ? found.listed : [...found.listed, omittedViolations(found.omitted)];

  function visit(expected: z.ZodType, value: unknown, path: string): void {
    if (typeof value !== "object" || value === null || value instanceof WireScalar) return;
    const { members, items, values } = fieldsOf(expected);
    if (Array.isArray(value)) {
      if (items !== undefined && holdsFields(items))
        value.forEach((item, index) => {
          visit(items, item, pathOf(path, index));
        });
    } else if (members !== undefined) visitMembers(members, value, path);
    else if (values !== undefined && holdsFields(values))
      for (const [name, member] of Object.entries(value)) visit(values, member, pathOf(path, name));
  }

  function visitMembers(members: Members, value: object, path: string): void {
    const ignored = tolerated(members);
    for (const [name, member] of Object.entries(value)) {
      const declared = Object.hasOwn(members, name) ? members[name] : undefined;
      if (declared !== undefined) {
        if (holdsFields(declared)) visit(declared, member, pathOf(path, name));
      } else if (ignored?.has(name) !== true) report(members, path, name);
    }
  }

  function report(members: Members, path: string, name: string): void {
    if (found.listed.length < MAX_VIOLATIONS)
      found.listed.push({ path: pathOf(path, name), message: `unknown ${what}`, fix: fixOf(name, members) });
    else found.omitted += 1;
  }
}

/** Whether a value of the schema can contain fields; text, numbers and lists of them cannot. */
function holdsFields(schema: z.ZodType): boolean {
  const { members, items, values } = fieldsOf(schema);
  return (
    members !== undefined ||
    (items !== undefined && holdsFields(items)) ||
    (values !== undefined && holdsFields(values))
  );
}

function fixOf(name: string, members: Members): string {
  const names = Object.keys(members);
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return names.length === 0 ? "remove it" : `use one of ${names.join(", ")}`;
}
