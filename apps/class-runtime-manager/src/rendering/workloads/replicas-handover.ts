import { isJsonObject, type KubeObject } from "@oaas/kube-core";
import type { Manifest } from "../model/rendered.ts";

/**
 * The object to apply with another field manager before an autoscaler takes over the replicas of a workload.
 *
 * With an autoscaler, our manifest no longer states replicas. The API server removes a field when its last owner drops
 * it, and a workload without replicas defaults to one: a class of ten pods would scale down to one until the autoscaler
 * runs. A second field owner keeps the number. Returns undefined when nothing has to be handed over, so this costs one
 * write in total. Call it right before applying `rendered`. Without managed fields (a trimmed cache) it hands over to
 * be safe.
 */
export function replicasHandover(rendered: Manifest, live: KubeObject, ourManager: string): Manifest | undefined {
  const { apiVersion, kind, metadata } = rendered;
  const scales = apiVersion === "apps/v1" && (kind === "Deployment" || kind === "StatefulSet");
  const stated = memberOf(memberOf(rendered, "spec"), "replicas");
  const replicas = memberOf(memberOf(live, "spec"), "replicas");
  if (!scales || stated !== undefined || typeof replicas !== "number") return undefined;
  const owners = live.metadata.managedFields?.filter(
    (entry) => memberOf(memberOf(entry.fieldsV1, "f:spec"), "f:replicas") !== undefined,
  );
  const onlyOurs = owners?.every((entry) => entry.manager === ourManager) ?? true;
  if (owners?.length === 0 || !onlyOurs) return undefined;
  const { name = "", namespace = "" } = metadata;
  return { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } };
}

/** A workload that leaves the number of replicas to another writer. */
export function withoutReplicas(workload: Manifest): Manifest {
  const spec = workload["spec"];
  if (!isJsonObject(spec)) return workload;
  const { replicas: _replicas, ...rest } = spec;
  return { ...workload, spec: rest };
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
