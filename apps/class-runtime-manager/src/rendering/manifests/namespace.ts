import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import type { Manifest } from "../model/rendered.ts";

/** The value of the label `app.kubernetes.io/managed-by` of every object that the manager creates. */
const MANAGER = "oprc-crm";

const MANAGED = { "app.kubernetes.io/managed-by": MANAGER } as const;

/** Whether the manager created the namespace, so that it may apply limits to it. */
export function isManagedNamespace({ labels = {} }: { readonly labels?: Readonly<Record<string, string>> }): boolean {
  return labels["app.kubernetes.io/managed-by"] === MANAGER;
}

/** A namespace for classes. All rendered pods satisfy the pod security standard `restricted`. */
export function renderNamespace(name: string): Manifest {
  const modes = ["enforce", "audit", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]);
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { ...MANAGED, ...Object.fromEntries(modes) } },
  };
}

/** The kinds of the limits of a namespace, and the name of the object of each kind. */
export const NAMESPACE_LIMITS = {
  ResourceQuota: "oaas-environment",
  LimitRange: "oaas-environment",
  NetworkPolicy: "oaas-default-deny",
} as const;

/** The limits that an environment sets on the namespace of its classes. They belong to no single class. */
export function renderNamespaceLimits(
  namespace: string,
  environment: EnvironmentConfigSpec | undefined,
): readonly Manifest[] {
  const { quotas, network_policy: policy, odgm } = environment ?? {};
  const limit = (apiVersion: string, kind: keyof typeof NAMESPACE_LIMITS, spec: object): Manifest => ({
    apiVersion,
    kind,
    metadata: { name: NAMESPACE_LIMITS[kind], namespace, labels: MANAGED },
    spec,
  });
  // The manager checks max_classes itself: a count in the quota rejects classes until a controller has counted them.
  const hard = definedEntries({
    "requests.cpu": quotas?.cpu,
    "requests.memory": quotas?.memory,
    "requests.storage": quotas?.storage,
  });
  const { cpu, memory } = odgm?.container_resources.function.requests ?? {};
  // A quota of requests rejects pods without them, such as pods with sidecars that state none.
  const defaultRequest = definedEntries({
    cpu: quotas?.cpu === undefined ? undefined : cpu,
    memory: quotas?.memory === undefined ? undefined : memory,
  });
  return [
    ...(hard === undefined ? [] : [limit("v1", "ResourceQuota", { hard })]),
    ...(defaultRequest === undefined
      ? []
      : [limit("v1", "LimitRange", { limits: [{ type: "Container", defaultRequest }] })]),
    // The network policies of classes allow what their functions and state stores need.
    ...(policy?.enabled === true
      ? [limit("networking.k8s.io/v1", "NetworkPolicy", { podSelector: {}, policyTypes: ["Ingress"] })]
      : []),
  ];
}

function definedEntries(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
