import { err, ok, type Result } from "@oaas/foundation";
import { isJsonArray, isJsonObject, memberOf, type JsonValue } from "./json-value.ts";

/** A parsed JSON pointer (RFC 6901): unescaped member names and item indexes. */
export type PointerTokens = readonly string[];

/** Parses a pointer. The empty pointer is the document itself. */
export function parsePointer(pointer: string): Result<PointerTokens, string> {
  if (pointer === "") return ok([]);
  if (!pointer.startsWith("/")) return err(`"${pointer}" is not a JSON pointer: it must be empty or begin with "/"`);
  if (/~(?![01])/.test(pointer)) return err(`"${pointer}" is not a JSON pointer: "~" must be followed by 0 or 1`);
  return ok(
    pointer
      .slice(1)
      .split("/")
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")),
  );
}

/** The inverse of `parsePointer`. */
export function formatPointer(tokens: PointerTokens): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The array index of a token: no sign, no leading zero, within the array. */
export function arrayIndex(token: string, length: number): number | undefined {
  if (!/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
  const index = Number(token);
  return index < length ? index : undefined;
}

/** The value at a location of a document, or undefined. Only own members count. */
export function valueAt(document: unknown, tokens: PointerTokens): JsonValue | undefined {
  let value = document as JsonValue | undefined;
  for (const token of tokens) {
    if (isJsonArray(value)) {
      const index = arrayIndex(token, value.length);
      value = index === undefined ? undefined : value[index];
    } else {
      value = isJsonObject(value) ? memberOf(value, token) : undefined;
    }
  }
  return value;
}
