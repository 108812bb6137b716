import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { getGoTypeName } from "../request/body/body.ts";

/** Go types of metadata fields. */
const TEXTS: ReadonlySet<string> = new Set(["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"]);
const NUMBERS: ReadonlySet<string> = new Set(["generation", "deletionGracePeriodSeconds"]);
const TIMES: ReadonlySet<string> = new Set(["creationTimestamp", "deletionTimestamp"]);
const MAPS: ReadonlySet<string> = new Set(["labels", "annotations"]);

/**
 * Why the metadata of an object cannot be decoded, in the server's words; undefined when it can. Built-in kinds are
 * decoded as a whole elsewhere.
 */
export function metadataTypeError(object: JsonObject): string | undefined {
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata))
    return `json: cannot unmarshal ${getGoTypeName(metadata)} into Go value of type v1.ObjectMeta`;
  for (const [name, value] of Object.entries(metadata)) {
    const wrong = value === null ? undefined : fieldError(name, value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function fieldError(name: string, value: JsonValue): string | undefined {
  if (TEXTS.has(name)) return typeof value === "string" ? undefined : mistyped(value, name, "string");
  if (NUMBERS.has(name)) return Number.isInteger(value) ? undefined : mistyped(value, name, "int64");
  if (TIMES.has(name)) return timeError(value, name);
  if (MAPS.has(name)) return mapError(value, name);
  if (name === "finalizers") return listError(value, name, "[]string", "string", (item) => typeof item === "string");
  if (name === "ownerReferences")
    return listError(value, name, "[]v1.OwnerReference", "v1.OwnerReference", isJsonObject);
  if (name === "managedFields")
    return listError(value, name, "[]v1.ManagedFieldsEntry", "v1.ManagedFieldsEntry", isJsonObject);
  return undefined;
}

function timeError(value: JsonValue, name: string): string | undefined {
  if (typeof value !== "string") return mistyped(value, name, "v1.Time");
  if (!Number.isNaN(Date.parse(value))) return undefined;
  const quoted = JSON.stringify(value);
  return `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`;
}

function mapError(value: JsonValue, name: string): string | undefined {
  if (!isJsonObject(value)) return mistyped(value, name, "map[string]string");
  const wrong = Object.values(value).find((item) => typeof item !== "string" && item !== null);
  return wrong === undefined ? undefined : mistyped(wrong, name, "string");
}

function listError(
  value: JsonValue,
  name: string,
  type: string,
  itemType: string,
  isRight: (item: JsonValue) => boolean,
): string | undefined {
  if (!isJsonArray(value)) return mistyped(value, name, type);
  const wrong = value.find((item) => !isRight(item));
  return wrong === undefined ? undefined : mistyped(wrong, name, itemType);
}

function mistyped(value: JsonValue, name: string, type: string): string {
  return `json: cannot unmarshal ${getGoTypeName(value)} into Go struct field ObjectMeta.${name} of type ${type}`;
}
