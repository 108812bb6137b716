import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { getGoTypeName } from "../request/body/body.ts";

/** Go types of metadata fields. */
const TEXTS: ReadonlySet<string> = new Set(["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"]);
const NUMBERS: ReadonlySet<string> = new Set(["generation", "deletionGracePeriodSeconds"]);
const TIMES: ReadonlySet<string> = new Set(["creationTimestamp", "deletionTimestamp"]);
const MAPS: ReadonlySet<string> = new Set(["labels", "annotations"]);

/**
 * Why the metadata of an object cannot be decoded, with the server's messages; undefined when it can. Built-in kinds are
 * decoded as a whole elsewhere.
 */
export function findMetadataTypeError(object: JsonObject): string | undefined {
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata))
    return `json: cannot unmarshal ${getGoTypeName(metadata)} into Go value of type v1.ObjectMeta`;
  for (const [name, value] of Object.entries(metadata)) {
    const invalid = value === null ? undefined : findFieldError(name, value);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

function findFieldError(name: string, value: JsonValue): string | undefined {
  if (TEXTS.has(name)) return typeof value === "string" ? undefined : formatMistyped(value, name, "string");
  if (NUMBERS.has(name)) return Number.isInteger(value) ? undefined : formatMistyped(value, name, "int64");
  if (TIMES.has(name)) return findTimeError(value, name);
  if (MAPS.has(name)) return findMapError(value, name);
  if (name === "finalizers")
    return findListError(value, name, "[]string", "string", (item) => typeof item === "string");
  if (name === "ownerReferences")
    return findListError(value, name, "[]v1.OwnerReference", "v1.OwnerReference", isJsonObject);
  if (name === "managedFields")
    return findListError(value, name, "[]v1.ManagedFieldsEntry", "v1.ManagedFieldsEntry", isJsonObject);
  return undefined;
}

function findTimeError(value: JsonValue, name: string): string | undefined {
  if (typeof value !== "string") return formatMistyped(value, name, "v1.Time");
  if (!Number.isNaN(Date.parse(value))) return undefined;
  const quoted = JSON.stringify(value);
  return `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`;
}

function findMapError(value: JsonValue, name: string): string | undefined {
  if (!isJsonObject(value)) return formatMistyped(value, name, "map[string]string");
  const invalid = Object.values(value).find((item) => typeof item !== "string" && item !== null);
  return invalid === undefined ? undefined : formatMistyped(invalid, name, "string");
}

function findListError(
  value: JsonValue,
  name: string,
  type: string,
  itemType: string,
  isValid: (item: JsonValue) => boolean,
): string | undefined {
  if (!isJsonArray(value)) return formatMistyped(value, name, type);
  const invalid = value.find((item) => !isValid(item));
  return invalid === undefined ? undefined : formatMistyped(invalid, name, itemType);
}

function formatMistyped(value: JsonValue, name: string, type: string): string {
  return `json: cannot unmarshal ${getGoTypeName(value)} into Go struct field ObjectMeta.${name} of type ${type}`;
}
