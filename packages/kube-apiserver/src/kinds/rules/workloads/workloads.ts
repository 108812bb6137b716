import { equalJson, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { updateAt, hasObject, member, numberAt, objectAt, objectsAt, textAt, withMember } from "../../json-access.ts";
import {
  forbidden,
  IMMUTABLE,
  invalid,
  NONE,
  notNegative,
  required,
  type Errors,
} from "../../validation/field-errors.ts";
import { dnsLabel } from "../../validation/names.ts";
import { listTemplateWarnings } from "../../validation/pods/pod-warnings.ts";
import { validateReplicaCount, type Counts } from "../../validation/replica-counts.ts";
import { validateKeptTemplate, mismatch, validatePodTemplate } from "../../validation/pods/pod-spec.ts";
import {
  validateDaemonStrategy,
  validateStatefulStrategy,
  validateStrategy,
} from "../../validation/update-strategies.ts";
import { isEmptySelector, validateSelector, formatSelector } from "../../validation/selectors.ts";
import { validateUnchanged, type BuiltInRule } from "../built-in-rule.ts";

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

const REPLICA_SET_COUNTS: Counts = {
  all: [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ],
  parts: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
  ready: "readyReplicas",
};

export const deployments: BuiltInRule = {
  warnings: listTemplateWarnings,
  statusErrors: validateReplicaCount({
    all: [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "terminatingReplicas",
      "collisionCount",
    ],
    parts: ["updatedReplicas", "readyReplicas", "availableReplicas"],
    ready: "readyReplicas",
  }),
  countsGenerations: true,
  startsGeneration: (next, live) =>
    isSpecChanged(next, live) ||
    !equalJson(objectAt(next, "metadata", "annotations"), objectAt(live, "metadata", "annotations")),
  errors(deployment) {
    const spec = objectAt(deployment, "spec");
    const deadline = numberAt(spec, "progressDeadlineSeconds");
    const ready = numberAt(spec, "minReadySeconds") ?? 0;
    return [
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...validateOwnSelector(spec, { what: "deployment", detail: "invalid label selector" }),
      ...validateKeptTemplate(spec, getSelector(spec), "ReplicaSet"),
      ...validateStrategy(objectAt(spec, "strategy"), "spec.strategy"),
      ...notNegative("spec.minReadySeconds", ready),
      ...notNegative("spec.revisionHistoryLimit", numberAt(spec, "revisionHistoryLimit")),
      ...notNegative("spec.progressDeadlineSeconds", deadline),
      ...(deadline !== undefined && deadline <= ready
        ? [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")]
        : NONE),
    ];
  },
  updateErrors: validateSelectorUnchanged,
};

export const replicaSets: BuiltInRule = {
  warnings: listTemplateWarnings,
  statusErrors: validateReplicaCount(REPLICA_SET_COUNTS),
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  errors(set) {
    const spec = objectAt(set, "spec");
    return [
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...validateOwnSelector(spec, { what: "deployment", detail: "invalid label selector" }),
      ...validateKeptTemplate(spec, getSelector(spec), "ReplicaSet"),
    ];
  },
  updateErrors: validateSelectorUnchanged,
};

export const statefulSets: BuiltInRule = {
  warnings: listTemplateWarnings,
  statusErrors: validateReplicaCount({
    all: [
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ],
    parts: ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    ready: "status.readyReplicas",
  }),
  name: dnsLabel,
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  // The claims' kind and status are filled in as in a created claim.
  prepareCreate: fillClaimTypes,
  prepareUpdate: (next) => fillClaimTypes(next),
  errors(set) {
    const spec = objectAt(set, "spec");
    const policy = textAt(spec, "podManagementPolicy");
    return [
      ...(["OrderedReady", "Parallel", ""].includes(policy)
        ? NONE
        : [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
      ...validateStatefulStrategy(objectAt(spec, "updateStrategy")),
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...validateOwnSelector(spec, { what: "statefulset", detail: "" }),
      ...validateKeptTemplate(addClaimedVolumes(spec), getSelector(spec), "StatefulSet"),
    ];
  },
  updateErrors(next, live) {
    const omitMutableFields = (object: JsonObject): JsonValue => {
      const {
        replicas: _r,
        ordinals: _o,
        template: _t,
        updateStrategy: _u,
        revisionHistoryLimit: _h,
        ...rest
      } = objectAt(object, "spec");
      const { persistentVolumeClaimRetentionPolicy: _p, minReadySeconds: _m, ...kept } = rest;
      return kept;
    };
    return equalJson(omitMutableFields(next), omitMutableFields(live)) ? NONE : [forbidden("spec", STATEFUL_FIXED)];
  },
};

const STATEFUL_FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export const daemonSets: BuiltInRule = {
  warnings: listTemplateWarnings,
  statusErrors: validateReplicaCount({
    all: [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ],
    parts: [],
  }),
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  prepareCreate: (set) => setTemplateGeneration(set, 1),
  prepareUpdate(next, live) {
    const before = Number(objectAt(live, "metadata", "annotations")[TEMPLATE_GENERATION] ?? 1);
    const isSame = equalJson(objectAt(next, "spec", "template"), objectAt(live, "spec", "template"));
    return setTemplateGeneration(next, isSame ? before : before + 1);
  },
  errors(set) {
    const spec = objectAt(set, "spec");
    const selector = getSelector(spec);
    return [
      ...validateSelector(selector ?? {}, "spec.selector"),
      ...(selector !== undefined && isEmptySelector(selector)
        ? [invalid("spec.selector", formatSelector(selector), "empty selector is invalid for daemonset")]
        : NONE),
      ...validateKeptTemplate(spec, selector, "DaemonSet"),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...validateDaemonStrategy(objectAt(spec, "updateStrategy")),
      ...notNegative("spec.revisionHistoryLimit", numberAt(spec, "revisionHistoryLimit")),
    ];
  },
  updateErrors: validateSelectorUnchanged,
};

export const replicationControllers: BuiltInRule = {
  warnings: listTemplateWarnings,
  statusErrors: validateReplicaCount(REPLICA_SET_COUNTS),
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  errors(controller) {
    const spec = objectAt(controller, "spec");
    const template = objectAt(spec, "template");
    const selector = objectAt(spec, "selector");
    const matches = Object.entries(selector).every(
      ([key, value]) => objectAt(template, "metadata", "labels")[key] === value,
    );
    return [
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...(Object.keys(selector).length === 0 && hasObject(spec, "template") ? [required("spec.selector")] : NONE),
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...(hasObject(spec, "template") ? validatePodTemplate(template, "spec.template") : [required("spec.template")]),
      ...(matches || !hasObject(spec, "template") ? NONE : [mismatch(template, "spec.template")]),
    ];
  },
};

export const podTemplates: BuiltInRule = {
  countsGenerations: true,
  errors: (template) => validatePodTemplate(objectAt(template, "template"), "template"),
};

export const controllerRevisions: BuiltInRule = {
  countsGenerations: false,
  errors: (revision) => notNegative("revision", numberAt(revision, "revision")),
  updateErrors: (next, live) => validateUnchanged(next, live, "data", "data"),
};

function isSpecChanged(next: JsonObject, live: JsonObject): boolean {
  return !equalJson(next["spec"] ?? {}, live["spec"] ?? {});
}

function getSelector(spec: JsonObject): JsonObject | undefined {
  return hasObject(spec, "selector") ? objectAt(spec, "selector") : undefined;
}

/** The selector of a workload; if it is invalid, its matches are not checked. */
function validateOwnSelector(spec: JsonObject, words: { what: string; detail: string }): Errors {
  const selector = getSelector(spec);
  if (selector === undefined) return [required("spec.selector")];
  const errors = validateSelector(selector, "spec.selector");
  if (errors.length > 0) return [...errors, invalid("spec.selector", formatSelector(selector), words.detail)];
  return isEmptySelector(selector)
    ? [invalid("spec.selector", formatSelector(selector), `empty selector is invalid for ${words.what}`)]
    : NONE;
}

function validateSelectorUnchanged(next: JsonObject, live: JsonObject): Errors {
  const [now, before] = [next, live].map((object) => objectAt(object, "spec", "selector"));
  return equalJson(now ?? {}, before ?? {}) ? NONE : [invalid("spec.selector", formatSelector(now ?? {}), IMMUTABLE)];
}

function setTemplateGeneration(set: JsonObject, generation: number): JsonObject {
  return updateAt(set, "metadata", (metadata) =>
    updateAt(metadata, "annotations", (annotations) => ({
      ...annotations,
      [TEMPLATE_GENERATION]: String(generation),
    })),
  );
}

/** As its pods will be: each claim is a volume and replaces one of the same name. */
function addClaimedVolumes(spec: JsonObject): JsonObject {
  const names = objectsAt(spec, "volumeClaimTemplates").map((claim) => textAt(objectAt(claim, "metadata"), "name"));
  if (names.length === 0) return spec;
  const claimed = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return updateAt(spec, "template", (template) =>
    updateAt(template, "spec", (pod) => {
      const own = objectsAt(pod, "volumes").filter((volume) => !names.includes(textAt(volume, "name")));
      return { ...pod, volumes: [...claimed, ...own] };
    }),
  );
}

function fillClaimTypes(set: JsonObject): JsonObject {
  const spec = objectAt(set, "spec");
  if (member(spec, "volumeClaimTemplates") === undefined) return set;
  const claims = objectsAt(spec, "volumeClaimTemplates").map((claim) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    ...claim,
  }));
  return withMember(set, "spec", withMember(spec, "volumeClaimTemplates", claims));
}
