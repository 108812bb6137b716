import type { Violation } from "@oaas/foundation";
import type { RefusedLayout } from "../../rendering/model/rendered.ts";
import type { RenderInput, StoredLayout } from "../../rendering/model/render-input.ts";
import { collectionsOf, statedReplicas, type Basis, type Collection } from "./collections.ts";
import { isGrowth, layoutChanges, type StoreLayout } from "./layout-change.ts";
import { nodeIds } from "./nodes.ts";
import { assignShards } from "./shard-map.ts";

/** The layout to render. */
export interface LayoutPlan {
  readonly layout: StoreLayout;
  /** The collections that the class describes, for settings that are not part of the layout. */
  readonly described: readonly Collection[];
  readonly refused?: RefusedLayout;
  readonly warnings: readonly Violation[];
}

interface LayoutTask {
  readonly input: RenderInput;
  /** Nodes of the template, for a class that states no copies. */
  readonly defaultNodes: number;
  /** Whether the class wants a state store at all. */
  readonly isSelected: boolean;
}

type Derived = Pick<LayoutPlan, "layout" | "described" | "warnings">;

/**
 * Plans the layout of a state store. A running one keeps its layout unless the class allows to lose the objects, or only
 * copies of `mst` collections are added.
 */
export function planLayout(task: LayoutTask): LayoutPlan {
  const { input, isSelected } = task;
  const { storedLayout: stored, spec } = input;
  const fresh = derive(task, "fresh");
  if (stored === undefined) return fresh;
  const complete = completed(stored, fresh.layout);
  if (spec.odgm_config?.allow_layout_change === true)
    return layoutChanges(stored, fresh.layout).length === 0 ? { ...fresh, layout: complete } : fresh;
  if (!isSelected) {
    const message = refusal(["the state store is removed"]);
    return { ...fresh, warnings: [], layout: complete, refused: { message, stated: message } };
  }
  const desired = derive(task, "stated");
  const changes = layoutChanges(stored, desired.layout);
  if (changes.length === 0) return { ...desired, layout: complete };
  if (isGrowth(stored, desired.layout)) return desired;
  const ofClass = derive(task, "class").layout;
  const stated = isGrowth(stored, ofClass) ? [] : layoutChanges(stored, ofClass);
  const refused = {
    message: refusal(changes),
    ...(stated.length === 0 ? {} : { stated: refusal(stated) }),
  };
  return { ...desired, layout: complete, refused };
}

function refusal(changes: readonly string[]): string {
  return `${changes.join(", ")}: the state store would start empty and its objects would be lost, so the running layout is kept; copy the objects to another deployment (oaas state copy), or set odgm_config.allow_layout_change to true to lose them`;
}

function derive({ input, defaultNodes }: LayoutTask, basis: Basis): Derived {
  const { spec, storedLayout: stored } = input;
  const running = basis === "class" ? stored?.nodes?.length : undefined;
  const ids = nodeIds(input, statedReplicas(input, basis) ?? running ?? defaultNodes, basis);
  const { collections, warnings } = collectionsOf(input, ids.members.length, basis);
  const assigned = assignShards({
    collections,
    members: ids.members,
    stated: spec.odgm_config?.collection_assignments ?? {},
    running: basis === "fresh" ? new Map() : runningShards(stored, collections),
  });
  const layout: StoreLayout = {
    ...ids,
    collections: collections.map(({ name, partitionCount, replicaCount, shardType }) => ({
      name,
      partitionCount,
      replicaCount,
      shardType,
      assignments: assigned.shards.get(name) ?? [],
    })),
    persistent: collections.some((collection) => collection.persistent),
  };
  return { layout, described: collections, warnings: [...warnings, ...assigned.warnings] };
}

/** Assignments of collections whose partitions stay. */
function runningShards(stored: StoredLayout | undefined, collections: readonly Collection[]) {
  return new Map(
    (stored?.collections ?? []).flatMap(({ name, assignments }) => {
      const now = collections.find((one) => one.name === name);
      const isUsable = assignments?.length === 0 || assignments?.length === now?.partitionCount;
      return assignments !== undefined && isUsable ? [[name, assignments] as const] : [];
    }),
  );
}

/** The stored layout, with what is not known taken from the desired one. */
function completed(stored: StoredLayout, desired: StoreLayout): StoreLayout {
  return {
    collections: stored.collections.map((one) => {
      const now = desired.collections.find(({ name }) => name === one.name);
      return {
        name: one.name,
        partitionCount: one.partitionCount ?? now?.partitionCount ?? 1,
        replicaCount: one.replicaCount ?? now?.replicaCount ?? 1,
        shardType: one.shardType ?? now?.shardType ?? "none",
        assignments: one.assignments ?? now?.assignments ?? [],
      };
    }),
    nodes: stored.nodes ?? desired.nodes,
    members: stored.members ?? desired.members,
    persistent: stored.persistent ?? desired.persistent,
  };
}
