import type { JsonObject } from "../json-value.ts";
import { withDefaults, withoutForbiddenNulls } from "./defaulting.ts";
import { embeddedResourceErrors } from "./embedded-resource.ts";
import type { FieldError } from "./field-error.ts";
import { listTypeErrors } from "./list-type-validation.ts";
import { pruned } from "./pruning.ts";
import { schemaErrors } from "./schema-validation.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** A custom resource as the server takes it in: with defaults, without unknown fields and forbidden nulls. */
export function admitted(object: object, schema: StructuralSchema): JsonObject {
  const whole = pruned(withDefaults(object, schema), schema);
  return withoutForbiddenNulls(whole, schema) as JsonObject;
}

/** Everything a custom resource that was taken in does wrong by its schema, in the server's words; metadata is not looked at. */
export function customResourceErrors(object: object, schema: StructuralSchema): readonly FieldError[] {
  return [
    ...schemaErrors(object, schema),
    ...embeddedResourceErrors(object, schema),
    ...listTypeErrors(object, schema),
  ];
}
