import { isJsonObject, type KubeObject } from "@oaas/kube-core";
import type { Manifest } from "../model/rendered.ts";

/**
 * What to apply, under a manager other than our own, before a workload that an autoscaler takes over from us.
 *
 * Where an autoscaler decides, our manifest no longer states replicas. The server drops a field when the last manager that
 * stated it leaves it out, and a workload without replicas has one: a class of ten pods would fall to one until the
 * autoscaler has looked. Stated by somebody else first, the number stays. Undefined when there is nothing to hand over, so
 * that it costs a write once and never again. Meant to be asked right before `rendered` is applied; without managed fields
 * (a trimmed cache) it hands over to be safe.
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

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
