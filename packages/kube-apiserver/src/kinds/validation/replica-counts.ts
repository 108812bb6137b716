import type { JsonObject } from "@oaas/kube-core";
import { numberAt, objectAt } from "../json-access.ts";
import { invalid, notNegative, type Errors } from "./field-errors.ts";

/** The counts in the status of a workload, and which cannot exceed the total. */
export interface Counts {
  readonly all: readonly string[];
  readonly parts: readonly string[];
  /**
   * The name of the ready count in error messages, which the available count cannot exceed; without it this is not
   * checked.
   */
  readonly ready?: string;
}

/** Invalid counts in the status of a workload: negative, above the total, or a decreasing collision count. */
export function validateReplicaCount({ all, parts, ready }: Counts): (next: JsonObject, live: JsonObject) => Errors {
  return (next, live) => {
    const status = objectAt(next, "status");
    const count = (name: string): number => numberAt(status, name) ?? 0;
    const collisions = numberAt(objectAt(live, "status"), "collisionCount");
    const available = count("availableReplicas");
    return [
      ...all.flatMap((name) => notNegative(`status.${name}`, numberAt(status, name))),
      ...parts
        .filter((name) => count(name) > count("replicas"))
        .map((name) => invalid(`status.${name}`, count(name), "cannot be greater than status.replicas")),
      ...(ready !== undefined && available > count("readyReplicas")
        ? [invalid("status.availableReplicas", available, `cannot be greater than ${ready}`)]
        : []),
      ...(collisions !== undefined && count("collisionCount") < collisions
        ? [invalid("status.collisionCount", count("collisionCount"), "cannot be decremented")]
        : []),
    ];
  };
}
