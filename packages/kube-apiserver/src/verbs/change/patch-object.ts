import { err, ok, type Result } from "@oaas/foundation";
import {
  applyJsonPatch,
  applyMergePatch,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Status,
} from "@oaas/kube-core";
import { applyConfiguration } from "../../apply/server-side-apply.ts";
import { applyStrategicMergePatch } from "../../apply/strategic-merge-patch.ts";
import { formatGoValue } from "../../go-format.ts";
import type { StructuralSchema } from "../../schema/structural-schema.ts";
import { completeObject, decodeBody } from "../../admission/admit-body.ts";
import { checkBodyType } from "../../admission/body-type.ts";
import { metadataOf, metadataText, nameOf, withMetadata } from "../../admission/metadata.ts";
import { textAt } from "../../kinds/json-access.ts";
import { getGoTypeName, parseJson, parseYamlBody } from "../../request/body/body.ts";
import { parseMediaRange } from "../../request/body/media-types.ts";
import type { WriteOptions } from "../../request/query/options.ts";
import {
  badRequest,
  conflict,
  invalid,
  unknownBodyType,
  unknownPatchType,
} from "../../request/response/status-errors.ts";
import type { ObjectChange } from "./change-object.ts";
import { createWriter } from "./new-object.ts";
import { apiVersionOf, isBuiltIn, type Target, type VerbContext } from "../verb-context.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** The patch type by content type. */
export function getPatchType(contentType: string | undefined, isBuiltInKind: boolean): Result<PatchType, Status> {
  const { type } = parseMediaRange(contentType ?? "");
  const patch = Object.hasOwn(PATCH_TYPES, type) ? PATCH_TYPES[type] : undefined;
  if (patch === undefined) return err(unknownPatchType());
  if (patch !== "strategic" || isBuiltInKind) return ok(patch);
  const others = Object.keys(PATCH_TYPES).filter((name) => PATCH_TYPES[name] !== "strategic");
  return err(unknownBodyType(others.join(", ")));
}

/** A parsed patch; rejected when it is invalid. */
export function parsePatch(type: PatchType, body: string): Result<JsonValue, Status> {
  if (type === "apply") return parseAppliedConfiguration(body);
  const value = parseJson(body);
  const prefix = type === "strategic" ? "" : "error decoding patch: ";
  if (!value.ok) return err(badRequest(prefix + value.error.message));
  const parsed = value.value;
  if (type === "json") {
    const invalid = isJsonArray(parsed) ? parsed.find((step) => !isJsonObject(step)) : parsed;
    if (invalid === undefined && isJsonArray(parsed)) return ok(parsed);
    const expected = isJsonArray(parsed) ? "handlers.jsonPatchOp" : "[]handlers.jsonPatchOp";
    return err(
      badRequest(`${prefix}json: cannot unmarshal ${getGoTypeName(invalid ?? null)} into Go value of type ${expected}`),
    );
  }
  if (isJsonObject(parsed)) return ok(parsed);
  if (parsed === null && type === "merge") return err(badRequest("Invalid JSON Patch"));
  return err(
    badRequest(
      `${prefix}json: cannot unmarshal ${getGoTypeName(parsed)} into Go value of type map[string]interface {}`,
    ),
  );
}

function parseAppliedConfiguration(body: string): Result<JsonValue, Status> {
  const value = parseYamlBody(body);
  if (!value.ok) return err(badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${value.error}`));
  if (isJsonObject(value.value)) return ok(value.value);
  const reason = `json: cannot unmarshal ${getGoTypeName(value.value)} into Go value of type map[string]interface {}`;
  return err(badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${reason}`));
}

/** The change of a JSON, merge or strategic merge patch. `strictError` may report strict decoding errors. */
export function createPatchChange(
  target: Target,
  objectName: Pick<ObjectChange, "name" | "subresource">,
  type: Exclude<PatchType, "apply">,
  patch: JsonValue,
  findStrictError: (object: JsonObject) => string | undefined,
): ObjectChange {
  return {
    ...objectName,
    next: (live) => {
      const result = applyPatch(type, patch, live, target.version.schema);
      if (!result.ok) return result;
      const typed = checkBodyType(target, result.value);
      if (!typed.ok) return typed;
      const read = decodeBody(target, typed.value);
      if (read.ok) {
        const strict = findStrictError(typed.value);
        if (strict !== undefined) return err(createPatchResultError(getQuotedPatch(type, patch, typed.value), strict));
        return ok(completeObject(target, read.value));
      }
      const reason = (read.error.message ?? "").replace(/^.* cannot be handled as a \w+: /, "");
      return err(
        createPatchResultError(
          getQuotedPatch(type, patch, typed.value),
          type === "strategic" ? toConverterMessage(reason) : reason,
        ),
      );
    },
  };
}

/** An object with a patch applied. */
export function applyPatch(
  type: Exclude<PatchType, "apply">,
  patch: JsonValue,
  live: JsonObject,
  schema: StructuralSchema,
): Result<JsonObject, Status> {
  if (type === "strategic") return applyStrategicMergePatch(live, patch as JsonObject, schema);
  if (type === "merge") return ok(applyMergePatch(live, patch) as JsonObject);
  const result = applyJsonPatchTo(live, patch as readonly JsonObject[]);
  return isJsonObject(result) ? ok(result) : err(createRejection());
}

/** The real server's library adds a missing member on replace; undefined when the patch does not fit. */
function applyJsonPatchTo(live: JsonObject, patch: readonly JsonObject[]): JsonValue | undefined {
  let current: JsonValue = live;
  for (const step of patch) {
    let result = applyJsonPatch(current, [step]);
    if (!result.ok && result.error.reason === "missing" && step["op"] === "replace" && isMember(textAt(step, "path"))) {
      result = applyJsonPatch(current, [{ ...step, op: "add" }]);
    }
    // A copy of a missing value is a copy of null.
    if (
      !result.ok &&
      result.error.reason === "missing" &&
      step["op"] === "copy" &&
      isAbsent(current, textAt(step, "from"))
    ) {
      result = applyJsonPatch(current, [{ op: "add", path: step["path"], value: null }]);
    }
    // A missing value equals null.
    if (!result.ok && result.error.reason === "missing" && step["op"] === "test") {
      if ((step["value"] ?? null) === null && isAbsent(current, textAt(step, "path"))) continue;
    }
    if (!result.ok) return undefined;
    current = result.value;
  }
  return current;
}

/** Whether a path leads to a missing member of an existing object; list items cannot be missing. */
function isAbsent(document: JsonValue, path: string): boolean {
  return isMember(path) && applyJsonPatch(document, [{ op: "add", path, value: null }]).ok;
}

/** Whether a path ends in an object member, not in a list item. */
function isMember(path: string): boolean {
  return !/\/(?:\d+|-)$/.test(path);
}

/** The real server's message for a patch that does not apply, for any reason. */
function createRejection(): Status {
  const message = "the server rejected our request due to an error in our request";
  return { status: "Failure", message, reason: "Invalid", details: {}, code: 422 };
}

/** The text that this error quotes: the patched object, or for a strategic merge patch the patch. */
function getQuotedPatch(type: PatchType, patch: JsonValue, object: JsonObject): JsonObject | string {
  return type === "strategic" ? formatGoValue(patch) : object;
}

const CONVERTED: Readonly<Record<string, string>> = {
  object: "map[string]interface {}",
  array: "[]interface {}",
  number: "int64",
};

/** The types in `cannot unmarshal <parsed> into Go … of type <expected>`; empty for any other message. */
function findMistype(reason: string): { readonly parsed: string; readonly expected: string } {
  const start = reason.indexOf("cannot unmarshal ");
  const end = reason.lastIndexOf("of type ");
  if (start === -1 || end < start) return { parsed: "", expected: "" };
  const [parsed = ""] = reason.slice(start + "cannot unmarshal ".length).split(" ", 1);
  return { parsed, expected: reason.slice(end + "of type ".length) };
}

/** Translates JSON decoding errors to the messages of the decoder for patched maps. */
function toConverterMessage(reason: string): string {
  const { parsed, expected } = findMistype(reason);
  const from = CONVERTED[parsed] ?? parsed;
  if (expected === "") return reason;
  if (expected.startsWith("map[")) return `cannot restore map from ${from}`;
  if (expected.startsWith("[]")) return `cannot restore slice from ${from}`;
  if (expected.includes(".") && !expected.startsWith("v1.Time")) return `cannot restore struct from: ${from}`;
  return expected === "string" && parsed === "number"
    ? `cannot convert ${from} to string`
    : `unrecognized type: ${expected}`;
}

/** The patched object cannot be decoded, or not strictly. */
export function createPatchResultError(object: JsonObject | string, reason: string): Status {
  const quoted = JSON.stringify(typeof object === "string" ? object : JSON.stringify(object));
  const error = { reason: "FieldValueInvalid", field: "patch", message: `Invalid value: ${quoted}: ${reason}` };
  return invalid({ group: "", kind: "" }, "", [error]);
}

/** The change of a server-side apply; rejected at once when it is invalid. */
export function createApplyChange(
  context: VerbContext,
  target: Target,
  objectName: Pick<ObjectChange, "name" | "subresource">,
  config: JsonObject,
  options: WriteOptions,
): Result<ObjectChange, Status> {
  const error = checkConfiguration(target, objectName.name, config);
  if (error !== undefined) return err(error);
  const writer = createWriter(context, target, options.manager, objectName.subresource);
  return ok({
    ...objectName,
    keepsManagers: true,
    createsMissing: objectName.subresource === undefined,
    next: (live) => {
      const result = applyConfiguration({ live, schema: target.version.schema, writer }, config, options.isForced);
      if (!result.ok) return result;
      const uidError = isNew(live) ? checkUidOfMissing(target, objectName.name, config) : undefined;
      if (uidError !== undefined) return err(uidError);
      const read = decodeBody(target, result.value);
      if (!read.ok) return read;
      const completed = completeObject(target, read.value);
      return ok(isBuiltIn(target.kind) ? completed : withMetadata(completed, listEmptyMetadata(result.value)));
    },
  });
}

/**
 * Empty lists and maps in the metadata. An apply to a custom kind stores them, although reads never show them: the next
 * apply without changes is still a write.
 */
function listEmptyMetadata(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const names = ["labels", "annotations", "finalizers", "ownerReferences"];
  const empty = names.filter((name) => Object.keys(metadata[name] ?? { set: true }).length === 0);
  return Object.fromEntries(empty.map((name) => [name, metadata[name] ?? null]));
}

function isNew(live: JsonObject): boolean {
  return Object.keys(live).length === 0;
}

/** An object with a uid must exist. */
function checkUidOfMissing({ kind }: Target, name: string, config: JsonObject): Status | undefined {
  const uid = metadataText(config, "uid");
  if (uid === "" || nameOf(config) === "") return undefined;
  const reason = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  return conflict(kind, name, reason);
}

function checkConfiguration(target: Target, name: string, config: JsonObject): Status | undefined {
  const [apiVersion, kind] = [textAt(config, "apiVersion"), textAt(config, "kind")];
  if (apiVersion !== apiVersionOf(target) || kind !== target.kind.kind) {
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
    return badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
  }
  const metadata = metadataOf(config);
  const nameInBody = nameOf(config);
  if (nameInBody !== "" && nameInBody !== name) {
    return badRequest(`the name of the object (${nameInBody}) does not match the name on the URL (${name})`);
  }
  const managers = metadata["managedFields"];
  return isJsonArray(managers) && managers.length > 0 ? badRequest("metadata.managedFields must be nil") : undefined;
}
