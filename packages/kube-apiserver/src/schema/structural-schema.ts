import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

/** List types: atomic, set of unique values, or map by key members. */
export type ListType = "atomic" | "set" | "map";

/** Types of a schema. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** Value validations without structure; the only content of `allOf`, `anyOf`, `oneOf` and `not`. */
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
 * The structural schema of a kind: the Kubernetes subset of OpenAPI v3 in document form, so that a definition's schema
 * needs no conversion. Built-in kinds use the same form; recursive types share one object.
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

/** A validation rule in the Common Expression Language. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Fields of every object, never pruned at the root or in an embedded resource. */
export const IMPLIED_FIELDS: readonly string[] = ["apiVersion", "kind", "metadata"];

/** The schema of a declared property. */
export function propertyOf(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** The schema of other names, if any; `true` allows everything and is not a schema. */
export function additionalOf(schema: StructuralSchema): StructuralSchema | undefined {
  return isJsonObject(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** Whether undeclared names are kept: `additionalProperties` is set and not false. */
export function allowsAdditional(schema: StructuralSchema): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== false;
}

/** The schema of a member: of its property, or of additional properties. */
export function memberSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  return propertyOf(schema, name) ?? additionalOf(schema);
}

/** Whether this is a null that the schema does not allow. */
export function isForbiddenNull(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** Maps every member; members mapped to undefined are dropped. Shares equal values. */
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

/** Maps every item; returns the same list when no item changed. */
export function mapItems(items: readonly JsonValue[], change: (value: JsonValue) => JsonValue): readonly JsonValue[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
