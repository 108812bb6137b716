import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

/** The metadata of an object, empty when it has none. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  return isJsonObject(metadata) ? metadata : {};
}

/** A copy with changed metadata; undefined removes a field. */
export function withMetadata(object: JsonObject, changes: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries({ ...metadataOf(object), ...changes });
  const defined = entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return { ...object, metadata: Object.fromEntries(defined) };
}

export function nameOf(object: JsonObject): string {
  return metadataText(object, "name");
}

/** A string in the metadata; empty when missing. */
export function metadataText(object: JsonObject, field: string): string {
  const value = metadataOf(object)[field];
  return typeof value === "string" ? value : "";
}

export function finalizersOf(object: JsonObject): readonly string[] {
  const { finalizers } = metadataOf(object);
  return isJsonArray(finalizers) ? (finalizers as readonly string[]) : [];
}

export function isBeingDeleted(object: JsonObject): boolean {
  return typeof metadataOf(object)["deletionTimestamp"] === "string";
}
