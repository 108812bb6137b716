import type { Clock, Ids, Timers } from "@oaas/foundation";
import { formatApiVersion, groupResourceText, type JsonObject } from "@oaas/kube-core";
import type { Kind, KindVersion } from "../kinds/kind.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { StoredObject } from "../store/stored-object.ts";

/** What verbs act on. */
export interface World {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
}

/** What a request is about: a kind in one of its versions, and where. */
export interface Target {
  readonly kind: Kind;
  readonly version: KindVersion;
  /** Empty for cluster-scoped kinds, and for all namespaces. */
  readonly namespace: string;
}

/** Where the objects of a kind are kept: with those of another kind when they are the same objects. */
export function storeKindOf(kind: Kind): string {
  return groupResourceText(kind.sameObjectsAs ?? kind);
}

export function apiVersionOf({ kind, version }: Pick<Target, "kind" | "version">): string {
  return formatApiVersion({ group: kind.group, version: version.name });
}

/** The version that objects are kept in. */
export function storageApiVersionOf(kind: Kind): string {
  return formatApiVersion({ group: kind.sameObjectsAs?.group ?? kind.group, version: kind.storageVersion });
}

/** A stored object as it is read today, in the version, or dress, that was asked for. */
export function presented(target: Pick<Target, "kind" | "version">, stored: StoredObject | JsonObject): JsonObject {
  const { kind } = target;
  const object = stored instanceof StoredObject ? stored.readBy(kind.rules) : kind.rules.readBack(stored);
  const apiVersion = apiVersionOf(target);
  return object["apiVersion"] === apiVersion ? object : kind.rules.converted(object, apiVersion);
}

/** The text of a stored object in the version that was asked for; `isItem` for one of a list, where built-in kinds do not say what they are. */
export function presentedText(target: Pick<Target, "kind" | "version">, stored: StoredObject, isItem: boolean): string {
  const apiVersion = apiVersionOf(target);
  const before = isItem && isBuiltIn(target.kind) ? "{" : typePrefix(target.kind.kind, apiVersion);
  const object = presented(target, stored);
  if (object === stored.object) return before + stored.tail;
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return before + JSON.stringify(rest).slice(1);
}

/** Whether the kind is one of the real server's own, and not of a definition. */
export function isBuiltIn({ rules }: Kind): boolean {
  return !rules.isValidatedBySchema;
}

function typePrefix(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}
