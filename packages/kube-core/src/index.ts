/**
 * Kubernetes without input or output: what its objects, names, selectors, patches and refusals mean. No clock, no
 * randomness, nothing of Node: the same in a browser, in a controller and in a server.
 *
 * Reading order: gvk (what a thing is and where it lives), object-meta (what every object carries), owner-ref (who it
 * belongs to), names and safe-name (what it may be called), label-selector and field-selector (which are meant), quantity and int-or-string (how
 * much), json-pointer, json-patch and merge-patch (what changes), canonical (whether anything does), status and
 * status-fault (what went wrong), crd (kinds of one's own).
 *
 * What can be wrong with an input comes back as a `Result` or as violations; nothing here throws but for a programmer's
 * mistake.
 */
export {
  formatApiVersion,
  groupResourceText,
  gvkKey,
  gvkOf,
  gvrKey,
  parseApiVersion,
  resourcePath,
  sameGvk,
  sameGvr,
  typeMetaOf,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  type ResourceLocation,
} from "./gvk.ts";
export {
  annotationOf,
  conditionOf,
  formatObjectKey,
  hasFinalizer,
  isBeingDeleted,
  isObserved,
  keyOf,
  labelOf,
  LAST_APPLIED_ANNOTATION,
  parseObjectKey,
  refOf,
  trimmed,
  type Condition,
  type ConditionStatus,
  type KubeObject,
  type ListMeta,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type Stored,
  type StoredMeta,
} from "./object-meta.ts";
export {
  controllerOf,
  isControlledBy,
  isOwnedBy,
  ownerReferenceTo,
  withOwner,
  withoutOwner,
  type OwnerOptions,
} from "./owner-ref.ts";
export { checkName, checkQualifiedName, isValidName, NAME_RULES, type NameKind } from "./names.ts";
export { safeName, type SafeNameOptions } from "./safe-name.ts";
export {
  canonicalRequirements,
  checkRequirement,
  matchesLabels,
  selectorRequirements,
  selectsLabels,
  type LabelOperator,
  type LabelRequirement,
  type LabelRequirements,
  type Labels,
  type LabelSelector,
} from "./label-selector.ts";
export { formatLabelSelector, parseLabelSelector } from "./label-selector-text.ts";
export {
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  type FieldRequirement,
  type FieldRequirements,
} from "./field-selector.ts";
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  multiplyQuantity,
  parseQuantity,
  quantityOf,
  quantityUnits,
  subtractQuantities,
  ZERO_QUANTITY,
  type Quantity,
  type QuantityFormat,
} from "./quantity.ts";
export { isIntOrString, scaledCount, type IntOrString } from "./int-or-string.ts";
export { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
export { arrayIndex, formatPointer, parsePointer, valueAt, type PointerTokens } from "./json-pointer.ts";
export {
  applyJsonPatch,
  jsonPatchFault,
  type JsonPatch,
  type JsonPatchFailure,
  type JsonPatchOperation,
} from "./json-patch.ts";
export { diffJsonPatch } from "./json-diff.ts";
export { applyMergePatch, diffMergePatch } from "./merge-patch.ts";
export { canonicalJson, equalJson, hashJson } from "@oaas/foundation";
export {
  isStatusReason,
  parseStatus,
  STATUS_REASONS,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from "./status.ts";
export {
  faultFromStatus,
  fieldConflictsOf,
  isExpired,
  statusReasonOf,
  type StatusCircumstances,
  type StatusFaultContext,
} from "./status-fault.ts";
export { fieldConflictsIn, fieldConflictText, type FieldConflict } from "./apply-conflict.ts";
export { fieldPathToJsonPath } from "./field-path.ts";
export {
  crdKind,
  crdResource,
  isEstablished,
  servedVersions,
  storageVersion,
  type CrdNames,
  type CrdVersion,
  type CustomResourceDefinition,
  type PrinterColumn,
} from "./crd.ts";

export {
  type ListType,
  type SchemaType,
  type StructuralSchema,
  type ValidationRule,
  type ValueRules,
} from "./schema/structural-schema.ts";
export { structuralityErrors } from "./schema/structurality.ts";
export { admitted, customResourceErrors, withoutUnknown } from "./schema/custom-resource.ts";
export { withDefaults } from "./schema/defaulting.ts";
export { pruned } from "./schema/pruning.ts";
export { schemaErrors } from "./schema/schema-validation.ts";
export { fieldErrorText, invalidStatus, type FieldError } from "./schema/field-error.ts";
export {
  difference,
  fieldSetOf,
  intersection,
  isEmptySet,
  NO_FIELDS,
  pathsOf,
  pathText,
  union,
  type FieldPath,
  type FieldSet,
} from "./apply/field-set.ts";
export { decodeFields, encodeFields } from "./apply/fields-v1.ts";
export { memberElement, type PathElement } from "./apply/path-element.ts";
export { managersOf, type FieldManager, type FieldManagers } from "./apply/managed-fields.ts";
export { withOwnersOf, withOwnersOfScale, type ScaledKind } from "./apply/scale-owners.ts";
export { isReadableAs } from "./apply/config-errors.ts";
export { applied, updated, type FieldWriter, type WriteContext } from "./apply/server-side-apply.ts";
export { goText } from "./go-text.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export { openApiSchemas } from "./schema/openapi-schemas.ts";
