import { equalJson, err, Fault, invalidArgument, ok, pathOf, ROOT_PATH, type Result } from "@oaas/foundation";
import { arrayIndex, formatPointer, parsePointer, valueAt, type PointerTokens } from "./json-pointer.ts";
import {
  isJsonArray,
  isJsonObject,
  memberOf,
  withMember,
  withoutMember,
  type JsonObject,
  type JsonValue,
} from "./json-value.ts";

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "replace"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "move"; readonly from: string; readonly path: string }
  | { readonly op: "copy"; readonly from: string; readonly path: string }
  | { readonly op: "test"; readonly path: string; readonly value: JsonValue };

/** Operations in the order they apply. */
export type JsonPatch = readonly JsonPatchOperation[];

/** Why a patch did not apply. A patch applies completely or not at all. */
export interface JsonPatchFailure {
  /** `malformed`: not a valid patch. `missing`: the path does not exist. `test`: a test found another value. */
  readonly reason: "malformed" | "missing" | "test";
  /** Index of the failed operation. */
  readonly index: number;
  /** Its path, as a JSON pointer. */
  readonly path: string;
  readonly message: string;
}

/**
 * Applies a patch to a copy. The result shares unchanged parts with the input, which is not mutated. Invalid operations
 * are rejected.
 */
export function applyJsonPatch(document: unknown, patch: readonly unknown[]): Result<JsonValue, JsonPatchFailure> {
  let current = document as JsonValue;
  for (const [index, operation] of patch.entries()) {
    const next = applyOperation(current, operation);
    if (!next.ok) return err({ index, ...next.error });
    current = next.value;
  }
  return ok(current);
}

/** Converts the failure to a fault: an invalid patch is invalid-argument, a failed test is failed-precondition. */
export function jsonPatchFault(failure: JsonPatchFailure): Fault {
  const message = `operation ${failure.index} of the patch: ${failure.message}`;
  const context = { reason: failure.reason, index: failure.index, path: failure.path };
  if (failure.reason === "test")
    return new Fault({ kind: "failed-precondition", subject: failure.path }, message, { context });
  return invalidArgument("the patch", [{ path: pathOf(ROOT_PATH, failure.index), message: failure.message }], {
    context,
  });
}

type Failure = Omit<JsonPatchFailure, "index">;
type Step = Result<JsonValue, Failure>;

function applyOperation(document: JsonValue, operation: unknown): Step {
  if (!isJsonObject(operation)) return malformed("", "is not an object");
  const op = memberOf(operation, "op");
  if (typeof op !== "string") return malformed("", 'has no "op"');
  const path = tokensOf(operation, "path");
  if (!path.ok) return path;
  switch (op) {
    case "remove":
      return removeValue(document, path.value);
    case "add":
    case "replace":
    case "test": {
      const value = memberOf(operation, "value");
      if (value === undefined) return malformed(formatPointer(path.value), `"${op}" needs a value`);
      if (op === "add") return addValue(document, path.value, value);
      return op === "replace" ? replaceValue(document, path.value, value) : testValue(document, path.value, value);
    }
    case "copy":
    case "move": {
      const from = tokensOf(operation, "from");
      if (!from.ok) return from;
      return op === "copy" ? copyValue(document, from.value, path.value) : moveValue(document, from.value, path.value);
    }
    default:
      return malformed(formatPointer(path.value), `"${op}" is not an operation`);
  }
}

function tokensOf(operation: JsonObject, member: "path" | "from"): Result<PointerTokens, Failure> {
  const pointer = memberOf(operation, member);
  if (typeof pointer !== "string") return malformed("", `has no "${member}"`);
  const tokens = parsePointer(pointer);
  return tokens.ok ? tokens : malformed(pointer, tokens.error);
}

function addValue(document: JsonValue, path: PointerTokens, value: JsonValue): Step {
  return changedAt(
    document,
    path,
    (parent, token) => {
      if (!isJsonArray(parent)) return isJsonObject(parent) ? withMember(parent, token, value) : undefined;
      const index = token === "-" ? parent.length : arrayIndex(token, parent.length + 1);
      return index === undefined ? undefined : parent.toSpliced(index, 0, value);
    },
    value,
  );
}

function replaceValue(document: JsonValue, path: PointerTokens, value: JsonValue): Step {
  return changedAt(
    document,
    path,
    (parent, token) => {
      if (!isJsonArray(parent)) return hasMember(parent, token) ? withMember(parent, token, value) : undefined;
      const index = arrayIndex(token, parent.length);
      return index === undefined ? undefined : parent.with(index, value);
    },
    value,
  );
}

function removeValue(document: JsonValue, path: PointerTokens): Step {
  if (path.length === 0) return malformed("", "the whole document cannot be removed");
  return changedAt(
    document,
    path,
    (parent, token) => {
      if (!isJsonArray(parent)) return hasMember(parent, token) ? withoutMember(parent, token) : undefined;
      const index = arrayIndex(token, parent.length);
      return index === undefined ? undefined : parent.toSpliced(index, 1);
    },
    null,
  );
}

function testValue(document: JsonValue, path: PointerTokens, value: JsonValue): Step {
  const found = valueAt(document, path);
  if (found === undefined) return missing(path);
  if (equalJson(found, value)) return ok(document);
  return err({ reason: "test", path: formatPointer(path), message: `"${formatPointer(path)}" has another value` });
}

function copyValue(document: JsonValue, from: PointerTokens, path: PointerTokens): Step {
  const value = valueAt(document, from);
  return value === undefined ? missing(from) : addValue(document, path, value);
}

function moveValue(document: JsonValue, from: PointerTokens, path: PointerTokens): Step {
  const value = valueAt(document, from);
  if (value === undefined) return missing(from);
  const isWithin = from.length <= path.length && from.every((token, index) => token === path[index]);
  if (isWithin) {
    if (from.length === path.length) return ok(document);
    return malformed(formatPointer(path), `"${formatPointer(from)}" cannot be moved into itself`);
  }
  const without = removeValue(document, from);
  return without.ok ? addValue(without.value, path, value) : without;
}

type Change = (parent: JsonValue, token: string) => JsonValue | undefined;

/**
 * Copies the path down to a location and lets `change` create the new parent; undefined means that the location does
 * not exist.
 */
function changedAt(document: JsonValue, path: PointerTokens, change: Change, root: JsonValue): Step {
  if (path.length === 0) return ok(root);
  const result = changedBelow(document, path, change);
  return result === undefined ? missing(path) : ok(result);
}

function changedBelow(value: JsonValue, path: PointerTokens, change: Change): JsonValue | undefined {
  const [token = "", ...rest] = path;
  if (rest.length === 0) return change(value, token);
  const child = valueAt(value, [token]);
  if (child === undefined) return undefined;
  const changed = changedBelow(child, rest, change);
  if (changed === undefined) return undefined;
  return isJsonArray(value)
    ? value.with(Number(token), changed)
    : isJsonObject(value)
      ? withMember(value, token, changed)
      : undefined;
}

function hasMember(value: JsonValue, name: string): value is JsonObject {
  return isJsonObject(value) && memberOf(value, name) !== undefined;
}

function malformed(path: string, message: string): { readonly ok: false; readonly error: Failure } {
  return err({ reason: "malformed", path, message });
}

function missing(path: PointerTokens): { readonly ok: false; readonly error: Failure } {
  const text = formatPointer(path);
  return err({ reason: "missing", path: text, message: `nothing exists at "${text}"` });
}
