import { isJsonArray, isJsonObject, type FieldError, type JsonValue, type StructuralSchema } from "@oaas/kube-core";

const RULES = "x-kubernetes-validations";

/**
 * What keeps the CEL rules of a schema (`x-kubernetes-validations`) from being used. This server evaluates none: a definition with rules is refused
 * rather than served without them, since objects would be let in that no real cluster takes.
 */
export function validationRuleErrors(schema: StructuralSchema, field: string): readonly FieldError[] {
  return rulesIn(schema as unknown as JsonValue, field);
}

function rulesIn(value: JsonValue, field: string): readonly FieldError[] {
  if (isJsonArray(value)) return value.flatMap((item, index) => rulesIn(item, `${field}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === RULES && isJsonArray(member) && member.length > 0) return [unsupported(`${field}.${RULES}`)];
    if (name === "default" || name === "enum" || name === "example") return [];
    if ((name === "properties" || name === "patternProperties") && isJsonObject(member)) {
      return Object.entries(member).flatMap(([key, property]) => rulesIn(property, `${field}.${name}[${key}]`));
    }
    return rulesIn(member, `${field}.${name}`);
  });
}

function unsupported(field: string): FieldError {
  const why = "the embedded API server evaluates no CEL rules; leave them out, or use a real cluster";
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}
