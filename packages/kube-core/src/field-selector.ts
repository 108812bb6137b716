import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { isJsonObject, memberOf, type JsonValue } from "./json-value.ts";

/** One condition on one field of an object. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Conditions that must all hold; an empty list matches everything. */
export type FieldRequirements = readonly FieldRequirement[];

/**
 * Parses a field selector: `metadata.name=x,status.phase!=Running`. `==` is `=`; in values `\`, `,` and `=` are escaped
 * with `\`. The result is in canonical order. Only the server knows which fields a kind can be selected by.
 */
export function parseFieldSelector(text: string): Result<FieldRequirements, Violation> {
  const requirements: FieldRequirement[] = [];
  for (const term of terms(text)) {
    const [, field = "", operator, value = ""] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (operator === undefined || field === "") return refused(text, `"${term}" is not a condition`);
    // Every escape is one of the three, and no character that needs an escape is unescaped.
    if (!/^(?:\\[\\,=]|[^\\,=])*$/.test(value)) return refused(text, `the value "${value}" needs \\ before \\ , and =`);
    const plain = value.replaceAll(/\\(.)/g, "$1");
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value: plain });
  }
  return ok(canonicalFields(requirements));
}

/** The canonical text of requirements: equal for equivalent selectors. Parsing it returns the requirements. */
export function formatFieldSelector(requirements: FieldRequirements): string {
  return canonicalFields(requirements).map(termText).join(",");
}

/** Whether an object meets all requirements. A missing field has the empty value, as on the server. */
export function matchesFields(requirements: FieldRequirements, object: unknown): boolean {
  return requirements.every(
    ({ field, operator, value }) => (fieldValue(object, field) === value) === (operator === "="),
  );
}

/** The value of a field by its dotted path as selectors see it: scalars as text, anything else as empty. */
function fieldValue(object: unknown, field: string): string {
  let value = object as JsonValue | undefined;
  for (const name of field.split(".")) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Splits at unescaped commas; empty terms are ignored. */
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
    message: `"${text}" is not a field selector: ${why}`,
    fix: "write field=value or field!=value",
  });
}
