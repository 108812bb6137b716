import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { isJsonObject, memberOf, type JsonValue } from "./json-value.ts";

/** One condition on one field of an object. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Conditions that must all hold; none at all means everything. */
export type FieldRequirements = readonly FieldRequirement[];

/**
 * Reads a field selector: `metadata.name=x,status.phase!=Running`. `==` is `=`; in values `\`, `,` and `=` stand behind
 * a `\`. The result is in canonical order. Which fields a kind can be selected by only its server knows.
 */
export function parseFieldSelector(text: string): Result<FieldRequirements, Violation> {
  const requirements: FieldRequirement[] = [];
  for (const term of terms(text)) {
    const [, field = "", operator, value = ""] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (operator === undefined || field === "") return refused(text, `"${term}" is no condition`);
    // Every escape is one of the three, and nothing that needs one stands alone.
    if (!/^(?:\\[\\,=]|[^\\,=])*$/.test(value)) return refused(text, `the value "${value}" needs \\ before \\ , and =`);
    const plain = value.replaceAll(/\\(.)/g, "$1");
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value: plain });
  }
  return ok(canonicalFields(requirements));
}

/** The canonical text of requirements: the same for selectors that say the same. Reading it gives them back. */
export function formatFieldSelector(requirements: FieldRequirements): string {
  return canonicalFields(requirements).map(termText).join(",");
}

/** Whether an object meets all requirements. A field that is missing has the empty value, as on the server. */
export function matchesFields(requirements: FieldRequirements, object: unknown): boolean {
  return requirements.every(
    ({ field, operator, value }) => (fieldValue(object, field) === value) === (operator === "="),
  );
}

/** The value of a field by its dotted path as selectors see it: scalars as text, anything else as nothing. */
function fieldValue(object: unknown, field: string): string {
  let value = object as JsonValue | undefined;
  for (const name of field.split(".")) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Splits at commas that no `\` stands before; empty terms say nothing. */
function terms(text: string): readonly string[] {
  return (text.match(/(?:\\.?|[^\\,])+/gs) ?? []).filter((term) => term !== "");
}

function termText({ field, operator, value }: FieldRequirement): string {
  return `${field}${operator}${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
}

function canonicalFields(requirements: FieldRequirements): FieldRequirements {
  return [...requirements].sort((a, b) => (termText(a) < termText(b) ? -1 : 1));
}

function refused(text: string, why: string): { readonly ok: false; readonly error: Violation } {
  return err({
    path: ROOT_PATH,
    message: `"${text}" is no field selector: ${why}`,
    fix: "write field=value or field!=value",
  });
}
