import type { JsonObject } from "@oaas/kube-core";
import { numberAt, objectAt, textAt, textsAt } from "../json-access.ts";
import type { KindRules } from "../kind.ts";

/** How verbs treat built-in kinds where the real server differs between them; by `group/resource`. */
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
const NEVER_UNCONDITIONAL: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "coordination.k8s.io/leases",
  "policy/poddisruptionbudgets",
]);
const RETURNED_WHEN_DELETED: ReadonlySet<string> = new Set([
  "/namespaces",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/podtemplates",
  "/resourcequotas",
  "/serviceaccounts",
  "/services",
  "storage.k8s.io/storageclasses",
]);

const CHECKED_AGAIN: ReadonlySet<string> = new Set([
  "/configmaps",
  "/endpoints",
  "/namespaces",
  "/secrets",
  "/serviceaccounts",
  "networking.k8s.io/ingressclasses",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/roles",
]);
/** Kinds whose dependents are orphaned by default: from before garbage collection. */
const ORPHANS_BY_DEFAULT: ReadonlySet<string> = new Set(["/replicationcontrollers", "batch/jobs"]);
const ALL_BUT_MANAGERS = ["labels", "annotations", "finalizers", "ownerReferences"];

/** Metadata that a status write cannot change, where it can change the rest. */
const KEPT_BY_STATUS: Readonly<Record<string, KindRules["keptByStatus"]>> = {
  "/pods": ["ownerReferences"],
  "admissionregistration.k8s.io/validatingadmissionpolicies": ALL_BUT_MANAGERS,
  "apps/deployments": ["labels"],
  "flowcontrol.apiserver.k8s.io/flowschemas": "all",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": "all",
  "networking.k8s.io/servicecidrs": ALL_BUT_MANAGERS,
  "resource.k8s.io/resourceclaims": ALL_BUT_MANAGERS,
  "storage.k8s.io/volumeattachments": ALL_BUT_MANAGERS,
};

type WriteStrategy = Pick<
  KindRules,
  | "allowsUnconditionalUpdate"
  | "createsOnUpdate"
  | "returnsDeletedObject"
  | "isValidatedTwice"
  | "keptByStatus"
  | "orphansByDefault"
  | "keepsNewStatus"
  | "isGraceful"
> &
  Partial<Pick<KindRules, "graceSeconds" | "isHeld" | "markForDeletion">>;

/** Write and delete behaviour of a built-in kind. */
export function getWriteStrategy(kind: string): WriteStrategy {
  return {
    allowsUnconditionalUpdate: !NEVER_UNCONDITIONAL.has(kind),
    createsOnUpdate: CREATED_ON_UPDATE.has(kind),
    returnsDeletedObject: RETURNED_WHEN_DELETED.has(kind),
    isValidatedTwice: CHECKED_AGAIN.has(kind),
    keptByStatus: KEPT_BY_STATUS[kind] ?? [],
    orphansByDefault: ORPHANS_BY_DEFAULT.has(kind),
    keepsNewStatus: kind === "/nodes",
    isGraceful: kind === "/pods",
    ...(kind === "/pods" ? { graceSeconds: getPodGracePeriod } : {}),
    ...(kind === "/namespaces" ? { isHeld: hasFinalizers, markForDeletion: markTerminating } : {}),
  };
}

/** An unassigned or finished pod is deleted at once. */
function getPodGracePeriod(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, "spec");
  const isOver = ["Succeeded", "Failed"].includes(textAt(objectAt(pod, "status"), "phase"));
  if (textAt(spec, "nodeName") === "" || isOver) return 0;
  return Math.max(requested ?? numberAt(spec, "terminationGracePeriodSeconds") ?? 0, 0);
}

function hasFinalizers(namespace: JsonObject): boolean {
  return textsAt(objectAt(namespace, "spec"), "finalizers").length > 0;
}

function markTerminating(namespace: JsonObject): JsonObject {
  return { ...namespace, status: { ...objectAt(namespace, "status"), phase: "Terminating" } };
}
