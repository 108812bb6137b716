import type { KubeObject } from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";

/** A kind as controllers write it: its path and its type. */
export interface Resource extends ResourceName {
  readonly apiVersion: string;
  readonly kind: string;
}

function resource(apiVersion: string, kind: string, plural: string): Resource {
  const [group, version] = apiVersion.split("/");
  return { group: version === undefined ? "" : (group ?? ""), resource: plural, apiVersion, kind };
}

export const NAMESPACES = resource("v1", "Namespace", "namespaces");
export const NODES = resource("v1", "Node", "nodes");
export const PODS = resource("v1", "Pod", "pods");
export const SERVICES = resource("v1", "Service", "services");
export const ENDPOINTS = resource("v1", "Endpoints", "endpoints");
export const EVENTS = resource("v1", "Event", "events");
export const CONFIG_MAPS = resource("v1", "ConfigMap", "configmaps");
export const SERVICE_ACCOUNTS = resource("v1", "ServiceAccount", "serviceaccounts");
export const CLAIMS = resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
export const VOLUMES = resource("v1", "PersistentVolume", "persistentvolumes");
export const QUOTAS = resource("v1", "ResourceQuota", "resourcequotas");
export const DEPLOYMENTS = resource("apps/v1", "Deployment", "deployments");
export const REPLICA_SETS = resource("apps/v1", "ReplicaSet", "replicasets");
export const STATEFUL_SETS = resource("apps/v1", "StatefulSet", "statefulsets");
export const DAEMON_SETS = resource("apps/v1", "DaemonSet", "daemonsets");
export const REVISIONS = resource("apps/v1", "ControllerRevision", "controllerrevisions");
export const JOBS = resource("batch/v1", "Job", "jobs");
export const CRON_JOBS = resource("batch/v1", "CronJob", "cronjobs");
export const ENDPOINT_SLICES = resource("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
export const BUDGETS = resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
export const AUTOSCALERS = resource("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
export const CLUSTER_ROLES = resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
export const KNATIVE_SERVICES = resource("serving.knative.dev/v1", "Service", "services");
export const KNATIVE_CONFIGURATIONS = resource("serving.knative.dev/v1", "Configuration", "configurations");
export const KNATIVE_REVISIONS = resource("serving.knative.dev/v1", "Revision", "revisions");
export const KNATIVE_ROUTES = resource("serving.knative.dev/v1", "Route", "routes");

/** A string per kind, for lookup tables. */
export function resourceKey({ group, resource }: ResourceName): string {
  return `${group}/${resource}`;
}

/** `default/web`; cluster-scoped objects are `/node-0`. The key of every loop here. */
export function objectKey(namespace: string | undefined, name: string | undefined): string {
  return `${namespace ?? ""}/${name ?? ""}`;
}

/** The key of an object in the queues of controllers. */
export function keyOf({ metadata }: KubeObject): string {
  return objectKey(metadata.namespace, metadata.name);
}

export function nameOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
