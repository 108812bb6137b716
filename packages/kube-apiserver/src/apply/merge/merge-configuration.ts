import type { JsonObject, JsonValue } from "@oaas/kube-core";
import {
  getItems,
  getMembers,
  getMemberSchema,
  getMergeShape,
  type MaybeSchema,
  type MergeShape,
} from "./merge-shape.ts";
import type { PathElement } from "../fields/path-element.ts";

/** Merges the second value over the first: maps by member, lists by item, everything else replaced. */
export function mergeConfiguration(
  live: JsonValue | undefined,
  config: JsonValue | undefined,
  schema: MaybeSchema,
): JsonValue {
  if (config === undefined) return live ?? null;
  if (live === undefined) return config;
  const shape = getMergeShape(schema, config ?? live);
  if (shape.kind === "map") return mergeMap(live, config, schema);
  return shape.kind === "list" ? mergeList(live, config, shape) : config;
}

function mergeMap(live: JsonValue, config: JsonValue, schema: MaybeSchema): JsonValue {
  const [before, configured] = [getMembers(live), getMembers(config)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(configured)])];
  // Empty on both sides: the given value decides between null and empty.
  if (names.length === 0) return config;
  const member = (object: JsonObject, name: string): JsonValue | undefined =>
    Object.hasOwn(object, name) ? object[name] : undefined;
  return Object.fromEntries(
    names.map((name) => [
      name,
      mergeConfiguration(member(before, name), member(configured, name), getMemberSchema(schema, name)),
    ]),
  );
}

type ListShape = Extract<MergeShape, { readonly kind: "list" }>;

function mergeList(live: JsonValue, config: JsonValue, shape: ListShape): JsonValue {
  const [before, configured] = [getItems(shape, live), getItems(shape, config)];
  if (before.size === 0 && configured.size === 0) return config;
  return mergeOrder([...before.keys()], [...configured.keys()]).map((element) =>
    mergeConfiguration(before.get(element), configured.get(element), shape.items),
  );
}

/**
 * The items of both lists, each once. Items of the second keep their order; items only in the first stay before the
 * next common item, as far as the order of the second allows.
 */
export function mergeOrder(live: readonly PathElement[], config: readonly PathElement[]): readonly PathElement[] {
  const [inLive, inConfig] = [new Set(live), new Set(config)];
  const shared = config.filter((element) => inLive.has(element));
  const order: PathElement[] = [];
  let [atLive, atConfig, atShared] = [0, 0, 0];
  while (atLive < live.length || atConfig < config.length) {
    const [left, right] = [live[atLive], config[atConfig]];
    if (left !== undefined && right !== undefined) {
      if (left === right) {
        order.push(left);
        [atLive, atConfig, atShared] = [atLive + 1, atConfig + 1, atShared + 1];
        continue;
      }
      if (inConfig.has(left) && shared[atShared] !== undefined && shared[atShared] !== left) {
        atLive += 1;
        continue;
      }
    }
    if (left !== undefined && !inConfig.has(left)) {
      order.push(left);
      atLive += 1;
    } else if (right !== undefined) {
      order.push(right);
      atConfig += 1;
      if (shared[atShared] === right) atShared += 1;
    } else atLive += 1;
  }
  return order;
}
