import type { PlanObjectsWire } from "@oaas/contracts/rest";
import type { ObjectChangeKind, RenderedObject } from "../../ports.ts";
import { mergeObjectChanges, type ClusterObjects } from "./plan-objects.ts";

type ClusterWire = PlanObjectsWire["clusters"][number];

/** Objects that are listed for one cluster. */
const MAX_OBJECTS = 64;

/** The objects of a plan in the JSON of the REST API. */
export function planObjectsToWire(clusters: readonly ClusterObjects[]): PlanObjectsWire {
  const { changes, more } = mergeObjectChanges(clusters);
  return {
    clusters: clusters.map(clusterToWire),
    changes: changes.map(({ change, kind, name, clusters: names, fields, moreFields, problem }) => ({
      change,
      kind,
      name,
      clusters: [...names],
      fields: fields.map((field) => ({ ...field })),
      more_fields: moreFields,
      message: problem ?? null,
    })),
    more_changes: more,
  };
}

function clusterToWire(entry: ClusterObjects): ClusterWire {
  const { cluster, unitId, state } = entry;
  const unit = state === "rendered" ? entry.unit : undefined;
  const objects = unit?.objects ?? [];
  const changed = objects.filter(({ change }) => change !== "unchanged");
  return {
    cluster,
    unit_id: unitId,
    state,
    message: state === "refused" || state === "unknown" ? entry.message : null,
    namespace: unit?.namespace ?? null,
    template: unit === undefined || unit.template === "" ? null : unit.template,
    counts: countChanges(objects),
    objects: changed
      .slice(0, MAX_OBJECTS)
      .map(({ kind, name, change, problem }) => ({ kind, name, change, message: problem ?? null })),
    more_objects: (unit?.moreObjects ?? 0) + Math.max(0, changed.length - MAX_OBJECTS),
    warnings: [...(unit?.warnings ?? [])],
  };
}

function countChanges(objects: readonly RenderedObject[]): Record<ObjectChangeKind, number> {
  const counts = { create: 0, update: 0, delete: 0, unchanged: 0, blocked: 0 };
  for (const { change } of objects) counts[change] += 1;
  return counts;
}
