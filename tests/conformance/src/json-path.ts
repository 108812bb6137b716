import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

/**
 * The value at a path such as `metadata.labels`, `items[0].name` or `items[*].name` (a list); keys with dots in
 * brackets: `labels[a.b/c]`; list elements whose name starts with a prefix: `resources[?pods]`.
 */
export function at(value: JsonValue | undefined, path: string): JsonValue | undefined {
  return walk(value, tokensOf(path));
}

function tokensOf(path: string): readonly string[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, bracket, plain]) => bracket ?? plain ?? "");
}

function walk(value: JsonValue | undefined, [token, ...rest]: readonly string[]): JsonValue | undefined {
  if (token === undefined || value === undefined) return value;
  if (token === "*") return isJsonArray(value) ? value.map((item) => walk(item, rest) ?? null) : undefined;
  if (isJsonArray(value) && token.startsWith("?"))
    return walk(
      value.filter((item) => isNamed(item, token.slice(1))),
      rest,
    );
  if (isJsonArray(value)) return walk(value[Number(token)], rest);
  return isJsonObject(value) && Object.hasOwn(value, token) ? walk(value[token], rest) : undefined;
}

function isNamed(item: JsonValue, name: string): boolean {
  if (!isJsonObject(item) || typeof item["name"] !== "string") return false;
  return item["name"] === name || item["name"].startsWith(`${name}/`);
}

/**
 * The differences that keep `value` from containing `wanted`; empty when it does. Objects may have more members; lists
 * may have more elements only if `isLoose`.
 */
export function lacks(value: JsonValue | undefined, wanted: JsonValue, isLoose = false, path = ""): string {
  if (isJsonObject(wanted)) {
    if (!isJsonObject(value)) return `${path || "."} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`;
    return Object.entries(wanted)
      .map(([key, member]) => lacks(value[key], member, isLoose, `${path}.${key}`))
      .filter((text) => text !== "")
      .join("; ");
  }
  if (isJsonArray(wanted)) {
    if (!isJsonArray(value)) return `${path || "."} is ${JSON.stringify(value)}, not a list`;
    if (isLoose) {
      const missing = wanted.filter((item) => !value.some((present) => lacks(present, item, true) === ""));
      return missing.length === 0 ? "" : `${path} has no ${JSON.stringify(missing)}`;
    }
    if (value.length !== wanted.length) return `${path} has ${value.length} elements, not ${wanted.length}`;
    return wanted
      .map((item, index) => lacks(value[index], item, isLoose, `${path}[${index}]`))
      .filter((text) => text !== "")
      .join("; ");
  }
  if (value === wanted) return "";
  // A wanted string between slashes is a pattern.
  if (typeof wanted === "string" && wanted.startsWith("/") && wanted.endsWith("/") && typeof value === "string") {
    if (new RegExp(wanted.slice(1, -1), "s").test(value)) return "";
  }
  return `${path || "."} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`;
}
