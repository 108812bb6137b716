import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

/** How the items of a list relate: one value, values that occur once, or objects told apart by some of their members. */
export type ListType = "atomic" | "set" | "map";

/** What a type may be. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** What may be said of a value without giving it a shape; the parts of `allOf`, `anyOf`, `oneOf` and `not` say only this. */
export interface ValueRules {
  readonly format?: string;
  readonly enum?: readonly JsonValue[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
}

/**
 * The shape of a kind: OpenAPI v3 as far as Kubernetes uses it, in the very form of the document, so that a definition's
 * schema is one without conversion. Built-in kinds have the same form; their recursive types are the same object again.
 */
export interface StructuralSchema extends ValueRules {
  readonly type?: SchemaType;
  readonly title?: string;
  readonly description?: string;
  readonly default?: JsonValue;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly items?: StructuralSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: ListType;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "granular" | "atomic";
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A rule in the Common Expression Language that every value of a schema must keep. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** What every object has beside what its schema says; never pruned at the root or in an embedded resource. */
export const IMPLIED_FIELDS: readonly string[] = ["apiVersion", "kind", "metadata"];

/** The schema of a named property, if it is declared. */
export function propertyOf(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** The schema of what stands under any other name, if one is given; `true` allows everything and is no schema. */
export function additionalOf(schema: StructuralSchema): StructuralSchema | undefined {
  return isJsonObject(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** Whether other names than the declared are kept: `additionalProperties` is there and not false. */
export function allowsAdditional(schema: StructuralSchema): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== false;
}

/** The schema of a member: that of its property, or that of all others. */
export function memberSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  return propertyOf(schema, name) ?? additionalOf(schema);
}

/** Whether this is a null that the schema does not allow. */
export function isForbiddenNull(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** A copy with every member passed through; members for which undefined comes back are left out. Shares what is equal. */
export function mapMembers(
  object: JsonObject,
  change: (value: JsonValue, name: string) => JsonValue | undefined,
): JsonObject {
  let isChanged = false;
  const members: [string, JsonValue][] = [];
  for (const [name, before] of Object.entries(object)) {
    const after = change(before, name);
    if (after !== before) isChanged = true;
    if (after !== undefined) members.push([name, after]);
  }
  return isChanged ? Object.fromEntries(members) : object;
}

/** A copy with every item passed through, or the very list when no item changed. */
export function mapItems(items: readonly JsonValue[], change: (value: JsonValue) => JsonValue): readonly JsonValue[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
