import { formatQuantity, type JsonObject, type JsonValue, parseQuantity } from "@oaas/kube-core";
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
} from "../json-access.ts";
import type { Defaulter } from "./type-defaults.ts";

const CORE = "io.k8s.api.core.v1.";
const MODE_420 = 420;

/** Defaults of pods and their parts. */
export const podDefaults: Readonly<Record<string, Defaulter>> = {
  [`${CORE}Pod`]: (pod) =>
    updateAt(pod, "spec", (spec) => hostPorts(requestsFromLimits(fillMissing(spec, { enableServiceLinks: true })))),
  [`${CORE}PodSpec`]: (spec) =>
    sameAccount(
      fillMissing(spec, {
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
        schedulerName: "default-scheduler",
      }),
    ),
  [`${CORE}Container`]: containerDefaults,
  [`${CORE}EphemeralContainer`]: containerDefaults,
  [`${CORE}Probe`]: (probe) =>
    fillMissing(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  [`${CORE}HTTPGetAction`]: (action) => fillMissing(action, { path: "/", scheme: "HTTP" }),
  [`${CORE}GRPCAction`]: (action) => fillMissing(action, { service: "" }),
  [`${CORE}ObjectFieldSelector`]: (selector) => fillMissing(selector, { apiVersion: "v1" }),
  [`${CORE}ResourceRequirements`]: (resources) => roundedAt(roundedAt(resources, "limits"), "requests"),
  [`${CORE}Volume`]: (volume) =>
    Object.keys(volume).some((name) => name !== "name") ? volume : { ...volume, emptyDir: {} },
  [`${CORE}ImageVolumeSource`]: (image) => fillMissing(image, { pullPolicy: pullPolicyOf(textAt(image, "reference")) }),
  [`${CORE}SecretVolumeSource`]: (source) => fillMissing(source, { defaultMode: MODE_420 }),
  [`${CORE}ConfigMapVolumeSource`]: (source) => fillMissing(source, { defaultMode: MODE_420 }),
  [`${CORE}DownwardAPIVolumeSource`]: (source) => fillMissing(source, { defaultMode: MODE_420 }),
  [`${CORE}ProjectedVolumeSource`]: (source) => fillMissing(source, { defaultMode: MODE_420 }),
  [`${CORE}ServiceAccountTokenProjection`]: (source) => fillMissing(source, { expirationSeconds: 3600 }),
  [`${CORE}HostPathVolumeSource`]: (source) => fillMissing(source, { type: "" }),
};

function containerDefaults(container: JsonObject): JsonObject {
  return fillMissing(container, {
    imagePullPolicy: pullPolicyOf(textAt(container, "image")),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
}

/** A mutable tag is pulled each time. */
function pullPolicyOf(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const tag = name.includes(":") ? name.slice(name.indexOf(":") + 1) : "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}

/** The service account has an old and a new field with the same meaning. */
function sameAccount(spec: JsonObject): JsonObject {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  return name === "" ? spec : { ...spec, serviceAccountName: name, serviceAccount: name };
}

/** Requests default to limits; only in pods, not in templates. */
function requestsFromLimits(spec: JsonObject): JsonObject {
  return changedContainers(spec, (container) => {
    const resources = objectAt(container, "resources");
    if (!hasObject(resources, "limits")) return container;
    const requests = { ...objectAt(resources, "limits"), ...objectAt(resources, "requests") };
    return withMember(container, "resources", { ...resources, requests });
  });
}

/** On the host network, the container port is the host port. */
function hostPorts(spec: JsonObject): JsonObject {
  if (!isSet(spec, "hostNetwork")) return spec;
  return changedContainers(spec, (container) => {
    if (member(container, "ports") === undefined) return container;
    const ports = objectsAt(container, "ports").map((port) =>
      fillMissing(port, { hostPort: numberAt(port, "containerPort") }),
    );
    return withMember(container, "ports", ports);
  });
}

function changedContainers(spec: JsonObject, change: Defaulter): JsonObject {
  let result = spec;
  for (const name of ["containers", "initContainers"]) {
    if (member(result, name) !== undefined) result = withMember(result, name, objectsAt(result, name).map(change));
  }
  return result;
}

/** Amounts are rounded to thousandths. */
function roundedAt(resources: JsonObject, name: string): JsonObject {
  if (!hasObject(resources, name)) return resources;
  return updateAt(resources, name, (amounts) =>
    Object.fromEntries(Object.entries(amounts).map(([key, amount]) => [key, rounded(amount)])),
  );
}

const MILLI = 1_000_000n;

function rounded(amount: JsonValue): JsonValue {
  const parsed = parseQuantity(typeof amount === "string" ? amount : "");
  if (!parsed.ok || parsed.value.nano % MILLI === 0n) return amount;
  const { nano, format } = parsed.value;
  const up = (nano / MILLI + (nano > 0n ? 1n : 0n)) * MILLI;
  return formatQuantity({ nano: up, format });
}
