/** The resources of the real server that the embedded one serves, by group and version. The order has no meaning. */
export const CATALOGUE: Readonly<Record<string, readonly string[]>> = {
  v1: [
    "bindings",
    "configmaps",
    "endpoints",
    "events",
    "limitranges",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "serviceaccounts",
    "services",
  ],
  "admissionregistration.k8s.io/v1": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
  "apps/v1": ["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"],
  "authentication.k8s.io/v1": ["selfsubjectreviews", "tokenreviews"],
  "authorization.k8s.io/v1": [
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ],
  "autoscaling/v2": ["horizontalpodautoscalers"],
  "autoscaling/v1": ["horizontalpodautoscalers"],
  "batch/v1": ["cronjobs", "jobs"],
  "coordination.k8s.io/v1": ["leases"],
  "discovery.k8s.io/v1": ["endpointslices"],
  "events.k8s.io/v1": ["events"],
  "networking.k8s.io/v1": ["ingressclasses", "ingresses", "networkpolicies"],
  "policy/v1": ["poddisruptionbudgets"],
  "rbac.authorization.k8s.io/v1": ["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
  "scheduling.k8s.io/v1": ["priorityclasses"],
  "storage.k8s.io/v1": ["storageclasses"],
};

/** Subresources the embedded server serves, of all resources or of one; the others need a real node (exec, attach …). */
export const SUBRESOURCES: ReadonlySet<string> = new Set([
  "binding",
  "eviction",
  "finalize",
  "pods/log",
  "pods/proxy",
  "resize",
  "scale",
  "services/proxy",
  "status",
  "token",
]);

/** Types that no kind references, but requests and responses use. */
export const EXTRA_SCHEMAS: readonly string[] = [
  "io.k8s.api.authentication.v1.TokenRequest",
  "io.k8s.api.autoscaling.v1.Scale",
  "io.k8s.api.core.v1.Binding",
  "io.k8s.api.policy.v1.Eviction",
  "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
];
