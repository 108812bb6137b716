import {
  type CustomResourceDefinition,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { validateDefinition, validateDefinitionUpdate } from "./definition-errors.ts";
import { objectAt } from "../json-access.ts";
import type { Kind, KindRules } from "../kind.ts";

/** Keeps a definition until all its objects are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
export const DEFINITIONS = { group: "apiextensions.k8s.io", resource: "customresourcedefinitions" };

/** The kinds with the code rules of definitions added. */
export function withDefinitionRules(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.map((kind) =>
    kind.group === DEFINITIONS.group && kind.resource === DEFINITIONS.resource
      ? { ...kind, rules: { ...kind.rules, ...definitionRules(kind.rules) } }
      : kind,
  );
}

function definitionRules(before: KindRules): Partial<KindRules> {
  return {
    countsGenerations: true,
    allowsUnconditionalUpdate: false,
    applyDefaults: (object) => withNames(before.applyDefaults(object)),
    prepareCreate: (object, context) => ({
      ...before.prepareCreate(object, context),
      status: {
        conditions: null,
        acceptedNames: { plural: "", kind: "" },
        storedVersions: storageVersions(object),
      },
    }),
    prepareUpdate: (next, live, context) => withStoredVersions(before.prepareUpdate(next, live, context)),
    errors: (object, live): readonly FieldError[] => [
      ...before.errors(object, live),
      ...validateDefinition(asDefinition(object), live),
    ],
    updateErrors: (next, live): readonly FieldError[] => [
      ...before.updateErrors(next, live),
      ...validateDefinitionUpdate(asDefinition(next), asDefinition(live)),
    ],
    // Held before it is marked, so that marking can add its finalizer.
    isHeld: (object) => metadataOf(object)["deletionTimestamp"] === undefined,
    markForDeletion: withCleanup,
  };
}

/** A validated definition, with its types. */
export function asDefinition(object: JsonObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition;
}

/** Derived names, and the only supported conversion. */
function withNames(object: JsonObject): JsonObject {
  const spec = objectAt(object, "spec");
  const names = objectAt(spec, "names");
  const kind = typeof names["kind"] === "string" ? names["kind"] : "";
  const { conversion } = spec;
  return {
    ...object,
    spec: {
      ...spec,
      names: {
        ...names,
        singular: isSet(names["singular"]) ? (names["singular"] ?? "") : kind.toLowerCase(),
        listKind: isSet(names["listKind"]) ? (names["listKind"] ?? "") : `${kind}List`,
      },
      conversion: isJsonObject(conversion) ? conversion : { strategy: "None" },
    },
  };
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}

function storageVersions(object: JsonObject): readonly string[] {
  const { versions } = objectAt(object, "spec");
  if (!isJsonArray(versions)) return [];
  return versions
    .filter(isJsonObject)
    .filter((version) => version["storage"] === true)
    .flatMap((version) => (typeof version["name"] === "string" ? [version["name"]] : []));
}

/** Objects may exist in every version that was ever a storage version. */
function withStoredVersions(object: JsonObject): JsonObject {
  const status = objectAt(object, "status");
  const before = isJsonArray(status["storedVersions"]) ? status["storedVersions"] : [];
  const added = storageVersions(object).filter((version) => !before.includes(version));
  return added.length === 0 ? object : { ...object, status: { ...status, storedVersions: [...before, ...added] } };
}

function withCleanup(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const finalizers = isJsonArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
  if (finalizers.includes(CLEANUP_FINALIZER)) return object;
  const time = metadata["deletionTimestamp"] ?? "";
  const status = objectAt(object, "status");
  const conditions = isJsonArray(status["conditions"]) ? status["conditions"] : [];
  const terminating = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: time,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return {
    ...object,
    metadata: { ...metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] },
    status: { ...status, conditions: [...conditions, terminating] },
  };
}

function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, "metadata");
}
