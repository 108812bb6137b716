const DATA_FIELDS: ReadonlySet<string> = new Set(["data", "stringData", "binaryData"]);

/** Whether a top-level field holds the content of a Secret or ConfigMap, which may be secret. */
export function isObjectData(kind: string | undefined, field: string): boolean {
  return (kind === "Secret" || kind === "ConfigMap") && DATA_FIELDS.has(field);
}
