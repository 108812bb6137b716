import type { JsonObject, Status } from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { finalizersOf, isBeingDeleted, metadataOf, metadataText, nameOf } from "../../admission/metadata.ts";
import { isGoInteger, formatNotInteger } from "../../request/query/options.ts";
import { badRequest, conflict, internalError, invalid, MODIFIED } from "../../request/response/status-errors.ts";
import type { Target } from "../verb-context.ts";

/** Why an object cannot be in the namespace of the path. */
export function checkNamespace(
  { kind, namespace }: Pick<Target, "kind" | "namespace">,
  next: JsonObject,
): Status | undefined {
  const namespaceInBody = metadataText(next, "namespace");
  if (!kind.isNamespaced || namespaceInBody === "" || namespaceInBody === namespace) return undefined;
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** Why an object does not match the name in the path. */
export function checkName(next: JsonObject, name: string): Status | undefined {
  const nameInBody = nameOf(next);
  if (nameInBody === name) return undefined;
  if (nameInBody === "")
    return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  return badRequest(`the name of the object (${nameInBody}) does not match the name on the URL (${name})`);
}

/** Why an object cannot replace the existing one: another version or another uid. */
export function checkVersion(
  { kind }: Target,
  { name, needsVersion = false }: { readonly name: string; readonly needsVersion?: boolean },
  next: JsonObject,
  live: JsonObject,
): Status | undefined {
  const version = metadataText(next, "resourceVersion");
  if (version === "" || version === "0") {
    if (needsVersion && !kind.rules.allowsUnconditionalUpdate) {
      const message = "Invalid value: 0: must be specified for an update";
      const error = { reason: "FieldValueInvalid", field: "metadata.resourceVersion", message };
      return invalid({ group: kind.group, kind: kind.resource }, name, [error]);
    }
  } else {
    if (!isGoInteger(version)) return internalError(formatNotInteger("ParseUint", version));
    if (version !== metadataText(live, "resourceVersion")) return conflict(kind, name, MODIFIED);
  }
  return needsVersion ? checkUid(kind, next, live) : undefined;
}

function checkUid(kind: Target["kind"], next: JsonObject, live: JsonObject): Status | undefined {
  const [uid, found] = [metadataText(next, "uid"), metadataText(live, "uid")];
  if (uid === "" || uid === found) return undefined;
  const [name, namespace] = [nameOf(live), metadataText(live, "namespace")];
  const path = namespace === "" ? name : `${namespace}/${name}`;
  const key = `/registry/${kind.group === "" ? "" : `${kind.group}/`}${kind.resource}/${path}`;
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const reason = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  return conflict(kind, name, reason);
}

/** Metadata that only the server changes. */
export function validateMetadataChange(next: JsonObject, live: JsonObject): readonly FieldError[] {
  const [requested, before] = [metadataOf(next), metadataOf(live)];
  const uidErrors =
    typeof requested["uid"] === "string" && requested["uid"] !== before["uid"]
      ? [createImmutableError("uid", requested)]
      : [];
  // The deletion timestamp of a deleted object and the creation timestamp are always kept.
  const checked = isBeingDeleted(live)
    ? ["deletionGracePeriodSeconds"]
    : ["deletionTimestamp", "deletionGracePeriodSeconds"];
  const immutable = checked
    .filter((name) => requested[name] !== undefined && requested[name] !== null && requested[name] !== before[name])
    .map((name) => createImmutableError(name, requested))
    .concat(uidErrors);
  const added = finalizersOf(next)
    .filter((finalizer) => !finalizersOf(live).includes(finalizer))
    .sort();
  if (!isBeingDeleted(live) || added.length === 0) return immutable;
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const reason = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [
    ...immutable,
    { reason: "FieldValueForbidden", field: "metadata.finalizers", message: `Forbidden: ${reason}` },
  ];
}

function createImmutableError(name: string, requested: JsonObject): FieldError {
  const message = `Invalid value: ${JSON.stringify(requested[name])}: field is immutable`;
  return { reason: "FieldValueInvalid", field: `metadata.${name}`, message };
}
