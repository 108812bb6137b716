import { equalJson, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { changedAt, hasObject, member, numberAt, objectAt, objectsAt, textAt, withMember } from "../../json-access.ts";
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
import { templateWarnings } from "../../validation/pods/pod-warnings.ts";
import { replicaCountErrors, type Counts } from "../../validation/replica-counts.ts";
import { keptTemplateErrors, mismatch, podTemplateErrors } from "../../validation/pods/pod-spec.ts";
import { daemonStrategyErrors, statefulStrategyErrors, strategyErrors } from "../../validation/update-strategies.ts";
import { isEmptySelector, selectorErrors, shownSelector } from "../../validation/selectors.ts";
import { unchanged, type BuiltInRule } from "../built-in-rule.ts";

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
  warnings: templateWarnings,
  statusErrors: replicaCountErrors({
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
    specChanged(next, live) ||
    !equalJson(objectAt(next, "metadata", "annotations"), objectAt(live, "metadata", "annotations")),
  errors(deployment) {
    const spec = objectAt(deployment, "spec");
    const deadline = numberAt(spec, "progressDeadlineSeconds");
    const ready = numberAt(spec, "minReadySeconds") ?? 0;
    return [
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...ownSelectorErrors(spec, { what: "deployment", detail: "invalid label selector" }),
      ...keptTemplateErrors(spec, selectorOf(spec), "ReplicaSet"),
      ...strategyErrors(objectAt(spec, "strategy"), "spec.strategy"),
      ...notNegative("spec.minReadySeconds", ready),
      ...notNegative("spec.revisionHistoryLimit", numberAt(spec, "revisionHistoryLimit")),
      ...notNegative("spec.progressDeadlineSeconds", deadline),
      ...(deadline !== undefined && deadline <= ready
        ? [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")]
        : NONE),
    ];
  },
  updateErrors: selectorUnchanged,
};

export const replicaSets: BuiltInRule = {
  warnings: templateWarnings,
  statusErrors: replicaCountErrors(REPLICA_SET_COUNTS),
  countsGenerations: true,
  startsGeneration: specChanged,
  errors(set) {
    const spec = objectAt(set, "spec");
    return [
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...ownSelectorErrors(spec, { what: "deployment", detail: "invalid label selector" }),
      ...keptTemplateErrors(spec, selectorOf(spec), "ReplicaSet"),
    ];
  },
  updateErrors: selectorUnchanged,
};

export const statefulSets: BuiltInRule = {
  warnings: templateWarnings,
  statusErrors: replicaCountErrors({
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
  startsGeneration: specChanged,
  // The claims' kind and status are filled in as in a created claim.
  prepareCreate: withClaimTypes,
  prepareUpdate: (next) => withClaimTypes(next),
  errors(set) {
    const spec = objectAt(set, "spec");
    const policy = textAt(spec, "podManagementPolicy");
    return [
      ...(["OrderedReady", "Parallel", ""].includes(policy)
        ? NONE
        : [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
      ...statefulStrategyErrors(objectAt(spec, "updateStrategy")),
      ...notNegative("spec.replicas", numberAt(spec, "replicas")),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...ownSelectorErrors(spec, { what: "statefulset", detail: "" }),
      ...keptTemplateErrors(withClaimedVolumes(spec), selectorOf(spec), "StatefulSet"),
    ];
  },
  updateErrors(next, live) {
    const fixed = (object: JsonObject): JsonValue => {
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
    return equalJson(fixed(next), fixed(live)) ? NONE : [forbidden("spec", STATEFUL_FIXED)];
  },
};

const STATEFUL_FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export const daemonSets: BuiltInRule = {
  warnings: templateWarnings,
  statusErrors: replicaCountErrors({
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
  startsGeneration: specChanged,
  prepareCreate: (set) => withTemplateGeneration(set, 1),
  prepareUpdate(next, live) {
    const before = Number(objectAt(live, "metadata", "annotations")[TEMPLATE_GENERATION] ?? 1);
    const isSame = equalJson(objectAt(next, "spec", "template"), objectAt(live, "spec", "template"));
    return withTemplateGeneration(next, isSame ? before : before + 1);
  },
  errors(set) {
    const spec = objectAt(set, "spec");
    const selector = selectorOf(spec);
    return [
      ...selectorErrors(selector ?? {}, "spec.selector"),
      ...(selector !== undefined && isEmptySelector(selector)
        ? [invalid("spec.selector", shownSelector(selector), "empty selector is invalid for daemonset")]
        : NONE),
      ...keptTemplateErrors(spec, selector, "DaemonSet"),
      ...notNegative("spec.minReadySeconds", numberAt(spec, "minReadySeconds")),
      ...daemonStrategyErrors(objectAt(spec, "updateStrategy")),
      ...notNegative("spec.revisionHistoryLimit", numberAt(spec, "revisionHistoryLimit")),
    ];
  },
  updateErrors: selectorUnchanged,
};

export const replicationControllers: BuiltInRule = {
  warnings: templateWarnings,
  statusErrors: replicaCountErrors(REPLICA_SET_COUNTS),
  countsGenerations: true,
  startsGeneration: specChanged,
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
      ...(hasObject(spec, "template") ? podTemplateErrors(template, "spec.template") : [required("spec.template")]),
      ...(matches || !hasObject(spec, "template") ? NONE : [mismatch(template, "spec.template")]),
    ];
  },
};

export const podTemplates: BuiltInRule = {
  countsGenerations: true,
  errors: (template) => podTemplateErrors(objectAt(template, "template"), "template"),
};

export const controllerRevisions: BuiltInRule = {
  countsGenerations: false,
  errors: (revision) => notNegative("revision", numberAt(revision, "revision")),
  updateErrors: (next, live) => unchanged(next, live, "data", "data"),
};

function specChanged(next: JsonObject, live: JsonObject): boolean {
  return !equalJson(next["spec"] ?? {}, live["spec"] ?? {});
}

function selectorOf(spec: JsonObject): JsonObject | undefined {
  return hasObject(spec, "selector") ? objectAt(spec, "selector") : undefined;
}

/** The selector of a workload; if it is invalid, its matches are not checked. */
function ownSelectorErrors(spec: JsonObject, words: { what: string; detail: string }): Errors {
  const selector = selectorOf(spec);
  if (selector === undefined) return [required("spec.selector")];
  const wrong = selectorErrors(selector, "spec.selector");
  if (wrong.length > 0) return [...wrong, invalid("spec.selector", shownSelector(selector), words.detail)];
  return isEmptySelector(selector)
    ? [invalid("spec.selector", shownSelector(selector), `empty selector is invalid for ${words.what}`)]
    : NONE;
}

function selectorUnchanged(next: JsonObject, live: JsonObject): Errors {
  const [now, before] = [next, live].map((object) => objectAt(object, "spec", "selector"));
  return equalJson(now ?? {}, before ?? {}) ? NONE : [invalid("spec.selector", shownSelector(now ?? {}), IMMUTABLE)];
}

function withTemplateGeneration(set: JsonObject, generation: number): JsonObject {
  return changedAt(set, "metadata", (metadata) =>
    changedAt(metadata, "annotations", (annotations) => ({
      ...annotations,
      [TEMPLATE_GENERATION]: String(generation),
    })),
  );
}

/** As its pods will be: each claim is a volume and replaces one of the same name. */
function withClaimedVolumes(spec: JsonObject): JsonObject {
  const names = objectsAt(spec, "volumeClaimTemplates").map((claim) => textAt(objectAt(claim, "metadata"), "name"));
  if (names.length === 0) return spec;
  const claimed = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return changedAt(spec, "template", (template) =>
    changedAt(template, "spec", (pod) => {
      const own = objectsAt(pod, "volumes").filter((volume) => !names.includes(textAt(volume, "name")));
      return { ...pod, volumes: [...claimed, ...own] };
    }),
  );
}

function withClaimTypes(set: JsonObject): JsonObject {
  const spec = objectAt(set, "spec");
  if (member(spec, "volumeClaimTemplates") === undefined) return set;
  const claims = objectsAt(spec, "volumeClaimTemplates").map((claim) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    ...claim,
  }));
  return withMember(set, "spec", withMember(spec, "volumeClaimTemplates", claims));
}
