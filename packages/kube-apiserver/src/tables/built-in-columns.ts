import type { JsonObject } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { horizontalPodAutoscalers } from "../kinds/rules/workloads/autoscalers.ts";
import { events } from "../kinds/rules/events.ts";
import { autoscalerColumns } from "./autoscaler-cells.ts";
import * as cluster from "./cluster-cells.ts";
import * as network from "./network-cells.ts";
import { podColumns } from "./pod-cells.ts";
import * as workload from "./workload-cells.ts";

const inVersion =
  (rule: typeof events, apiVersion: string) =>
  (object: JsonObject): JsonObject =>
    rule.convert?.(object, apiVersion) ?? object;

const eventColumns = cluster.eventColumns(inVersion(events, "v1"));

/** The columns of `kubectl get` by `group/resource`; others show name and creation time. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  "/configmaps": cluster.configMapColumns,
  "/endpoints": network.endpointsColumns,
  "/events": eventColumns,
  "/limitranges": cluster.createdColumns,
  "/namespaces": cluster.namespaceColumns,
  "/nodes": cluster.nodeColumns,
  "/persistentvolumeclaims": cluster.claimColumns,
  "/persistentvolumes": cluster.volumeColumns,
  "/pods": podColumns,
  "/podtemplates": workload.podTemplateColumns,
  "/replicationcontrollers": workload.replicationControllerColumns,
  "/resourcequotas": cluster.quotaColumns,
  "/secrets": cluster.secretColumns,
  "/serviceaccounts": cluster.nameAndAge,
  "/services": network.serviceColumns,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": cluster.webhookColumns,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": cluster.webhookColumns,
  "apps/controllerrevisions": workload.controllerRevisionColumns,
  "apps/daemonsets": workload.daemonSetColumns,
  "apps/deployments": workload.deploymentColumns,
  "apps/replicasets": workload.replicaSetColumns,
  "apps/statefulsets": workload.statefulSetColumns,
  "autoscaling/horizontalpodautoscalers": autoscalerColumns(inVersion(horizontalPodAutoscalers, "autoscaling/v2")),
  "batch/cronjobs": workload.cronJobColumns,
  "batch/jobs": workload.jobColumns,
  "coordination.k8s.io/leases": cluster.leaseColumns,
  "discovery.k8s.io/endpointslices": network.endpointSliceColumns,
  "events.k8s.io/events": eventColumns,
  "networking.k8s.io/ingressclasses": network.ingressClassColumns,
  "networking.k8s.io/ingresses": network.ingressColumns,
  "networking.k8s.io/networkpolicies": network.networkPolicyColumns,
  "policy/poddisruptionbudgets": cluster.budgetColumns,
  "rbac.authorization.k8s.io/clusterrolebindings": cluster.bindingColumns,
  "rbac.authorization.k8s.io/rolebindings": cluster.bindingColumns,
  "scheduling.k8s.io/priorityclasses": cluster.priorityColumns,
  "storage.k8s.io/storageclasses": cluster.storageClassColumns,
};

/** The columns of a built-in kind. */
export function builtInColumns({
  group,
  resource,
}: {
  readonly group: string;
  readonly resource: string;
}): readonly Column[] {
  return COLUMNS[`${group}/${resource}`] ?? cluster.createdColumns;
}
