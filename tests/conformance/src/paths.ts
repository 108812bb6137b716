/** The API paths of the built-in kinds of the cases. */
const NAMESPACED: Readonly<Record<string, string>> = {
  configmaps: "/api/v1",
  secrets: "/api/v1",
  pods: "/api/v1",
  services: "/api/v1",
  serviceaccounts: "/api/v1",
  persistentvolumeclaims: "/api/v1",
  events: "/api/v1",
  endpoints: "/api/v1",
  replicationcontrollers: "/api/v1",
  resourcequotas: "/api/v1",
  limitranges: "/api/v1",
  deployments: "/apis/apps/v1",
  replicasets: "/apis/apps/v1",
  statefulsets: "/apis/apps/v1",
  daemonsets: "/apis/apps/v1",
  controllerrevisions: "/apis/apps/v1",
  jobs: "/apis/batch/v1",
  cronjobs: "/apis/batch/v1",
  horizontalpodautoscalers: "/apis/autoscaling/v2",
  poddisruptionbudgets: "/apis/policy/v1",
  networkpolicies: "/apis/networking.k8s.io/v1",
  ingresses: "/apis/networking.k8s.io/v1",
  leases: "/apis/coordination.k8s.io/v1",
  endpointslices: "/apis/discovery.k8s.io/v1",
  roles: "/apis/rbac.authorization.k8s.io/v1",
  rolebindings: "/apis/rbac.authorization.k8s.io/v1",
  localsubjectaccessreviews: "/apis/authorization.k8s.io/v1",
};

const OF_THE_CLUSTER: Readonly<Record<string, string>> = {
  namespaces: "/api/v1",
  nodes: "/api/v1",
  persistentvolumes: "/api/v1",
  clusterroles: "/apis/rbac.authorization.k8s.io/v1",
  clusterrolebindings: "/apis/rbac.authorization.k8s.io/v1",
  customresourcedefinitions: "/apis/apiextensions.k8s.io/v1",
  priorityclasses: "/apis/scheduling.k8s.io/v1",
  storageclasses: "/apis/storage.k8s.io/v1",
  selfsubjectaccessreviews: "/apis/authorization.k8s.io/v1",
  selfsubjectrulesreviews: "/apis/authorization.k8s.io/v1",
  subjectaccessreviews: "/apis/authorization.k8s.io/v1",
  selfsubjectreviews: "/apis/authentication.k8s.io/v1",
  tokenreviews: "/apis/authentication.k8s.io/v1",
};

/** The full path of `configmaps/a` or `v2:things/a`; a path with a leading slash is already full. */
export function wholePath(path: string, namespace: string): string {
  if (path.startsWith("/")) return path;
  const [, version = "", rest = ""] = /^(?:(v\w+):)?(.*)$/s.exec(path) ?? [];
  const resource = /^[^/?]*/.exec(rest)?.[0] ?? "";
  if (OF_THE_CLUSTER[resource] !== undefined) return `${OF_THE_CLUSTER[resource]}/${rest}`;
  const root = NAMESPACED[resource] ?? `/apis/${namespace}.test/${version || "v1"}`;
  return `${root}/namespaces/${namespace}/${rest}`;
}
