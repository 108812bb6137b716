import { equalJson, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { pruneObject } from "../schema/pruning.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { isBuiltIn } from "../verbs/verb-context.ts";
import type { KindInVersion } from "./admit-body.ts";

/** Strict decoding errors of a body, as the real server lists them: duplicate and unknown fields. */
export function validateStrictness(
  { kind, version }: KindInVersion,
  sent: JsonObject,
  duplicates: readonly string[],
): readonly string[] {
  const unknown = findUnknownFields(sent, version.schema);
  const isOwn = isBuiltIn(kind);
  // An unknown field is not reported as duplicate too, except for custom kinds, which are checked twice.
  const unknownPaths = new Set(unknown);
  const reported = isOwn ? duplicates.filter((path) => !unknownPaths.has(path)) : duplicates;
  const lines = [
    ...reported.map((path) => ({ path, text: `duplicate field ${JSON.stringify(path)}` })),
    ...(isOwn ? unknown : sortMetadataFirst(unknown)).map((path) => ({
      path,
      text: `unknown field ${JSON.stringify(path)}`,
    })),
  ];
  return (isOwn ? sortByPosition(lines, sent) : lines).map(({ text }) => text);
}

/** Paths of fields that a schema does not declare. */
export function findUnknownFields(sent: JsonObject, schema: StructuralSchema): readonly string[] {
  const without = pruneObject(sent, schema);
  return without === sent ? [] : listUnknownPaths(sent, without, "");
}

function sortMetadataFirst(paths: readonly string[]): readonly string[] {
  const isMeta = (path: string): boolean => path.startsWith("metadata.");
  return [...paths.filter(isMeta), ...paths.filter((path) => !isMeta(path)).sort()];
}

/** Sorts lines by the position of each path's first step in the body. */
function sortByPosition<T extends { readonly path: string }>(lines: readonly T[], sent: JsonObject): readonly T[] {
  const places = new Map(Object.keys(sent).map((name, index) => [name, index]));
  const placed = lines.map((line) => ({ line, place: places.get(line.path.split(/[.[]/, 1)[0] ?? "") ?? 0 }));
  return placed.sort((a, b) => a.place - b.place).map(({ line }) => line);
}

function listUnknownPaths(before: JsonValue, after: JsonValue, path: string): readonly string[] {
  if (before === after || equalJson(before, after)) return [];
  if (isJsonArray(before) && isJsonArray(after)) {
    return before.flatMap((item, index) => listUnknownPaths(item, after[index] ?? null, `${path}[${index}]`));
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return [];
  return Object.entries(before).flatMap(([name, value]) => {
    const at = path === "" ? name : `${path}.${name}`;
    if (Object.hasOwn(after, name)) return listUnknownPaths(value, after[name] ?? null, at);
    return isEmptyMetadata(at, value) ? [] : [at];
  });
}

/** Empty metadata is dropped too, without a warning. */
function isEmptyMetadata(path: string, value: JsonValue): boolean {
  const isNothing =
    value === null ||
    value === "" ||
    value === 0 ||
    (isJsonArray(value) && value.length === 0) ||
    (isJsonObject(value) && Object.keys(value).length === 0);
  return isNothing && /(?:^|\.)metadata\.[a-zA-Z]+$/.test(path);
}
