import { formatApiVersion, type JsonObject } from "@oaas/kube-core";
import type { KindRules } from "../kind.ts";
import type { ResourceData } from "./kind-data.ts";
import { decodeAsGo } from "../go/go-types.ts";
import { applyGoDefaults } from "../go/go-defaults.ts";
import { textAt, withMember } from "../json-access.ts";
import { horizontalPodAutoscalers } from "../rules/workloads/autoscalers.ts";
import type { BuiltInRule } from "../rules/built-in-rule.ts";
import * as cluster from "../rules/cluster.ts";
import { configMaps, namespaces, secrets, serviceAccounts } from "../rules/config.ts";
import { events } from "../rules/events.ts";
import { cronJobs, jobs } from "../rules/workloads/jobs.ts";
import { pods } from "../rules/workloads/pods.ts";
import * as policies from "../rules/policies.ts";
import * as access from "../rules/roles.ts";
import { quotaError } from "../rules/quotas/quotas.ts";
import { services } from "../rules/network/services.ts";
import * as storage from "../rules/storage.ts";
import * as workloads from "../rules/workloads/workloads.ts";
import { createKindRules } from "../create-kind-rules.ts";
import { getWriteStrategy } from "./write-strategy.ts";
import { validateMetadata } from "../validation/metadata.ts";

/** Code rules by `group/resource`; kinds that are not listed have only the common rules. */
const RULES: Readonly<Record<string, BuiltInRule>> = {
  "/configmaps": configMaps,
  "/endpoints": cluster.endpoints,
  "/events": events,
  "/limitranges": cluster.limitRanges,
  "/namespaces": namespaces,
  "/nodes": cluster.nodes,
  "/persistentvolumeclaims": storage.persistentVolumeClaims,
  "/persistentvolumes": storage.persistentVolumes,
  "/pods": pods,
  "/podtemplates": workloads.podTemplates,
  "/replicationcontrollers": workloads.replicationControllers,
  "/resourcequotas": cluster.resourceQuotas,
  "/secrets": secrets,
  "/serviceaccounts": serviceAccounts,
  "/services": services,
  "apps/controllerrevisions": workloads.controllerRevisions,
  "apps/daemonsets": workloads.daemonSets,
  "apps/deployments": workloads.deployments,
  "apps/replicasets": workloads.replicaSets,
  "apps/statefulsets": workloads.statefulSets,
  "autoscaling/horizontalpodautoscalers": horizontalPodAutoscalers,
  "batch/cronjobs": cronJobs,
  "batch/jobs": jobs,
  "coordination.k8s.io/leases": cluster.leases,
  "discovery.k8s.io/endpointslices": cluster.endpointSlices,
  "events.k8s.io/events": events,
  "networking.k8s.io/ingressclasses": policies.ingressClasses,
  "networking.k8s.io/ingresses": policies.ingresses,
  "networking.k8s.io/networkpolicies": policies.networkPolicies,
  "policy/poddisruptionbudgets": policies.podDisruptionBudgets,
  "rbac.authorization.k8s.io/clusterrolebindings": access.clusterRoleBindings,
  "rbac.authorization.k8s.io/clusterroles": access.clusterRoles,
  "rbac.authorization.k8s.io/rolebindings": access.roleBindings,
  "rbac.authorization.k8s.io/roles": access.roles,
  "scheduling.k8s.io/priorityclasses": cluster.priorityClasses,
  "storage.k8s.io/storageclasses": storage.storageClasses,
};

/** The code rules of a built-in kind, given all its versions. */
export function builtInRules(versions: readonly ResourceData[]): KindRules {
  const [first] = versions;
  const key = `${first?.group ?? ""}/${first?.resource ?? ""}`;
  const rule = RULES[key] ?? {};
  const { name, keepsStatus = false, errors, prepareCreate, forbiddenReason, ...rest } = rule;
  const schemas = new Map(versions.map((version) => [formatApiVersion(version), version.schema]));
  // The object states its version; the verbs rejected a different one before.
  const schemaOf = (object: JsonObject): string => schemas.get(textAt(object, "apiVersion")) ?? first?.schema ?? "";
  const hasStatus = first?.subresources.some((subresource) => subresource.name === "status") === true;
  const emptyStatus = memoize(() => statusOf(first?.schema ?? ""));
  return createKindRules({
    ...getWriteStrategy(key),
    ...rest,
    isValidatedBySchema: false,
    decode: (object) => decodeAsGo(object, schemaOf(object)),
    applyDefaults: (object) => applyGoDefaults(object, schemaOf(object)),
    prepareCreate(object, context) {
      const fresh = hasStatus && !keepsStatus ? withMember(object, "status", emptyStatus()) : object;
      return prepareCreate === undefined ? fresh : prepareCreate(fresh, context);
    },
    forbiddenReason: (object, context) =>
      forbiddenReason?.(object, context) ?? (first === undefined ? undefined : quotaError(first, object, context)),
    errors: (object) => [
      ...validateMetadata(object, { isCore: true, ...(name === undefined ? {} : { name }) }),
      ...(errors?.(object) ?? []),
    ],
  });
}

/** The initial status of an object of this type. */
function statusOf(schema: string): JsonObject | undefined {
  const empty = decodeAsGo({}, schema);
  const status = empty.ok ? empty.value["status"] : undefined;
  return status as JsonObject | undefined;
}

function memoize<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}
