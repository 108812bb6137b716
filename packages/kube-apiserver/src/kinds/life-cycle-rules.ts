import { isJsonArray, isJsonObject, type JsonObject } from "@oaas/kube-core";
import type { Kind, KindRules } from "./kind.ts";

/** Kinds whose updates must name the version they are based on; found by asking the real server. */
const NEEDS_VERSION: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices",
  "coordination.k8s.io/leases",
  "node.k8s.io/runtimeclasses",
  "policy/poddisruptionbudgets",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/volumeattachments",
]);

/** Kinds that an update makes when they are not there. */
const CREATED_ON_UPDATE: ReadonlySet<string> = new Set([
  "/endpoints",
  "/events",
  "/limitranges",
  "/services",
  "coordination.k8s.io/leases",
  "events.k8s.io/events",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/roles",
]);

/** Kinds whose deletion is answered with the object. */
const ANSWERED_WITH_OBJECT: ReadonlySet<string> = new Set([
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/podtemplates",
  "/replicationcontrollers",
  "/resourcequotas",
  "/serviceaccounts",
  "/services",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
]);

/** Kinds whose dependents stay when nothing is said: from before there was garbage collection. */
const ORPHANS_BY_DEFAULT: ReadonlySet<string> = new Set(["/replicationcontrollers", "batch/jobs"]);

const OWN: Readonly<Record<string, Partial<KindRules>>> = {
  "/namespaces": {
    isHeld: (namespace) => textsAt(objectAt(namespace, "spec"), "finalizers").length > 0,
    markedForDeletion: (namespace) => ({
      ...namespace,
      status: { ...objectAt(namespace, "status"), phase: "Terminating" },
    }),
  },
  "/nodes": { keepsNewStatus: true },
  "/pods": { isGraceful: true, graceSeconds: podGrace },
};

/** How long a pod has to end: what the deletion says, or the pod; none when nothing of it can be running. */
function podGrace(pod: JsonObject, asked: number | undefined): number {
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const node = spec["nodeName"];
  const isOver = status["phase"] === "Succeeded" || status["phase"] === "Failed";
  if (isOver || typeof node !== "string" || node === "") return 0;
  const own = spec["terminationGracePeriodSeconds"];
  return asked ?? (typeof own === "number" ? own : 30);
}

/** Built-in kinds with what they do at the beginning and the end of their objects' lives. */
export function withLifeCycleRules(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.map((kind) => {
    const { rules } = kind;
    if (rules.isValidatedBySchema) return kind;
    const name = `${kind.group}/${kind.resource}`;
    const own: Partial<KindRules> = {
      allowsUnconditionalUpdate: !NEEDS_VERSION.has(name),
      createsOnUpdate: CREATED_ON_UPDATE.has(name),
      answersDeletedObject: ANSWERED_WITH_OBJECT.has(name),
      orphansByDefault: ORPHANS_BY_DEFAULT.has(name),
      ...OWN[name],
    };
    return { ...kind, rules: { ...rules, ...own } };
  });
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

function textsAt(object: JsonObject, name: string): readonly unknown[] {
  const value = object[name];
  return isJsonArray(value) ? value : [];
}
