import type { JsonObject } from "@oaas/kube-core";
import {
  difference,
  createFieldSet,
  intersection,
  isEmptySet,
  type FieldPath,
  type FieldSet,
} from "../fields/field-set.ts";
import { managerKey, readManagers, setManagers, type FieldManager, type FieldManagers } from "./managed-fields.ts";
import { memberElement } from "../fields/path-element.ts";

/**
 * Owners of the replica count, seen from an object and from its Scale. The rules follow the real server: an updater
 * under the version of the kind is a different one under that of Scale, and so gets an entry of its own without a time.
 */
export interface ScaledKind {
  /** The requested version of the kind. */
  readonly apiVersion: string;
  /**
   * The path of the count in each version of the kind; undefined for a version that cannot be scaled. Owners in other
   * versions are dropped.
   */
  readonly replicas: ReadonlyMap<string, FieldPath | undefined>;
}

const SCALE_VERSION = "autoscaling/v1";
const REPLICAS_OF_SCALE: FieldSet = createFieldSet([["spec", "replicas"].map(memberElement)]);

/** A Scale with the owners of the replica count of its object. */
export function copyManagersToScale(object: JsonObject, scale: JsonObject, { replicas }: ScaledKind): JsonObject {
  const owners = [...readManagersOrEmpty(object)].flatMap(([, manager]): [string, FieldManager][] => {
    const path = replicas.get(manager.apiVersion);
    if (path === undefined || !hasField(manager.fields, path)) return [];
    const owner = { ...manager, apiVersion: SCALE_VERSION, fields: REPLICAS_OF_SCALE };
    return [[managerKey(owner), owner]];
  });
  return setManagers(scale, new Map(owners));
}

/** The object with its owners after a write to its Scale: the count belongs to its owners in the Scale. */
export function copyManagersFromScale(object: JsonObject, scale: JsonObject, kind: ScaledKind): JsonObject {
  const inScale = readManagersOrEmpty(scale);
  const before = readManagersOrEmpty(object);
  const after: FieldManager[] = [];
  const retained = new Set<string>();
  for (const [key, manager] of before) {
    if (!kind.replicas.has(manager.apiVersion)) continue;
    const path = kind.replicas.get(manager.apiVersion);
    if (path === undefined || !hasField(manager.fields, path)) after.push(manager);
    else if (inScale.has(key)) {
      retained.add(key);
      after.push(manager);
    } else after.push({ ...manager, fields: difference(manager.fields, createFieldSet([path])) });
  }
  const path = kind.replicas.get(kind.apiVersion) ?? [];
  for (const [key, manager] of inScale) {
    if (retained.has(key) || isEmptySet(intersection(manager.fields, REPLICAS_OF_SCALE))) continue;
    const { time: _time, ...owner } = manager;
    const time = before.get(key)?.time;
    after.push({
      ...owner,
      apiVersion: kind.apiVersion,
      fields: createFieldSet([path]),
      ...(time === undefined ? {} : { time }),
    });
  }
  // By index and not by name: a name can occur twice.
  return setManagers(object, new Map(after.map((manager, index) => [String(index), manager])));
}

function readManagersOrEmpty(object: JsonObject): FieldManagers {
  return readManagers(object) ?? new Map();
}

function hasField(fields: FieldSet, path: FieldPath): boolean {
  return !isEmptySet(intersection(fields, createFieldSet([path])));
}
