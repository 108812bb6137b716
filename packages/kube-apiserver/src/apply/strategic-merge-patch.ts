import { canonicalJson, err, ok, type Result } from "@oaas/foundation";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  type Status,
  withoutMember,
} from "@oaas/kube-core";
import { formatGoValue } from "../go-format.ts";
import { memberSchema, type StructuralSchema } from "../schema/structural-schema.ts";

/**
 * Directives of a patch: what to do with a map or item, which members to keep, what to remove from a list, and its
 * order.
 */
const DIRECTIVE = "$patch";
const RETAIN = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";

/**
 * Applies a strategic merge patch to a copy. Maps are merged by member and null removes; a list is merged by its
 * schema's patch strategy and merge key, and replaced without one. Errors are the server's.
 */
export function applyStrategicMergePatch(
  document: JsonObject,
  patch: JsonObject,
  schema: StructuralSchema,
): Result<JsonObject, Status> {
  // Errors are thrown from a deep recursion; only this function handles them as exceptions.
  try {
    return ok(mergeMap(document, patch, schema));
  } catch (error) {
    if (error instanceof PatchError) return err({ status: "Failure", code: 500, message: error.message });
    throw error;
  }
}

class PatchError extends Error {}

type Schema = StructuralSchema | undefined;

function mergeMap(live: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = memberOf(patch, DIRECTIVE);
  if (directive === "replace") return withoutMember(patch, DIRECTIVE);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") {
    throw new PatchError(`unknown patch type: ${formatGoValue(directive)} in map: ${formatGoValue(patch)}`);
  }
  let result = retainKeys(live, patch);
  for (const name of listNames(patch)) {
    const value = mergeMember(result, patch, name, schema === undefined ? undefined : memberSchema(schema, name));
    if (value === undefined) result = withoutMember(result, name);
    else result = { ...result, [name]: value };
  }
  return result;
}

/** The members a patch mentions, directly or by a directive about their list. */
function listNames(patch: JsonObject): readonly string[] {
  const names = Object.keys(patch)
    .filter((name) => name !== DIRECTIVE && name !== RETAIN)
    .map((name) =>
      [DELETE_FROM, ORDER].reduce((rest, prefix) => (rest.startsWith(prefix) ? rest.slice(prefix.length) : rest), name),
    );
  return [...new Set(names)];
}

function retainKeys(live: JsonObject, patch: JsonObject): JsonObject {
  const names = memberOf(patch, RETAIN);
  if (!isJsonArray(names)) return live;
  return Object.fromEntries(Object.entries(live).filter(([name]) => names.includes(name)));
}

function mergeMember(live: JsonObject, patch: JsonObject, name: string, schema: Schema): JsonValue | undefined {
  const [before, patchValue] = [memberOf(live, name), memberOf(patch, name)];
  if (patchValue === null) return undefined;
  if (isJsonObject(patchValue))
    return isJsonObject(before) ? mergeMap(before, patchValue, schema) : cleanNewValue(patchValue);
  const isMerged = (schema?.["x-kubernetes-patch-strategy"] ?? "").split(",").includes("merge");
  if (!isMerged || (patchValue !== undefined && !isJsonArray(patchValue))) return patchValue ?? before;
  const list: ListPatch = {
    live: isJsonArray(before) ? before : [],
    items: patchValue ?? [],
    order: getList(patch, ORDER + name),
    removed: getList(patch, DELETE_FROM + name) ?? [],
    schema,
  };
  const result = mergeList(list);
  return result.length === 0 && before === undefined && patchValue === undefined ? undefined : result;
}

function getList(patch: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = memberOf(patch, name);
  return isJsonArray(value) ? value : undefined;
}

interface ListPatch {
  readonly live: readonly JsonValue[];
  readonly items: readonly JsonValue[];
  readonly order: readonly JsonValue[] | undefined;
  readonly removed: readonly JsonValue[];
  readonly schema: Schema;
}

function mergeList({ live, items, order, removed, schema }: ListPatch): readonly JsonValue[] {
  const key = schema?.["x-kubernetes-patch-merge-key"];
  const directives = items.filter((item) => isJsonObject(item) && memberOf(item, DIRECTIVE) !== undefined);
  const patchItems = items.filter((item) => !directives.includes(item));
  if (directives.some((item) => isJsonObject(item) && item[DIRECTIVE] === "replace")) return patchItems;

  const idOf = (item: JsonValue): string => getIdentity(item, key);
  const removedIds = new Set([...directives, ...removed].map(idOf));
  const before = live.filter((item) => !removedIds.has(idOf(item)));
  const patches = new Map(patchItems.map((item) => [idOf(item), item]));
  const result = before.map((item) => mergeItem(item, patches.get(idOf(item)), schema?.items));
  const liveIds = new Set(before.map(idOf));
  const added = patchItems.filter(
    (item, at) => !liveIds.has(idOf(item)) && patchItems.findIndex((one) => idOf(one) === idOf(item)) === at,
  );
  const cleaned = added.map(cleanNewItem);
  if (order !== undefined) checkOrder(patchItems, order, idOf);
  return sortItems([...result, ...cleaned], (order ?? patchItems).map(idOf), live.map(idOf), idOf);
}

/**
 * A new member is used as given: directives in it are not executed, and a map with a directive about itself is dropped.
 */
function cleanNewValue(value: JsonValue): JsonValue | undefined {
  if (isJsonArray(value)) return value.flatMap((item) => cleanNewValue(item) ?? []);
  if (!isJsonObject(value)) return value;
  return memberOf(value, DIRECTIVE) === undefined ? omitDirectives(value, cleanNewValue) : undefined;
}

/** The same for a new list item, but only the directives are dropped. */
function cleanNewItem(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(cleanNewItem);
  return isJsonObject(value) ? omitDirectives(value, cleanNewItem) : value;
}

function omitDirectives(object: JsonObject, of: (member: JsonValue) => JsonValue | undefined): JsonObject {
  const members = Object.entries(object).flatMap(([name, member]): [string, JsonValue][] => {
    const cleaned = member === null || isDirective(name) ? undefined : of(member);
    return cleaned === undefined ? [] : [[name, cleaned]];
  });
  return Object.fromEntries(members);
}

function isDirective(name: string): boolean {
  return name === DIRECTIVE || name === RETAIN || name.startsWith(DELETE_FROM) || name.startsWith(ORDER);
}

function mergeItem(item: JsonValue, patch: JsonValue | undefined, schema: Schema): JsonValue {
  return isJsonObject(item) && isJsonObject(patch) ? mergeMap(item, patch, schema) : (patch ?? item);
}

/** The identity of an item: the value of the merge key, or the value itself. */
function getIdentity(item: JsonValue, key: string | undefined): string {
  if (key === undefined || !isJsonObject(item)) return canonicalJson(item);
  const value = memberOf(item, key);
  if (value === undefined)
    throw new PatchError(`map: ${formatGoValue(item)} does not contain declared merge key: ${key}`);
  return canonicalJson(value);
}

function checkOrder(
  patchItems: readonly JsonValue[],
  order: readonly JsonValue[],
  idOf: (item: JsonValue) => string,
): void {
  const positions = patchItems.map((item) => order.findIndex((one) => idOf(one) === idOf(item)));
  if (positions.every((position, at) => position >= 0 && position >= (positions[at - 1] ?? 0))) return;
  throw new PatchError(
    `The order in patch list:\n${formatGoValue(patchItems)}\n doesn't match $setElementOrder list:\n${formatGoValue(order)}\n`,
  );
}

/** Items of the patch in its order; others before the next common item; new ones first. */
function sortItems(
  items: readonly JsonValue[],
  patchOrder: readonly string[],
  liveOrder: readonly string[],
  idOf: (item: JsonValue) => string,
): readonly JsonValue[] {
  const patched = items
    .filter((item) => patchOrder.includes(idOf(item)))
    .sort((a, b) => patchOrder.indexOf(idOf(a)) - patchOrder.indexOf(idOf(b)));
  const others = items.filter((item) => !patchOrder.includes(idOf(item)));
  const result: JsonValue[] = [];
  for (const item of patched) {
    const position = liveOrder.indexOf(idOf(item));
    while (others[0] !== undefined && liveOrder.indexOf(idOf(others[0])) < position) {
      result.push(...others.splice(0, 1));
    }
    result.push(item);
  }
  return [...result, ...others];
}
