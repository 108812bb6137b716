import type { JsonObject } from "@oaas/kube-core";
import { updateAt, fillMissing, hasObject, member, objectsAt, textAt, withMember } from "../json-access.ts";
import type { Defaulter } from "./type-defaults.ts";

const RBAC = "rbac.authorization.k8s.io";
const HPA = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";
const HOOKS = "io.k8s.api.admissionregistration.v1.";

/** Defaults of autoscalers, policies, access, classes and definitions. */
export const adminDefaults: Readonly<Record<string, Defaulter>> = {
  [HPA]: (spec) => changedBehavior(fillMissing(spec, { minReplicas: 1, metrics: [AVERAGE_CPU] })),
  "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec": (spec) => fillMissing(spec, { minReplicas: 1 }),
  "io.k8s.api.networking.v1.NetworkPolicySpec": (spec) =>
    fillMissing(spec, { policyTypes: member(spec, "egress") === undefined ? ["Ingress"] : ["Ingress", "Egress"] }),
  "io.k8s.api.networking.v1.NetworkPolicyPort": (port) => fillMissing(port, { protocol: "TCP" }),
  "io.k8s.api.networking.v1.IngressClassParametersReference": (parameters) =>
    fillMissing(parameters, { scope: "Cluster" }),
  "io.k8s.api.rbac.v1.RoleRef": groupOf,
  "io.k8s.api.rbac.v1.Subject": (subject) =>
    textAt(subject, "kind") === "User" || textAt(subject, "kind") === "Group" ? groupOf(subject) : subject,
  "io.k8s.api.storage.v1.StorageClass": (storage) =>
    fillMissing(storage, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "io.k8s.api.discovery.v1.EndpointPort": (port) => fillMissing(port, { name: "", protocol: "TCP" }),
  "io.k8s.api.scheduling.v1.PriorityClass": (priority) =>
    fillMissing(priority, { preemptionPolicy: "PreemptLowerPriority" }),
  [`${HOOKS}ValidatingWebhook`]: webhookDefaults,
  [`${HOOKS}MutatingWebhook`]: (hook) => fillMissing(webhookDefaults(hook), { reinvocationPolicy: "Never" }),
  [`${HOOKS}RuleWithOperations`]: (rule) => fillMissing(rule, { scope: "*" }),
  [`${HOOKS}ServiceReference`]: (service) => fillMissing(service, { port: 443 }),
  [`${EXTENSIONS}CustomResourceDefinition`]: definitionDefaults,
  [`${EXTENSIONS}CustomResourceDefinitionSpec`]: (spec) => fillMissing(spec, { conversion: { strategy: "None" } }),
  [`${EXTENSIONS}CustomResourceDefinitionNames`]: (names) => {
    const kind = textAt(names, "kind");
    return kind === "" ? names : fillMissing(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  },
  [`${EXTENSIONS}ServiceReference`]: (service) => fillMissing(service, { port: 443 }),
};

const AVERAGE_CPU: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: JsonObject = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

function changedBehavior(spec: JsonObject): JsonObject {
  if (!hasObject(spec, "behavior")) return spec;
  return updateAt(spec, "behavior", (behavior) =>
    updateAt(
      updateAt(behavior, "scaleUp", (rules) => fillMissing(rules, SCALE_UP)),
      "scaleDown",
      (rules) => fillMissing(rules, SCALE_DOWN),
    ),
  );
}

function groupOf(reference: JsonObject): JsonObject {
  return textAt(reference, "apiGroup") === "" ? withMember(reference, "apiGroup", RBAC) : reference;
}

function webhookDefaults(hook: JsonObject): JsonObject {
  return fillMissing(hook, {
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });
}

/** A new definition stores its objects in its storage version. */
function definitionDefaults(definition: JsonObject): JsonObject {
  const versions = hasObject(definition, "spec") ? objectsAt(definition["spec"] as JsonObject, "versions") : [];
  const stored = versions.find((version) => member(version, "storage") === true);
  if (stored === undefined) return definition;
  return updateAt(definition, "status", (status) => fillMissing(status, { storedVersions: [textAt(stored, "name")] }));
}
