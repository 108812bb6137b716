import type { Clock, Ids, Timers } from "@oaas/foundation";
import { formatApiVersion, groupResourceText, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext, Kind, KindVersion } from "../kinds/kind.ts";
import { wholeSeconds } from "../controllers/objects/time.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { StoredObject } from "../store/stored-object.ts";

/** The context of verbs. */
export interface VerbContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
}

/** The context that the rules of kinds receive at a write. */
export function admissionContextOf(context: VerbContext): AdmissionContext {
  return {
    time: wholeSeconds(context.clock.now()),
    uuid: () => context.ids.uuid(),
    objects: (kind, namespace) =>
      context.store
        .objects(groupResourceText(kind))
        .withPrefix(namespace === undefined ? "" : `${namespace}/`)
        .map(({ object }) => object),
  };
}

/** The target of a request: a kind in one of its versions, and its location. */
export interface Target {
  readonly kind: Kind;
  readonly version: KindVersion;
  /** Empty for cluster-scoped kinds, and for all namespaces. */
  readonly namespace: string;
}

/** The storage location of a kind: shared with another kind when they are the same objects. */
export function storeKindOf(kind: Kind): string {
  return groupResourceText(kind.sameObjectsAs ?? kind);
}

export function apiVersionOf({ kind, version }: Pick<Target, "kind" | "version">): string {
  return formatApiVersion({ group: kind.group, version: version.name });
}

/** The storage version. */
export function storageApiVersionOf(kind: Kind): string {
  return formatApiVersion({ group: kind.sameObjectsAs?.group ?? kind.group, version: kind.storageVersion });
}

/** A stored object in the requested version or form. */
export function convertToVersion(
  target: Pick<Target, "kind" | "version">,
  stored: StoredObject | JsonObject,
): JsonObject {
  const { kind } = target;
  const object = stored instanceof StoredObject ? stored.readBy(kind.rules) : kind.rules.readBack(stored);
  const apiVersion = apiVersionOf(target);
  return object["apiVersion"] === apiVersion ? object : kind.rules.convert(object, apiVersion);
}

/**
 * The text of a stored object in the requested version; `isItem` for list items, where built-in kinds omit their type.
 */
export function objectText(target: Pick<Target, "kind" | "version">, stored: StoredObject, isItem: boolean): string {
  const apiVersion = apiVersionOf(target);
  const before = isItem && isBuiltIn(target.kind) ? "{" : typePrefix(target.kind.kind, apiVersion);
  const object = convertToVersion(target, stored);
  if (object === stored.object) return before + stored.tail;
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return before + JSON.stringify(rest).slice(1);
}

/** Whether the kind is built in, not custom. */
export function isBuiltIn({ rules }: Kind): boolean {
  return !rules.isValidatedBySchema;
}

function typePrefix(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}
