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
import { goText } from "../go-format.ts";
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
    return ok(mergedMap(document, patch, schema));
  } catch (error) {
    if (error instanceof Refusal) return err({ status: "Failure", code: 500, message: error.message });
    throw error;
  }
}

class Refusal extends Error {}

type Schema = StructuralSchema | undefined;

function mergedMap(live: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = memberOf(patch, DIRECTIVE);
  if (directive === "replace") return withoutMember(patch, DIRECTIVE);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") {
    throw new Refusal(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
  }
  let result = retained(live, patch);
  for (const name of namesIn(patch)) {
    const value = mergedMember(result, patch, name, schema === undefined ? undefined : memberSchema(schema, name));
    if (value === undefined) result = withoutMember(result, name);
    else result = { ...result, [name]: value };
  }
  return result;
}

/** The members a patch mentions, directly or by a directive about their list. */
function namesIn(patch: JsonObject): readonly string[] {
  const names = Object.keys(patch)
    .filter((name) => name !== DIRECTIVE && name !== RETAIN)
    .map((name) =>
      [DELETE_FROM, ORDER].reduce((rest, prefix) => (rest.startsWith(prefix) ? rest.slice(prefix.length) : rest), name),
    );
  return [...new Set(names)];
}

function retained(live: JsonObject, patch: JsonObject): JsonObject {
  const names = memberOf(patch, RETAIN);
  if (!isJsonArray(names)) return live;
  return Object.fromEntries(Object.entries(live).filter(([name]) => names.includes(name)));
}

function mergedMember(live: JsonObject, patch: JsonObject, name: string, schema: Schema): JsonValue | undefined {
  const [before, over] = [memberOf(live, name), memberOf(patch, name)];
  if (over === null) return undefined;
  if (isJsonObject(over)) return isJsonObject(before) ? mergedMap(before, over, schema) : asNew(over);
  const isMerged = (schema?.["x-kubernetes-patch-strategy"] ?? "").split(",").includes("merge");
  if (!isMerged || (over !== undefined && !isJsonArray(over))) return over ?? before;
  const list: ListPatch = {
    live: isJsonArray(before) ? before : [],
    items: over ?? [],
    order: listAt(patch, ORDER + name),
    removed: listAt(patch, DELETE_FROM + name) ?? [],
    schema,
  };
  const result = mergedList(list);
  return result.length === 0 && before === undefined && over === undefined ? undefined : result;
}

function listAt(patch: JsonObject, name: string): readonly JsonValue[] | undefined {
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

function mergedList({ live, items, order, removed, schema }: ListPatch): readonly JsonValue[] {
  const key = schema?.["x-kubernetes-patch-merge-key"];
  const directives = items.filter((item) => isJsonObject(item) && memberOf(item, DIRECTIVE) !== undefined);
  const wanted = items.filter((item) => !directives.includes(item));
  if (directives.some((item) => isJsonObject(item) && item[DIRECTIVE] === "replace")) return wanted;

  const idOf = (item: JsonValue): string => identityOf(item, key);
  const gone = new Set([...directives, ...removed].map(idOf));
  const before = live.filter((item) => !gone.has(idOf(item)));
  const patches = new Map(wanted.map((item) => [idOf(item), item]));
  const result = before.map((item) => mergedItem(item, patches.get(idOf(item)), schema?.items));
  const known = new Set(before.map(idOf));
  const added = wanted.filter(
    (item, at) => !known.has(idOf(item)) && wanted.findIndex((one) => idOf(one) === idOf(item)) === at,
  );
  const fresh = added.map(asNewItem);
  if (order !== undefined) checkOrder(wanted, order, idOf);
  return inOrder([...result, ...fresh], (order ?? wanted).map(idOf), live.map(idOf), idOf);
}

/**
 * A new member is used as given: directives in it are not executed, and a map with a directive about itself is dropped.
 */
function asNew(value: JsonValue): JsonValue | undefined {
  if (isJsonArray(value)) return value.flatMap((item) => asNew(item) ?? []);
  if (!isJsonObject(value)) return value;
  return memberOf(value, DIRECTIVE) === undefined ? withoutDirectives(value, asNew) : undefined;
}

/** The same for a new list item, but only the directives are dropped. */
function asNewItem(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(asNewItem);
  return isJsonObject(value) ? withoutDirectives(value, asNewItem) : value;
}

function withoutDirectives(object: JsonObject, of: (member: JsonValue) => JsonValue | undefined): JsonObject {
  const members = Object.entries(object).flatMap(([name, member]): [string, JsonValue][] => {
    const fresh = member === null || isDirective(name) ? undefined : of(member);
    return fresh === undefined ? [] : [[name, fresh]];
  });
  return Object.fromEntries(members);
}

function isDirective(name: string): boolean {
  return name === DIRECTIVE || name === RETAIN || name.startsWith(DELETE_FROM) || name.startsWith(ORDER);
}

function mergedItem(item: JsonValue, patch: JsonValue | undefined, schema: Schema): JsonValue {
  return isJsonObject(item) && isJsonObject(patch) ? mergedMap(item, patch, schema) : (patch ?? item);
}

/** The identity of an item: the value of the merge key, or the value itself. */
function identityOf(item: JsonValue, key: string | undefined): string {
  if (key === undefined || !isJsonObject(item)) return canonicalJson(item);
  const value = memberOf(item, key);
  if (value === undefined) throw new Refusal(`map: ${goText(item)} does not contain declared merge key: ${key}`);
  return canonicalJson(value);
}

function checkOrder(
  wanted: readonly JsonValue[],
  order: readonly JsonValue[],
  idOf: (item: JsonValue) => string,
): void {
  const places = wanted.map((item) => order.findIndex((one) => idOf(one) === idOf(item)));
  if (places.every((place, at) => place >= 0 && place >= (places[at - 1] ?? 0))) return;
  throw new Refusal(
    `The order in patch list:\n${goText(wanted)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
  );
}

/** Items of the patch in its order; others before the next common item; new ones first. */
function inOrder(
  items: readonly JsonValue[],
  patchOrder: readonly string[],
  liveOrder: readonly string[],
  idOf: (item: JsonValue) => string,
): readonly JsonValue[] {
  const named = items
    .filter((item) => patchOrder.includes(idOf(item)))
    .sort((a, b) => patchOrder.indexOf(idOf(a)) - patchOrder.indexOf(idOf(b)));
  const others = items.filter((item) => !patchOrder.includes(idOf(item)));
  const result: JsonValue[] = [];
  for (const item of named) {
    const place = liveOrder.indexOf(idOf(item));
    while (others[0] !== undefined && liveOrder.indexOf(idOf(others[0])) < place) {
      result.push(...others.splice(0, 1));
    }
    result.push(item);
  }
  return [...result, ...others];
}
