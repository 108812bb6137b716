import type { JsonObject, JsonValue } from "@oaas/kube-core";
import {
  updateAt,
  fillMissing,
  hasObject,
  member,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  withMember,
} from "../../json-access.ts";
import { forbidden, invalid, NONE, required, unsupported, type Errors } from "../../validation/field-errors.ts";
import type { BuiltInRule } from "../built-in-rule.ts";

const V1 = "autoscaling/v1";
const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};
/** Fields missing in v1 are kept in annotations while an object is in that version. */
const CARRIED: readonly (readonly [annotation: string, part: string, member: string])[] = [
  ["autoscaling.alpha.kubernetes.io/metrics", "spec", "metrics"],
  ["autoscaling.alpha.kubernetes.io/behavior", "spec", "behavior"],
  ["autoscaling.alpha.kubernetes.io/current-metrics", "status", "currentMetrics"],
  ["autoscaling.alpha.kubernetes.io/conditions", "status", "conditions"],
];

export const horizontalPodAutoscalers: BuiltInRule = {
  countsGenerations: false,
  convert(object, apiVersion) {
    if (textAt(object, "apiVersion") === apiVersion) return object;
    return apiVersion === V1 ? toV1(object) : fromV1(object, apiVersion);
  },
  errors: (object) => validateSpec(objectAt(object, "spec")),
};

/** v1 supports only the average cpu utilization as a metric. */
function getCpuTarget(metric: JsonObject): number | undefined {
  const resource = objectAt(metric, "resource");
  return textAt(resource, "name") === "cpu" ? numberAt(objectAt(resource, "target"), "averageUtilization") : undefined;
}

function toV1(object: JsonObject): JsonObject {
  const { metrics: _, behavior: _behavior, ...spec } = objectAt(object, "spec");
  const all = objectsAt(objectAt(object, "spec"), "metrics");
  const cpu = all.find((metric) => getCpuTarget(metric) !== undefined);
  const { currentMetrics: _current, conditions: _conditions, ...status } = objectAt(object, "status");
  const target = cpu === undefined ? undefined : getCpuTarget(cpu);
  const carried = CARRIED.flatMap(([annotation, part, name]): [string, string][] => {
    const value = member(objectAt(object, part), name);
    const rest = name === "metrics" ? all.filter((metric) => getCpuTarget(metric) === undefined) : value;
    return rest === undefined || (Array.isArray(rest) && rest.length === 0) ? [] : [[annotation, JSON.stringify(rest)]];
  });
  const withAnnotations =
    carried.length === 0 ? object : updateAnnotations(object, (own) => ({ ...own, ...Object.fromEntries(carried) }));
  return {
    ...withAnnotations,
    apiVersion: V1,
    spec: fillMissing(spec, { targetCPUUtilizationPercentage: target }),
    status: fillMissing(status, { currentReplicas: 0, desiredReplicas: 0 }),
  };
}

function fromV1(object: JsonObject, apiVersion: string): JsonObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, "spec");
  const { currentCPUUtilizationPercentage: _, ...status } = objectAt(object, "status");
  const annotations = objectAt(object, "metadata", "annotations");
  const carried = (annotation: string): JsonValue | undefined => parseAnnotation(textAt(annotations, annotation));
  const [metrics, behavior, currentMetrics, conditions] = CARRIED.map(([annotation]) => carried(annotation));
  const others = Array.isArray(metrics) ? metrics : [];
  const cpuUtilization = others.length === 0 && target === undefined ? 80 : target;
  const cpu = {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpuUtilization ?? null } },
  };
  const withoutAnnotations =
    Object.keys(annotations).length === 0 ? object : updateAnnotations(object, omitCarriedAnnotations);
  return {
    ...withoutAnnotations,
    apiVersion,
    spec: fillMissing({ ...spec, metrics: cpuUtilization === undefined ? others : [cpu, ...others] }, { behavior }),
    status: {
      desiredReplicas: 0,
      ...fillMissing(
        withMember(status, "currentReplicas", status["currentReplicas"] === 0 ? undefined : status["currentReplicas"]),
        { conditions },
      ),
      currentMetrics: currentMetrics ?? null,
    },
  };
}

function updateAnnotations(object: JsonObject, change: (own: JsonObject) => JsonObject): JsonObject {
  return updateAt(object, "metadata", (metadata) => {
    const annotations = change(objectAt(metadata, "annotations"));
    return withMember(metadata, "annotations", Object.keys(annotations).length === 0 ? undefined : annotations);
  });
}

function omitCarriedAnnotations(own: JsonObject): JsonObject {
  const carried = new Set(CARRIED.map(([annotation]) => annotation));
  return Object.fromEntries(Object.entries(own).filter(([name]) => !carried.has(name)));
}

/** The annotation can contain anything: ignore unreadable text. */
function parseAnnotation(text: string): JsonValue | undefined {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function validateSpec(spec: JsonObject): Errors {
  const [minReplicas, maxReplicas] = [numberAt(spec, "minReplicas"), numberAt(spec, "maxReplicas") ?? 0];
  const metrics = objectsAt(spec, "metrics");
  const isScalable = metrics.some((metric) => ["Object", "External"].includes(textAt(metric, "type")));
  return [
    ...(minReplicas !== undefined && minReplicas < 1
      ? [invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1")]
      : NONE),
    ...(maxReplicas < 1 ? [required("spec.maxReplicas", "must be set and greater than 0")] : NONE),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`")]
      : NONE),
    ...validateTarget(objectAt(spec, "scaleTargetRef"), "spec.scaleTargetRef"),
    ...metrics.flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`)),
    ...(minReplicas === 0 && !isScalable
      ? [
          forbidden(
            "spec.metrics",
            "must specify at least one Object or External metric to support scaling to zero replicas",
          ),
        ]
      : NONE),
    ...["scaleUp", "scaleDown"].flatMap((name) =>
      hasObject(objectAt(spec, "behavior"), name)
        ? validateBehavior(objectAt(spec, "behavior", name), `spec.behavior.${name}`)
        : NONE,
    ),
  ];
}

function validateTarget(target: JsonObject, field: string): Errors {
  const apiVersion = textAt(target, "apiVersion");
  const isCore = !apiVersion.includes("/") && textAt(target, "kind") !== "ReplicationController";
  return [
    ...["kind", "name"].filter((name) => textAt(target, name) === "").map((name) => required(`${field}.${name}`)),
    ...(isCore ? [invalid(`${field}.apiVersion`, apiVersion, "apiVersion must specify API group")] : NONE),
  ];
}

function validateMetric(metric: JsonObject, field: string): Errors {
  const type = textAt(metric, "type");
  if (type === "") return [required(`${field}.type`, "must specify a metric source type")];
  const source = SOURCES[type];
  if (source === undefined) return [unsupported(`${field}.type`, type, Object.keys(SOURCES).sort())];
  if (!hasObject(metric, source))
    return [required(`${field}.${source}`, "must populate information for the given metric source")];
  return validateSource(objectAt(metric, source), source, `${field}.${source}`);
}

function validateSource(source: JsonObject, kind: string, field: string): Errors {
  const target = objectAt(source, "target");
  const isResource = kind === "resource" || kind === "containerResource";
  if (!isResource) return NONE;
  const hasTarget = numberAt(target, "averageUtilization") !== undefined || textAt(target, "averageValue") !== "";
  const utilization = numberAt(target, "averageUtilization");
  return [
    ...(textAt(source, "name") === "" ? [required(`${field}.name`, "must specify a resource name")] : NONE),
    ...(utilization !== undefined && utilization < 1
      ? [invalid(`${field}.target.averageUtilization`, utilization, "must be greater than 0")]
      : NONE),
    ...(hasTarget
      ? NONE
      : [required(`${field}.target.averageUtilization`, "must set either a target raw value or a target utilization")]),
  ];
}

function validateBehavior(rules: JsonObject, field: string): Errors {
  const policies = objectsAt(rules, "policies");
  const select = textAt(rules, "selectPolicy");
  const window = numberAt(rules, "stabilizationWindowSeconds") ?? 0;
  const selects = ["Disabled", "Max", "Min"];
  return [
    ...(window < 0
      ? [invalid(`${field}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero")]
      : NONE),
    ...(window > 3600
      ? [invalid(`${field}.stabilizationWindowSeconds`, window, "must be less than or equal to 3600")]
      : NONE),
    ...(selects.includes(select) || select === "" ? NONE : [unsupported(`${field}.selectPolicy`, select, selects)]),
    ...(policies.length === 0 ? [required(`${field}.policies`, "must specify at least one Policy")] : NONE),
    ...policies.flatMap((policy, index) => validatePolicy(policy, `${field}.policies[${index}]`)),
  ];
}

function validatePolicy(policy: JsonObject, field: string): Errors {
  const type = textAt(policy, "type");
  const [value, period] = [numberAt(policy, "value") ?? 0, numberAt(policy, "periodSeconds") ?? 0];
  const types = ["Percent", "Pods"];
  return [
    ...(types.includes(type) ? NONE : [unsupported(`${field}.type`, type, types)]),
    ...(value > 0 ? NONE : [invalid(`${field}.value`, value, "must be greater than zero")]),
    ...(period > 0 ? NONE : [invalid(`${field}.periodSeconds`, period, "must be greater than zero")]),
    ...(period > 1800 ? [invalid(`${field}.periodSeconds`, period, "must be less than or equal to 1800")] : NONE),
  ];
}
