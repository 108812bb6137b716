import { equalJson, timestamp } from "@oaas/foundation";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import type { Grid } from "./grid.ts";
import { verdict } from "./verdict.ts";

/** Response of one node: its shards and capabilities. */
export interface NodeAnswer {
  readonly shards: readonly { readonly collection: string; readonly partition: number; readonly objects: number }[];
  readonly capabilities?: readonly string[];
}

/**
 * Assesses the responses of the nodes. Undefined ("unknown") without enough responses: the manager may be outside of
 * the cluster network, so that silence does not prove a failure.
 */
export function assessAnswers(grid: Grid, answers: readonly NodeAnswer[], nowMs: number): OdgmReading | undefined {
  if (answers.length === 0) return undefined;
  const served = grid.collections.map((collection) => ({ ...collection, ...servedOf(collection.name, answers) }));
  const assessment = verdict(served, grid.isShared);
  if (!assessment.healthy && answers.length < grid.nodes) return undefined;
  const capabilities = [...new Set(answers.flatMap((answer) => answer.capabilities ?? []))].toSorted();
  return {
    ...assessment,
    checkedAt: timestamp(nowMs),
    details: {
      ...(capabilities.length === 0 ? {} : { capabilities }),
      collections_status: served.map(({ name, shards, held, objects }) => ({
        name,
        ready_shards: shards,
        active_partitions: held,
        total_objects: objects,
      })),
    },
  };
}

/** Replicas of a partition hold the same objects, so the largest count is used. */
function servedOf(name: string, answers: readonly NodeAnswer[]): { shards: number; held: number; objects: number } {
  const shards = answers.flatMap((answer) => answer.shards).filter(({ collection }) => collection === name);
  const fullest = new Map<number, number>();
  for (const { partition, objects } of shards) {
    fullest.set(partition, Math.max(objects, fullest.get(partition) ?? 0));
  }
  const objects = [...fullest.values()].reduce((sum, held) => sum + held, 0);
  return { shards: shards.length, held: fullest.size, objects };
}

/** Whether two readings are equal apart from object counts and times. */
export function isSameReading(one: OdgmReading | undefined, other: OdgmReading | undefined): boolean {
  return equalJson(withoutVolatileFields(one), withoutVolatileFields(other));
}

function withoutVolatileFields(reading: OdgmReading | undefined): unknown {
  if (reading === undefined) return {};
  const { checkedAt: _, details, ...verdict } = reading;
  const collections = details?.collections_status?.map(({ total_objects: _objects, ...collection }) => collection);
  return { ...verdict, capabilities: details?.capabilities ?? [], collections: collections ?? [] };
}
