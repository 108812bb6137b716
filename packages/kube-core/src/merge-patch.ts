import { equalJson, err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { isJsonObject, memberOf, withMember, withoutMember, type JsonObject, type JsonValue } from "./json-value.ts";

/**
 * Applies a JSON merge patch (RFC 7386) to a copy: members of the patch replace, null removes, objects merge, arrays
 * are replaced. The result shares unchanged parts with the input, which is not mutated.
 */
export function applyMergePatch(document: unknown, patch: unknown): JsonValue {
  if (!isJsonObject(patch)) return patch as JsonValue;
  let result: JsonObject = isJsonObject(document) ? document : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) result = withoutMember(result, name);
    else result = withMember(result, name, applyMergePatch(memberOf(result, name), value));
  }
  return result;
}

/**
 * Returns a merge patch from `from` to `to`. A merge patch cannot set a member to null, because null means removal: if
 * `to` has a null that `from` does not have, the result is a violation with its path.
 */
export function diffMergePatch(from: unknown, to: unknown): Result<JsonValue, Violation> {
  const unsayable = nullIn(from, to, ROOT_PATH);
  if (unsayable !== undefined) {
    return err({
      path: unsayable,
      message: "a merge patch cannot set this to null",
      fix: "omit it, or use a JSON patch",
    });
  }
  return ok(changes(from, to as JsonValue));
}

function changes(from: unknown, to: JsonValue): JsonValue {
  if (!isJsonObject(from) || !isJsonObject(to)) return to;
  const removed = Object.keys(from).filter(
    (name) => memberOf(from, name) !== undefined && memberOf(to, name) === undefined,
  );
  const changed = Object.entries(to).filter(
    ([name, value]) => value !== undefined && !equalJson(memberOf(from, name), value),
  );
  return Object.fromEntries([
    ...removed.map((name): [string, JsonValue] => [name, null]),
    ...changed.map(([name, value]): [string, JsonValue] => [name, changes(memberOf(from, name), value)]),
  ]);
}

/** The first member of `to` that is null and was not null in `from`; nulls inside arrays are ordinary values. */
function nullIn(from: unknown, to: unknown, path: string): string | undefined {
  if (!isJsonObject(to)) return undefined;
  for (const [name, value] of Object.entries(to)) {
    const before = isJsonObject(from) ? memberOf(from, name) : undefined;
    if (value === null && before !== null) return pathOf(path, name);
    const deeper = equalJson(before, value) ? undefined : nullIn(before, value, pathOf(path, name));
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
