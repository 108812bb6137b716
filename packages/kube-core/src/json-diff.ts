import { equalJson } from "@oaas/foundation";
import type { JsonPatch, JsonPatchOperation } from "./json-patch.ts";
import { formatPointer, type PointerTokens } from "./json-pointer.ts";
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from "./json-value.ts";

/**
 * Returns a JSON patch from `from` to `to`; empty when they are equal. Short for insertions and removals at one place
 * of an array, correct everywhere. Undefined members are absent.
 */
export function diffJsonPatch(from: unknown, to: unknown): JsonPatch {
  return changes(from as JsonValue, to as JsonValue, []);
}

function changes(from: JsonValue, to: JsonValue, path: PointerTokens): readonly JsonPatchOperation[] {
  if (equalJson(from, to)) return [];
  if (isJsonObject(from) && isJsonObject(to)) return memberChanges(from, to, path);
  if (isJsonArray(from) && isJsonArray(to)) return itemChanges(from, to, path);
  return [{ op: "replace", path: formatPointer(path), value: to }];
}

function memberChanges(from: JsonObject, to: JsonObject, path: PointerTokens): readonly JsonPatchOperation[] {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name): readonly JsonPatchOperation[] => {
    const [before, after] = [memberOf(from, name), memberOf(to, name)];
    const place = [...path, name];
    if (after === undefined) return before === undefined ? [] : [{ op: "remove", path: formatPointer(place) }];
    if (before === undefined) return [{ op: "add", path: formatPointer(place), value: after }];
    return changes(before, after, place);
  });
}

type Items = readonly JsonValue[];

/** Keeps the common prefix and suffix, changes the middle item by item, and adds or removes the rest. */
function itemChanges(from: Items, to: Items, path: PointerTokens): readonly JsonPatchOperation[] {
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && equalJson(from[head], to[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && equalJson(from.at(-1 - tail), to.at(-1 - tail))) tail += 1;

  const middle = shorter - head - tail;
  const place = (index: number): string => formatPointer([...path, String(index)]);
  return [
    ...Array.from({ length: middle }, (_, offset) => head + offset).flatMap((index) =>
      changes(from[index] ?? null, to[index] ?? null, [...path, String(index)]),
    ),
    // Backwards, so that a removal does not shift the next index.
    ...Array.from({ length: from.length - shorter }, (_, offset): JsonPatchOperation => ({
      op: "remove",
      path: place(from.length - tail - 1 - offset),
    })),
    ...to.slice(head + middle, to.length - tail).map((value, offset): JsonPatchOperation => ({
      op: "add",
      path: place(head + middle + offset),
      value,
    })),
  ];
}
