import type { JsonObject } from "@oaas/kube-core";
import {
  updateAt,
  fillMissing,
  hasObject,
  member,
  objectAt,
  objectsAt,
  textAt,
  textEntries,
  withMember,
} from "../json-access.ts";
import type { Defaulter } from "./type-defaults.ts";

const CORE = "io.k8s.api.core.v1.";

/** Defaults of other core kinds. */
export const coreDefaults: Readonly<Record<string, Defaulter>> = {
  [`${CORE}Service`]: (service) => updateAt(service, "spec", serviceDefaults),
  [`${CORE}Secret`]: (secret) => fillMissing(withTexts(secret), { type: "Opaque" }),
  [`${CORE}Namespace`]: (namespace) => {
    const name = textAt(objectAt(namespace, "metadata"), "name");
    const labelled = name === "" ? namespace : addLabels(namespace, "kubernetes.io/metadata.name", name);
    return updateAt(labelled, "status", (status) => fillMissing(status, { phase: "Active" }));
  },
  [`${CORE}NodeStatus`]: (status) =>
    hasObject(status, "capacity") ? fillMissing(status, { allocatable: objectAt(status, "capacity") }) : status,
  [`${CORE}PersistentVolumeClaim`]: (claim) =>
    updateAt(claim, "status", (status) => fillMissing(status, { phase: "Pending" })),
  [`${CORE}PersistentVolumeClaimSpec`]: (spec) => fillMissing(spec, { volumeMode: "Filesystem" }),
  [`${CORE}PersistentVolume`]: (volume) =>
    updateAt(
      updateAt(volume, "spec", (spec) =>
        fillMissing(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }),
      ),
      "status",
      (status) => fillMissing(status, { phase: "Pending" }),
    ),
  [`${CORE}LimitRangeItem`]: limitDefaults,
  [`${CORE}EndpointPort`]: (port) => fillMissing(port, { protocol: "TCP" }),
  [`${CORE}ReplicationController`]: controllerDefaults,
};

function addLabels(object: JsonObject, key: string, value: string): JsonObject {
  return updateAt(object, "metadata", (metadata) =>
    updateAt(metadata, "labels", (labels) => (labels[key] === value ? labels : { ...labels, [key]: value })),
  );
}

/** `stringData` is write-only; it is merged into `data`. */
function withTexts(secret: JsonObject): JsonObject {
  if (!hasObject(secret, "stringData")) return secret;
  const { stringData: _, ...rest } = secret;
  const encoded = textEntries(secret, "stringData").map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return { ...rest, data: { ...objectAt(secret, "data"), ...(Object.fromEntries(encoded) as JsonObject) } };
}

const EXTERNAL: ReadonlySet<string> = new Set(["NodePort", "LoadBalancer"]);

function serviceDefaults(input: JsonObject): JsonObject {
  const spec = withMember(fillMissing(input, { sessionAffinity: "None", type: "ClusterIP" }), "ports", portsOf(input));
  const type = textAt(spec, "type");
  const isExternal = EXTERNAL.has(type) || (type === "ClusterIP" && member(spec, "externalIPs") !== undefined);
  return affinity(
    fillMissing(spec, {
      externalTrafficPolicy: isExternal ? "Cluster" : undefined,
      internalTrafficPolicy: type === "ExternalName" ? undefined : isKnown(type) ? "Cluster" : undefined,
      allocateLoadBalancerNodePorts: type === "LoadBalancer" ? true : undefined,
    }),
  );
}

function isKnown(type: string): boolean {
  return EXTERNAL.has(type) || type === "ClusterIP";
}

function portsOf(spec: JsonObject): readonly JsonObject[] | undefined {
  if (member(spec, "ports") === undefined) return undefined;
  return objectsAt(spec, "ports").map((port) => {
    const target = member(port, "targetPort");
    const isUnset = target === undefined || target === 0 || target === "";
    return fillMissing(isUnset ? withMember(port, "targetPort", port["port"] ?? 0) : port, { protocol: "TCP" });
  });
}

function affinity(spec: JsonObject): JsonObject {
  if (textAt(spec, "sessionAffinity") === "None") return withMember(spec, "sessionAffinityConfig", undefined);
  if (textAt(spec, "sessionAffinity") !== "ClientIP") return spec;
  return fillMissing(spec, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } });
}

/** A container's limits and requests default to each other. */
function limitDefaults(item: JsonObject): JsonObject {
  if (textAt(item, "type") !== "Container") return item;
  const limits = { ...objectAt(item, "max"), ...objectAt(item, "default") };
  const requests = { ...objectAt(item, "min"), ...limits, ...objectAt(item, "defaultRequest") };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

function controllerDefaults(controller: JsonObject): JsonObject {
  const labels = objectAt(controller, "spec", "template", "metadata", "labels");
  const withReplicas = updateAt(controller, "spec", (spec) =>
    fillMissing(spec, { replicas: 1, selector: Object.keys(labels).length === 0 ? undefined : labels }),
  );
  return labelsFromTemplate(withReplicas, labels);
}

/** An object without labels takes those of its template. */
export function labelsFromTemplate(object: JsonObject, labels: JsonObject): JsonObject {
  const hasOwn = Object.keys(objectAt(object, "metadata", "labels")).length > 0;
  if (hasOwn || Object.keys(labels).length === 0) return object;
  return updateAt(object, "metadata", (metadata) => ({ ...metadata, labels }));
}
