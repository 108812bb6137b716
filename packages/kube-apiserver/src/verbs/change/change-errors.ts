import type { JsonObject, Status } from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { finalizersOf, isBeingDeleted, metadataOf, metadataText, nameOf } from "../../admission/metadata.ts";
import { isGoInteger, formatNotInteger } from "../../request/query/options.ts";
import { badRequest, conflict, internalError, invalid, MODIFIED } from "../../request/response/status-errors.ts";
import type { Target } from "../verb-context.ts";

/** Why an object cannot be in the namespace of the path. */
export function namespaceMismatch(
  { kind, namespace }: Pick<Target, "kind" | "namespace">,
  next: JsonObject,
): Status | undefined {
  const said = metadataText(next, "namespace");
  if (!kind.isNamespaced || said === "" || said === namespace) return undefined;
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** Why an object does not match the name in the path. */
export function nameMismatch(next: JsonObject, name: string): Status | undefined {
  const said = nameOf(next);
  if (said === name) return undefined;
  if (said === "")
    return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  return badRequest(`the name of the object (${said}) does not match the name on the URL (${name})`);
}

/** Why an object cannot replace the existing one: another version or another uid. */
export function versionConflict(
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
  return needsVersion ? uidConflict(kind, next, live) : undefined;
}

function uidConflict(kind: Target["kind"], next: JsonObject, live: JsonObject): Status | undefined {
  const [uid, found] = [metadataText(next, "uid"), metadataText(live, "uid")];
  if (uid === "" || uid === found) return undefined;
  const [name, namespace] = [nameOf(live), metadataText(live, "namespace")];
  const path = namespace === "" ? name : `${namespace}/${name}`;
  const key = `/registry/${kind.group === "" ? "" : `${kind.group}/`}${kind.resource}/${path}`;
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  return conflict(kind, name, why);
}

/** Metadata that only the server changes. */
export function validateMetadataChange(wanted: JsonObject, live: JsonObject): readonly FieldError[] {
  const [said, before] = [metadataOf(wanted), metadataOf(live)];
  const uidErrors =
    typeof said["uid"] === "string" && said["uid"] !== before["uid"] ? [immutableError("uid", said)] : [];
  // The deletion timestamp of a deleted object and the creation timestamp are always kept.
  const checked = isBeingDeleted(live)
    ? ["deletionGracePeriodSeconds"]
    : ["deletionTimestamp", "deletionGracePeriodSeconds"];
  const immutable = checked
    .filter((name) => said[name] !== undefined && said[name] !== null && said[name] !== before[name])
    .map((name) => immutableError(name, said))
    .concat(uidErrors);
  const added = finalizersOf(wanted)
    .filter((finalizer) => !finalizersOf(live).includes(finalizer))
    .sort();
  if (!isBeingDeleted(live) || added.length === 0) return immutable;
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [...immutable, { reason: "FieldValueForbidden", field: "metadata.finalizers", message: `Forbidden: ${why}` }];
}

function immutableError(name: string, said: JsonObject): FieldError {
  const message = `Invalid value: ${JSON.stringify(said[name])}: field is immutable`;
  return { reason: "FieldValueInvalid", field: `metadata.${name}`, message };
}
