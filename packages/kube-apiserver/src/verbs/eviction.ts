import { err, ok, type Result } from "@oaas/foundation";
import {
  isJsonObject,
  selectsLabels,
  type JsonObject,
  type Labels,
  type LabelSelector,
  type Status,
} from "@oaas/kube-core";
import { metadataOf, nameOf } from "../admission/metadata.ts";
import { deletionOptions } from "../request/options.ts";
import { notFound } from "../request/refusals.ts";
import type { Written } from "../store/object-store.ts";
import { objectKey } from "../store/stored-object.ts";
import { deleteObject } from "./delete-object.ts";
import { storeKindOf, type Target, type World } from "./world.ts";

const BUDGETS = "poddisruptionbudgets.policy";

/** Deletes a pod unless a disruption budget forbids it now. */
export async function evictPod(
  world: World,
  target: Target,
  name: string,
  eviction: JsonObject,
  isDryRun: boolean,
): Promise<Result<Written, Status>> {
  const pod = world.store.get(storeKindOf(target.kind), objectKey(target.namespace, name));
  if (pod === undefined) return err(notFound(target.kind, name));
  const asked = isJsonObject(eviction["deleteOptions"]) ? eviction["deleteOptions"] : {};
  const options = deletionOptions(new URLSearchParams(), asked);
  if (!options.ok) return options;
  const refusal = isUnready(pod.object) ? undefined : budgetRefusal(world, target, pod.object);
  if (refusal !== undefined) return err(refusal);
  const deleted = await deleteObject(world, target, name, {
    ...options.value,
    isDryRun: isDryRun || options.value.isDryRun,
  });
  return deleted.ok ? ok(deleted.value) : deleted;
}

/** A pod that has ended or was never placed is in nobody's budget. */
function isUnready(pod: JsonObject): boolean {
  const { phase } = objectAt(pod, "status");
  return (
    phase === "Succeeded" ||
    phase === "Failed" ||
    phase === "Pending" ||
    metadataOf(pod)["deletionTimestamp"] !== undefined
  );
}

function budgetRefusal(world: World, { namespace }: Target, pod: JsonObject): Status | undefined {
  const { labels = {} } = metadataOf(pod) as { readonly labels?: Labels };
  const budgets = world.store
    .objects(BUDGETS)
    .withPrefix(`${namespace}/`)
    .map(({ object }) => object)
    .filter((budget) => selectsLabels(objectAt(budget, "spec")["selector"] as LabelSelector | undefined, labels));
  const [first, ...more] = budgets;
  if (first === undefined) return undefined;
  if (more.length > 0) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    return { status: "Failure", message, reason: "InternalError", code: 500 };
  }
  const status = objectAt(first, "status");
  const allowed = Number(status["disruptionsAllowed"] ?? 0);
  if (allowed > 0) return undefined;
  const budget = nameOf(first);
  const needs = `The disruption budget ${budget} needs ${Number(status["desiredHealthy"] ?? 0)} healthy pods and has ${Number(status["currentHealthy"] ?? 0)} currently`;
  return {
    status: "Failure",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    reason: "TooManyRequests",
    details: { causes: [{ reason: "DisruptionBudget", message: needs }] },
    code: 429,
  };
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}
