import {
  GROUP,
  VERSION,
  type ClassRuntime,
  type DeploymentRecord,
  type DeploymentTemplate,
  type EnvironmentConfig,
} from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { metadataOf, resourceType, type ResourceType } from "@oaas/kube-runtime";
import type { EventObject, Node, Pod, Workload } from "../../lifecycle/observation/observed-objects.ts";

const ours = { group: GROUP, version: VERSION, namespaced: true } as const;

export const CLASS_RUNTIMES = resourceType<ClassRuntime & KubeObject>({
  ...ours,
  kind: "ClassRuntime",
  resource: "classruntimes",
});
export const DEPLOYMENT_RECORDS = resourceType<DeploymentRecord & KubeObject>({
  ...ours,
  kind: "DeploymentRecord",
  resource: "deploymentrecords",
});
export const DEPLOYMENT_TEMPLATES = resourceType<DeploymentTemplate & KubeObject>({
  ...ours,
  kind: "DeploymentTemplate",
  resource: "deploymenttemplates",
});
export const ENVIRONMENT_CONFIGS = resourceType<EnvironmentConfig & KubeObject>({
  ...ours,
  kind: "EnvironmentConfig",
  resource: "environmentconfigs",
});

export const PODS = resourceType<Pod>({ group: "", version: "v1", kind: "Pod", resource: "pods", namespaced: true });
export const REPLICA_SETS = resourceType<Workload>({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  resource: "replicasets",
  namespaced: true,
});
export const NODES = resourceType<Node>({
  group: "",
  version: "v1",
  kind: "Node",
  resource: "nodes",
  namespaced: false,
});
export const CORE_EVENTS = resourceType<EventObject>({
  group: "",
  version: "v1",
  kind: "Event",
  resource: "events",
  namespaced: true,
});

/** A kind of child object. */
export type ChildKind = ResourceType<KubeObject>;

const child = (group: string, version: string, kind: string, resource: string): ChildKind =>
  resourceType<KubeObject>({ group, version, kind, resource, namespaced: true });

/** Kinds that every cluster serves. */
export const CORE_CHILD_KINDS: readonly ChildKind[] = [
  child("", "v1", "ConfigMap", "configmaps"),
  child("", "v1", "Service", "services"),
  child("apps", "v1", "Deployment", "deployments"),
  child("apps", "v1", "StatefulSet", "statefulsets"),
  child("apps", "v1", "DaemonSet", "daemonsets"),
  child("batch", "v1", "Job", "jobs"),
  child("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
  child("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  child("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
  // Only user templates use these.
  child("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  child("", "v1", "ServiceAccount", "serviceaccounts"),
  child("networking.k8s.io", "v1", "Ingress", "ingresses"),
];

/** Kinds of other projects, used when the cluster serves them. */
export const OPTIONAL_CHILD_KINDS: readonly ChildKind[] = [
  child("serving.knative.dev", "v1", "Service", "services"),
  child("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
  child("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors"),
  // Only user templates use these.
  child("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"),
  child("http.keda.sh", "v1alpha1", "HTTPScaledObject", "httpscaledobjects"),
];

/** Only the metadata: the controllers need to know whether a definition exists. */
export const CUSTOM_RESOURCE_DEFINITIONS = metadataOf(
  resourceType<KubeObject>({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    resource: "customresourcedefinitions",
    namespaced: false,
  }),
);

/** The name of the CustomResourceDefinition of a kind. */
export function crdNameOf({ group, resource }: ChildKind): string {
  return `${resource}.${group}`;
}
