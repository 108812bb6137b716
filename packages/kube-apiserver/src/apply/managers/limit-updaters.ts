import { union } from "../fields/field-set.ts";
import { managerKey, type FieldManager, type FieldManagers } from "./managed-fields.ts";

/** Maximum number of distinct updaters; a controller with a new name per run would otherwise fill the object. */
const MAX_UPDATERS = 10;

/** The manager that owns the fields of merged updaters. */
const ANCIENT = "ancient-changes";

/**
 * Limits updaters to ten: the oldest are merged into one per version of the kind, with the latest of their times.
 * Appliers are never merged, because that would take away their right to remove fields.
 */
export function limitUpdaters(managers: FieldManagers): FieldManagers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  let surplus = updaters.length - MAX_UPDATERS;
  if (surplus <= 0) return managers;
  const result = new Map(managers);
  const firsts = new Map<string, string>();
  for (const [key, manager] of updaters.sort(compareAge)) {
    if (surplus <= 0) break;
    const first = firsts.get(manager.apiVersion);
    if (first === undefined) firsts.set(manager.apiVersion, key);
    else {
      const bucket: FieldManager = { ...manager, manager: ANCIENT, subresource: "" };
      const bucketKey = managerKey(bucket);
      const before = result.get(bucketKey) ?? result.get(first);
      if (!result.has(bucketKey)) result.delete(first);
      result.delete(key);
      result.set(bucketKey, { ...bucket, fields: union(manager.fields, before?.fields ?? manager.fields) });
      surplus -= 1;
    }
  }
  return result;
}

function compareAge([keyA, a]: [string, FieldManager], [keyB, b]: [string, FieldManager]): number {
  const [left, right] = [`${a.time ?? ""} ${keyA}`, `${b.time ?? ""} ${keyB}`];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
