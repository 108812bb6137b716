import { err, ok, type Result } from "@oaas/foundation";
import { isJsonArray, isJsonObject, memberOf, type JsonValue } from "./json-value.ts";

/** A JSON pointer (RFC 6901), taken apart: the names of members and the indexes of items, unescaped. */
export type PointerTokens = readonly string[];

/** Takes a pointer apart. The empty pointer is the document itself. */
export function parsePointer(pointer: string): Result<PointerTokens, string> {
  if (pointer === "") return ok([]);
  if (!pointer.startsWith("/")) return err(`"${pointer}" is no JSON pointer: it must be empty or begin with "/"`);
  if (/~(?![01])/.test(pointer)) return err(`"${pointer}" is no JSON pointer: "~" stands before 0 or 1 only`);
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

/** The index a token stands for in an array of this length, if it is one: no sign, no leading zero, within the array. */
export function arrayIndex(token: string, length: number): number | undefined {
  if (!/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
  const index = Number(token);
  return index < length ? index : undefined;
}

/** The value at a place of a document; undefined when there is none. Only own members count. */
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
