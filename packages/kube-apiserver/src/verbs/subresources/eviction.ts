import { err, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type Status } from "@oaas/kube-core";
import type { ClusterObjects } from "../../controllers/cluster-objects.ts";
import { asJson, typed } from "../../controllers/objects/cluster-view.ts";
import { BUDGETS } from "../../controllers/objects/resources.ts";
import type { Budget, Pod } from "../../controllers/objects/typed.ts";
import { decideEviction, recordDisruption } from "../../controllers/scaling/disruption.ts";
import { parseDeletionOptions } from "../../request/query/options.ts";
import { notFound } from "../../request/response/status-errors.ts";
import type { Written } from "../../store/object-store.ts";
import { objectKey } from "../../store/stored-object.ts";
import { deleteObject } from "../change/delete-object.ts";
import { storeKindOf, type Target, type VerbContext } from "../verb-context.ts";

/** As the real server records an eviction. */
const WRITER = "kube-apiserver";
/** Attempts on a budget with concurrent changes. */
const MAX_ATTEMPTS = 5;

/**
 * Deletes a pod unless a disruption budget forbids it; the budget is charged first, so that two evictions cannot both
 * use the last disruption.
 */
export async function evictPod(
  { context, objects }: { readonly context: VerbContext; readonly objects: ClusterObjects },
  target: Target,
  name: string,
  eviction: JsonObject,
  isDryRun: boolean,
): Promise<Result<Written, Status>> {
  const deleteOptions = isJsonObject(eviction["deleteOptions"]) ? eviction["deleteOptions"] : {};
  const options = parseDeletionOptions(new URLSearchParams(), deleteOptions);
  const pod = context.store.get(storeKindOf(target.kind), objectKey(target.namespace, name));
  if (pod === undefined) return err(notFound(target.kind, name));
  if (!options.ok) return options;
  const deletion = { ...options.value, isDryRun: isDryRun || options.value.isDryRun };
  const denial = await chargeBudget(context, objects, typed<Pod>(pod.object), deletion.isDryRun);
  return denial === undefined ? deleteObject(context, target, name, deletion) : err(denial);
}

/** Charges an eviction to its budget, if any; or returns why it is denied. */
async function chargeBudget(
  context: VerbContext,
  objects: ClusterObjects,
  pod: Pod,
  isDryRun: boolean,
): Promise<Status | undefined> {
  let conflict: Status | undefined;
  for (let attempts = MAX_ATTEMPTS; attempts > 0; attempts -= 1) {
    const budgets = objects.list(BUDGETS, pod.metadata.namespace).map((budget) => typed<Budget>(budget));
    const verdict = decideEviction(pod, budgets);
    if ("error" in verdict) return verdict.error;
    if (verdict.costs === undefined || isDryRun) return undefined;
    const next = recordDisruption(verdict.costs, pod.metadata.name ?? "", context.clock.now());
    const written = await objects.updateStatus(BUDGETS, asJson(next), WRITER);
    if (written.ok) return undefined;
    if (written.error.reason !== "Conflict") return written.error;
    conflict = written.error;
  }
  return conflict;
}
