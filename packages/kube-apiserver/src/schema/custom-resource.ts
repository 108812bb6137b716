import type { JsonObject } from "@oaas/kube-core";
import { hasRules, validateRules } from "../cel/rules/rule-validation.ts";
import { applyDefaults, dropForbiddenNulls } from "./defaulting.ts";
import { validateEmbeddedResource } from "./validation/embedded-resource.ts";
import { invalidSomewhere, type FieldError } from "./field-error.ts";
import { validateListType } from "./validation/list-type-validation.ts";
import { pruneObject } from "./pruning.ts";
import { validateSchema } from "./validation/schema-validation.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** A custom resource after admission: with defaults, without unknown fields and forbidden nulls. */
export function admitCustomResource(object: object, schema: StructuralSchema): JsonObject {
  return pruneUnknownFields(applyDefaults(object, schema) as JsonObject, schema);
}

/** A custom resource without unknown fields and forbidden nulls. */
export function pruneUnknownFields(object: JsonObject, schema: StructuralSchema): JsonObject {
  return dropForbiddenNulls(pruneObject(object, schema), schema) as JsonObject;
}

/** After these errors rules are not evaluated. */
const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/**
 * All schema violations of an admitted custom resource, with the server's messages; metadata is not checked. `old` is the
 * object it replaces, for transition rules.
 */
export function validateCustomResource(object: object, schema: StructuralSchema, old?: object): readonly FieldError[] {
  const errors = [
    ...validateSchema(object, schema),
    ...validateEmbeddedResource(object, schema),
    ...validateListType(object, schema),
  ];
  if (!hasRules(schema)) return errors;
  if (!errors.some(({ reason }) => BLOCKING.has(reason))) return [...errors, ...validateRules(object, schema, old)];
  return [...errors, invalidSomewhere(NOT_CHECKED, null)];
}

const NOT_CHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
