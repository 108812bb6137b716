import { compareQuantities, equalJson, type JsonObject, type Quantity, ZERO_QUANTITY } from "@oaas/kube-core";
import { podRequests } from "../../../controllers/objects/pods.ts";
import type { Pod } from "../../../controllers/objects/typed.ts";
import { hasObject, member, objectAt, objectsAt, textAt, withMember } from "../../json-access.ts";
import type { AdmissionContext, AdmissionRejection, PartialWrite } from "../../kind.ts";
import { forbidden, invalid, NONE, type Errors } from "../../validation/field-errors.ts";
import { parseAmount } from "../../validation/resources.ts";
import { applyDefaultLimits, checkPodLimits, listLimits } from "../quotas/limit-ranges.ts";
import { quotaError } from "../quotas/quotas.ts";
import { computeQosClass } from "./qos-class.ts";

/*
 * In-place resize: the subresource `resize` of pods changes the resources and resize policies of containers, and
 * nothing else.
 */

const LISTS = ["containers", "initContainers"] as const;
const WRITTEN = ["resources", "resizePolicy"] as const;
const RESIZABLE = ["cpu", "memory"] as const;
const BOUNDS = ["requests", "limits"] as const;
const NANO_PER_MILLI = 1_000_000n;
const NANO_PER_ONE = 1_000_000_000n;

export const podResize: PartialWrite = {
  selectSpec(requested, live, context) {
    const next = objectAt(applyDefaultLimits(requested, listLimits(live, context)), "spec");
    const before = objectAt(live, "spec");
    // Validation reports added, removed and renamed containers.
    if (LISTS.some((list) => objectsAt(next, list).length !== objectsAt(before, list).length)) return next;
    return LISTS.reduce(
      (spec, list) =>
        member(spec, list) === undefined ? spec : withMember(spec, list, selectContainers(next, before, list)),
      withMember(before, "resources", member(next, "resources")),
    );
  },
  updateErrors: validateResize,
  rejection: (next, live, context) => {
    const limits = checkPodLimits(next, listLimits(live, context));
    if (limits !== undefined) return { reason: limits };
    const node = equalJson(next["spec"] ?? {}, live["spec"] ?? {}) ? undefined : checkNode(next, context);
    if (node !== undefined) return node;
    const quota = quotaError({ group: "", resource: "pods" }, next, context, live);
    return quota === undefined ? undefined : { reason: quota };
  },
};

function selectContainers(next: JsonObject, before: JsonObject, list: string): readonly JsonObject[] {
  const requested = objectsAt(next, list);
  const containers = objectsAt(before, list);
  const isSameOrder = containers.every((container, index) => container["name"] === requested[index]?.["name"]);
  if (!isSameOrder) return requested;
  return containers.map((container, index) =>
    WRITTEN.reduce((result, name) => withMember(result, name, member(requested[index] ?? {}, name)), container),
  );
}

function validateResize(next: JsonObject, live: JsonObject): Errors {
  const [now, before] = [objectAt(next, "spec"), objectAt(live, "spec")];
  const status = objectAt(live, "status");
  if (isMirror(live)) return [forbidden("", "static pods cannot be resized")];
  if (textAt(objectAt(before, "os"), "name") === "windows") return [forbidden("", "windows pods cannot be resized")];
  const qosClass = textAt(status, "qosClass") || computeQosClass(before);
  const order = LISTS.flatMap((list) => validateOrder(now, before, list));
  const errors = [
    ...(qosClass === computeQosClass(now)
      ? NONE
      : [invalid("spec", textAt(status, "qosClass"), "Pod QOS Class may not change as a result of resizing")]),
    ...(isSupportedByNode(status) ? NONE : [forbidden("spec", "Pod running on node without support for resize")]),
    ...order,
    ...(order.length > 0 ? NONE : validateContainers(now, before)),
  ];
  if (errors.length > 0) return errors;
  return equalJson(member(now, "resources") ?? null, member(before, "resources") ?? null)
    ? NONE
    : [forbidden("spec", "only cpu and memory resources are mutable")];
}

function isMirror(pod: JsonObject): boolean {
  return Object.hasOwn(objectAt(pod, "metadata", "annotations"), "kubernetes.io/config.mirror");
}

/** A node that supports resizing reports the resources of running containers. */
function isSupportedByNode(status: JsonObject): boolean {
  const running = objectsAt(status, "containerStatuses").find((one) => hasObject(objectAt(one, "state"), "running"));
  return running === undefined || hasObject(running, "resources");
}

function validateOrder(now: JsonObject, before: JsonObject, list: string): Errors {
  const [next, old] = [objectsAt(now, list), objectsAt(before, list)];
  if (next.length !== old.length) return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return old.flatMap(({ name }, index) =>
    next[index]?.["name"] === name
      ? NONE
      : [forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function validateContainers(now: JsonObject, before: JsonObject): Errors {
  const listPairs = (list: string): readonly (readonly [JsonObject, JsonObject])[] =>
    objectsAt(before, list).map((container, index) => [objectsAt(now, list)[index] ?? {}, container] as const);
  const removed = (["initContainers", "containers"] as const).flatMap((list) =>
    listPairs(list).flatMap(([next, old], index) => validateKept(next, old, `spec.${list}[${index}].resources`)),
  );
  const containers = listPairs("containers")
    .filter(([next, old]) => changesOthers(next, old))
    .map(() => forbidden("spec", "only cpu and memory resources are mutable"));
  const inits = listPairs("initContainers").flatMap(([next, old], index) =>
    validateInitContainer(next, old, `spec.initContainers[${index}]`),
  );
  return [...removed, ...containers, ...inits];
}

function validateKept(next: JsonObject, old: JsonObject, field: string): Errors {
  return BOUNDS.filter((bound) => {
    const amounts = objectAt(next, "resources", bound);
    return Object.keys(objectAt(old, "resources", bound)).some((name) => !Object.hasOwn(amounts, name));
  }).map((bound) => forbidden(`${field}.${bound}`, `resource ${bound} cannot be removed`));
}

function validateInitContainer(next: JsonObject, old: JsonObject, field: string): Errors {
  const restarts = objectsAt(next, "resizePolicy").filter(
    (policy) => textAt(policy, "restartPolicy") === "RestartContainer",
  );
  const isSidecar = textAt(next, "restartPolicy") === "Always";
  return [
    ...(changesOthers(next, old)
      ? [forbidden(field, "only cpu and memory resources for init or sidecar containers are mutable")]
      : NONE),
    ...(isSidecar || equalJson(next, old)
      ? NONE
      : restarts.map(() =>
          forbidden(field, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"),
        )),
  ];
}

/** Whether anything besides CPU and memory differs. */
function changesOthers(next: JsonObject, old: JsonObject): boolean {
  return !equalJson(withoutResizable(next), withoutResizable(old));
}

function withoutResizable(container: JsonObject): JsonObject {
  const { requests: _requests, limits: _limits, ...resources } = objectAt(container, "resources");
  const rest = BOUNDS.map((bound) =>
    Object.entries(objectAt(container, "resources", bound)).filter(([name]) => !isResizable(name)),
  );
  return { ...container, resources: { ...resources, rest: rest.map((entries) => Object.fromEntries(entries)) } };
}

function isResizable(name: string): boolean {
  return RESIZABLE.some((each) => each === name);
}

/** Requests that the node of the pod can never provide. */
function checkNode(next: JsonObject, context: AdmissionContext): AdmissionRejection | undefined {
  const nodeName = textAt(objectAt(next, "spec"), "nodeName");
  if (nodeName === "") return undefined;
  const node = context
    .objects({ group: "", resource: "nodes" })
    .find((each) => textAt(objectAt(each, "metadata"), "name") === nodeName);
  if (node === undefined) return { reason: `node "${nodeName}" not found` };
  const system = textAt(objectAt(node, "metadata", "labels"), "kubernetes.io/os");
  if (system !== "" && system !== "linux") {
    const reason = `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`;
    return { reason, cause: "UnsupportedPlatform" };
  }
  const requests = podRequests(next as unknown as Pod);
  const allocatable = objectAt(node, "status", "allocatable");
  const missing = RESIZABLE.flatMap((name) => {
    const [requested, room] = [requests[name], parseAmount(allocatable[name])];
    if (requested === undefined || compareQuantities(requested, room ?? ZERO_QUANTITY) <= 0) return [];
    return [`${name}, requested: ${toUnits(name, requested)}, allocatable: ${toUnits(name, room ?? ZERO_QUANTITY)}`];
  });
  if (missing.length === 0) return undefined;
  return {
    reason: `node didn't have enough allocatable resources: ${missing.join("; ")}`,
    cause: "NodeCapacity",
  };
}

/** CPU in thousandths, memory in bytes; rounded up. */
function toUnits(name: string, { nano }: Quantity): bigint {
  const unit = name === "cpu" ? NANO_PER_MILLI : NANO_PER_ONE;
  return (nano + unit - 1n) / unit;
}
