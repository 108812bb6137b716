import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import {
  updateAt,
  fillMissing,
  hasObject,
  isSet,
  member,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  withMember,
} from "../../json-access.ts";
import { forbidden, invalid, NONE, type Errors } from "../../validation/field-errors.ts";
import { validatePodSpec } from "../../validation/pods/pod-spec.ts";
import { listPodWarnings } from "../../validation/pods/pod-warnings.ts";
import type { BuiltInRule } from "../built-in-rule.ts";
import { podResize } from "./pod-resize.ts";
import { computeQosClass } from "./qos-class.ts";
import { listLimits, checkPodLimits, applyDefaultLimits } from "../quotas/limit-ranges.ts";

const PRIORITY_CLASSES = { group: "scheduling.k8s.io", resource: "priorityclasses" };

export const pods: BuiltInRule = {
  prepareStatus: keepQosClass,
  warnings: (pod, isNew) => (isNew ? listPodWarnings(objectAt(pod, "spec"), "spec") : []),
  countsGenerations: true,
  startsGeneration: (next, live) => !equalJson(next["spec"] ?? {}, live["spec"] ?? {}),
  prepareCreate: (sent, context) => {
    const pod = applyDefaultLimits(sent, listLimits(sent, context));
    return withMember(
      updateAt(pod, "spec", (spec) => clampGracePeriod(addTolerations(setPriority(spec, context)))),
      "status",
      createStatus(objectAt(pod, "spec"), context),
    );
  },
  forbiddenReason(pod, context) {
    const name = textAt(objectAt(pod, "spec"), "priorityClassName");
    const isKnown = name === "" || findPriorityClass(name, context) !== undefined;
    if (!isKnown) return `no PriorityClass with name ${name} was found`;
    const limits = listLimits(pod, context);
    return checkPodLimits(applyDefaultLimits(pod, limits), limits);
  },
  errors: (pod) => validatePodSpec(objectAt(pod, "spec"), "spec"),
  updateErrors: validateUpdate,
  partialWrites: { resize: podResize },
  selectableText: (pod, field) => {
    const [part = "", name = ""] = field.split(".");
    const holder = objectAt(pod, part);
    if (name === "hostNetwork") return String(isSet(holder, name));
    if (name === "podIPs")
      return objectsAt(holder, name)
        .map((ip) => textAt(ip, "ip"))
        .join(",");
    return textAt(holder, name);
  },
};

/** A negative period once meant immediate; now it means one second. */
function clampGracePeriod(spec: JsonObject): JsonObject {
  const isNegative = (numberAt(spec, "terminationGracePeriodSeconds") ?? 0) < 0;
  return isNegative ? withMember(spec, "terminationGracePeriodSeconds", 1) : spec;
}

function createStatus(spec: JsonObject, { time }: AdmissionContext): JsonObject {
  const gated = {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: time,
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
  };
  const isGated = objectsAt(spec, "schedulingGates").length > 0;
  return { phase: "Pending", ...(isGated ? { conditions: [gated] } : {}), qosClass: computeQosClass(spec) };
}

function findPriorityClass(name: string, context: AdmissionContext): JsonObject | undefined {
  const system = { "system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000 }[name];
  const found = context
    .objects(PRIORITY_CLASSES)
    .find((object) => textAt(objectAt(object, "metadata"), "name") === name);
  return found ?? (system === undefined ? undefined : { value: system });
}

function setPriority(spec: JsonObject, context: AdmissionContext): JsonObject {
  const name = textAt(spec, "priorityClassName");
  const findDefaultClass = (): JsonObject | undefined =>
    context.objects(PRIORITY_CLASSES).find((object) => isSet(object, "globalDefault"));
  const priority = name === "" ? findDefaultClass() : findPriorityClass(name, context);
  const defaultName =
    name === "" && priority !== undefined ? textAt(objectAt(priority, "metadata"), "name") : undefined;
  return fillMissing(spec, {
    priorityClassName: defaultName,
    priority: numberAt(priority ?? {}, "value") ?? 0,
    preemptionPolicy: textAt(priority ?? {}, "preemptionPolicy") || "PreemptLowerPriority",
  });
}

const UNAVAILABLE_TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** By default a pod stays on a lost node for five minutes. */
function addTolerations(spec: JsonObject): JsonObject {
  const own = objectsAt(spec, "tolerations");
  const added = UNAVAILABLE_TAINTS.filter((key) => !own.some((toleration) => tolerates(toleration, key))).map(
    (key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    }),
  );
  return added.length === 0 ? spec : withMember(spec, "tolerations", [...own, ...added]);
}

function tolerates(toleration: JsonObject, taint: string): boolean {
  const [key, effect] = [textAt(toleration, "key"), textAt(toleration, "effect")];
  return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}

const IMMUTABLE_FIELDS =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validateUpdate(next: JsonObject, live: JsonObject): Errors {
  const [now, before] = [objectAt(next, "spec"), objectAt(live, "spec")];
  const lists = ["containers", "initContainers"].filter(
    (name) => objectsAt(now, name).length !== objectsAt(before, name).length,
  );
  if (lists.length > 0) {
    return lists.map((name) => forbidden(`spec.${name}`, "pod updates may not add or remove containers"));
  }
  const deadline = validateDeadline(now, before);
  if (deadline.length > 0) return deadline;
  return equalJson(omitMutableFields(now, before), omitMutableFields(before, before))
    ? NONE
    : [forbidden("spec", IMMUTABLE_FIELDS)];
}

function validateDeadline(now: JsonObject, before: JsonObject): Errors {
  const [after, earlier] = [numberAt(now, "activeDeadlineSeconds"), numberAt(before, "activeDeadlineSeconds")];
  if (earlier === undefined || earlier === after) return NONE;
  if (after === undefined)
    return [invalid("spec.activeDeadlineSeconds", null, "must not update from a positive integer to nil value")];
  return after < earlier
    ? NONE
    : [invalid("spec.activeDeadlineSeconds", after, "must be less than or equal to previous value")];
}

/** The spec without mutable fields; images are the previous ones. */
function omitMutableFields(spec: JsonObject, before: JsonObject): JsonObject {
  const { activeDeadlineSeconds: _, tolerations, ...rest } = spec;
  const images = (name: string): readonly JsonObject[] =>
    objectsAt(spec, name).map((container, index) =>
      withMember(container, "image", objectsAt(before, name)[index]?.["image"] ?? ""),
    );
  const remaining = objectsAt(before, "tolerations").filter((old) =>
    objectsAt({ tolerations: tolerations ?? [] }, "tolerations").some((each) => equalJson(each, old)),
  );
  return {
    ...rest,
    tolerations: remaining,
    containers: images("containers"),
    ...(member(spec, "initContainers") === undefined ? {} : { initContainers: images("initContainers") }),
    ...(hasObject(spec, "securityContext") ? {} : { securityContext: {} }),
  };
}

/** The QoS class follows from the spec; status writes need not set it. */
function keepQosClass(next: JsonObject, live: JsonObject): JsonObject {
  const status = objectAt(next, "status");
  const { qosClass } = objectAt(live, "status");
  if (textAt(status, "qosClass") !== "" || qosClass === undefined) return next;
  return { ...next, status: { ...status, qosClass } };
}
