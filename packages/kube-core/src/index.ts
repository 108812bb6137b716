/**
 * Kubernetes semantics without I/O: no clock, no randomness.
 *
 * Reading order: gvk, object-meta, owner-ref, names and safe-name, label-selector and field-selector, quantity and
 * int-or-string, json-pointer, json-patch and merge-patch, status and status-fault, crd.
 *
 * Invalid input is returned as a `Result` or as violations; only programming errors throw.
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
  trimObject as trimmed,
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
export {
  isJsonArray,
  isJsonObject,
  memberOf,
  withMember,
  withoutMember,
  type JsonObject,
  type JsonValue,
} from "./json-value.ts";
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
export { canonicalJson, equalJson } from "@oaas/foundation";
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
  type ResponseInfo,
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
