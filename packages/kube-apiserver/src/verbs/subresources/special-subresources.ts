import { err, ok, type Result } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import { isBeingDeleted, metadataOf } from "../../admission/metadata.ts";
import { wholeSeconds } from "../../controllers/objects/time.ts";
import { objectAt } from "../../kinds/json-access.ts";
import type { WriteOptions } from "../../request/query/options.ts";
import { badRequest, conflict } from "../../request/response/status-errors.ts";
import type { Written } from "../../store/object-store.ts";
import { changeObject } from "../change/change-object.ts";
import type { Target, VerbContext } from "../verb-context.ts";

/** Assigns a pod to a node: the only way to set `spec.nodeName` later. */
export async function bindPod(
  context: VerbContext,
  target: Target,
  name: string,
  binding: JsonObject,
  options: WriteOptions,
): Promise<Result<Written, Status>> {
  const to = binding["target"];
  const node = isJsonObject(to) ? to["name"] : undefined;
  if (typeof node !== "string" || node === "") return err(badRequest("target.name: Required value"));
  const next = (live: JsonObject): Result<JsonObject, Status> => {
    const spec = objectAt(live, "spec");
    const createRejection = (reason: string): Result<JsonObject, Status> =>
      err(conflict({ group: "", resource: "pods/binding" }, name, reason));
    if (isBeingDeleted(live)) return createRejection(`pod ${name} is being deleted, cannot be assigned to a host`);
    if (spec["nodeName"] !== undefined && spec["nodeName"] !== "") {
      return createRejection(`pod ${name} is already assigned to node ${JSON.stringify(spec["nodeName"])}`);
    }
    const { annotations } = metadataOf(binding);
    const metadata = isJsonObject(annotations)
      ? { ...metadataOf(live), annotations: { ...objectAt(metadataOf(live), "annotations"), ...annotations } }
      : metadataOf(live);
    return ok({
      ...live,
      metadata,
      spec: { ...spec, nodeName: node },
      status: setPodScheduled(context, objectAt(live, "status")),
    });
  };
  return changeObject(
    context,
    target,
    { name, subresource: "binding", writesWhole: true, keepsManagers: true, next },
    options,
  );
}

/** The status of a scheduled pod. */
function setPodScheduled(context: VerbContext, status: JsonObject): JsonObject {
  const conditions = isJsonArray(status["conditions"]) ? status["conditions"].filter(isJsonObject) : [];
  const condition = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: wholeSeconds(context.clock.now()),
  };
  const others = conditions.filter(({ type }) => type !== condition.type);
  return { ...status, conditions: [...others, condition] };
}

/**
 * Replaces the finalizers of a namespace's spec, which nothing else can; without the last one, the namespace is
 * deleted.
 */
export async function finalizeNamespace(
  context: VerbContext,
  target: Target,
  name: string,
  namespace: JsonObject,
  options: WriteOptions,
): Promise<Result<Written, Status>> {
  const finalizers: JsonValue = objectAt(namespace, "spec")["finalizers"] ?? [];
  const { resourceVersion } = metadataOf(namespace);
  const next = (live: JsonObject): Result<JsonObject, Status> => {
    const { finalizers: _before, ...spec } = objectAt(live, "spec");
    const isEmpty = isJsonArray(finalizers) && finalizers.length === 0;
    const metadata = { ...metadataOf(live), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    return ok({ ...live, metadata, spec: isEmpty ? spec : { ...spec, finalizers } });
  };
  return changeObject(context, target, { name, subresource: "finalize", writesWhole: true, next }, options);
}
