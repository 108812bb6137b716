import type { ClusterName, UnitId } from "@oaas/models";
import type { ObjectChangeKind, RenderedObject, RenderedUnit } from "../../ports.ts";

/** What a plan does to the objects in one cluster. */
export type ClusterObjects = { readonly cluster: ClusterName; readonly unitId: UnitId } & (
  | { readonly state: "rendered"; readonly unit: RenderedUnit }
  /** The plan leaves the cluster. */
  | { readonly state: "removed" }
  /** The cluster would refuse the unit, or could not be asked. */
  | { readonly state: "refused" | "unknown"; readonly message: string }
);

/** One change of an object, in all clusters in which it is the same. */
export interface ObjectChange extends RenderedObject {
  readonly clusters: readonly ClusterName[];
}

/** The changes over all clusters. */
export interface ObjectChanges {
  readonly changes: readonly ObjectChange[];
  /** Further changes that are not listed. */
  readonly more: number;
}

/** Stands for the unit id, which differs by cluster. */
const UNIT = "{unit}";

const MAX_CHANGES = 200;

const ORDER: readonly ObjectChangeKind[] = ["blocked", "delete", "update", "create"];

/** Merges the changes of all clusters: a change that is the same in several clusters, but for the unit id, is listed once. */
export function mergeObjectChanges(clusters: readonly ClusterObjects[]): ObjectChanges {
  const merged = new Map<
    string,
    { readonly object: RenderedObject; readonly shared: RenderedObject; clusters: ClusterName[] }
  >();
  for (const entry of clusters) {
    if (entry.state !== "rendered") continue;
    // The class runtime is the first object; its name is that of the unit.
    const ownName = entry.unit.objects[0]?.name ?? entry.unitId;
    for (const object of entry.unit.objects) {
      if (object.change === "unchanged") continue;
      const shared = withoutUnit(object, [ownName, entry.unitId]);
      const key = JSON.stringify(shared);
      const known = merged.get(key);
      if (known === undefined) merged.set(key, { object, shared, clusters: [entry.cluster] });
      else known.clusters.push(entry.cluster);
    }
  }
  const changes = [...merged.values()]
    .map(({ object, shared, clusters: names }) => ({ ...(names.length === 1 ? object : shared), clusters: names }))
    .sort((a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change));
  return { changes: changes.slice(0, MAX_CHANGES), more: Math.max(0, changes.length - MAX_CHANGES) };
}

function withoutUnit(object: RenderedObject, names: readonly string[]): RenderedObject {
  const replace = (text: string): string => names.reduce((left, name) => left.replaceAll(name, UNIT), text);
  const { name, fields, problem } = object;
  return {
    ...object,
    name: replace(name),
    fields: fields.map(({ path, was, now }) => ({ path: replace(path), was: replace(was), now: replace(now) })),
    ...(problem === undefined ? {} : { problem: replace(problem) }),
  };
}
