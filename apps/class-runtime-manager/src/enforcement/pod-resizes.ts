import { compareQuantities, equalJson, isBeingDeleted, parseQuantity } from "@oaas/kube-core";
import type { ObservedResources, Pod } from "../lifecycle/observation/observed-objects.ts";
import { FUNCTION_LABEL, labelValue } from "../rendering/manifests/labels.ts";
import { FUNCTION_CONTAINER } from "../rendering/manifests/pod.ts";
import type { ContainerResources, RenderedFunction } from "../rendering/model/rendered.ts";

/*
 * CPU and memory of running pods change in place, by the pod subresource `resize`. The pod template keeps the values of
 * the spec: another template would replace all pods, which is what a resize avoids. A pod that is created later starts
 * with the template and is resized as soon as it appears.
 */

/** Owner of the resources of resized pods. */
export const RESIZE_FIELD_MANAGER = "oprc-crm-enforcer";

/** A change of a running pod. */
export interface PodResize {
  readonly functionKey: string;
  readonly pod: Pod;
  /** To apply to the subresource `resize`. The uid protects a later pod of the same name. */
  readonly manifest: Pod;
}

/**
 * The changes that give running pods their resources. Pods are left alone while enforcement chose nothing for their
 * function, unless we resized them before: then they return to the resources of the template.
 */
export function planPodResizes(functions: readonly RenderedFunction[], pods: readonly Pod[]): readonly PodResize[] {
  return functions.flatMap(({ functionKey, resources }) => {
    if (resources === undefined) return [];
    const isEnforced = !equalJson(resources.running, resources.template);
    return podsOfFunction(functionKey, pods)
      .filter((pod) => isRunning(pod) && (isEnforced || isResizedByUs(pod)))
      .filter((pod) => !hasResources(functionResources(pod), resources.running))
      .map((pod) => ({ functionKey, pod, manifest: resizeManifest(pod, resources.running) }));
  });
}

/** The pods of a function, by name. */
export function podsOfFunction(functionKey: string, pods: readonly Pod[]): readonly Pod[] {
  const label = labelValue(functionKey);
  return pods
    .filter(({ metadata }) => metadata.labels?.[FUNCTION_LABEL] === label)
    .toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

/** The resources of the function container in the spec of a pod. */
function functionResources({ spec }: Pod): ObservedResources | undefined {
  return spec?.containers?.find(({ name }) => name === FUNCTION_CONTAINER)?.resources;
}

/** The resources of the function container that are in effect. */
export function effectiveResources({ status }: Pod): ObservedResources | undefined {
  return status?.containerStatuses?.find(({ name }) => name === FUNCTION_CONTAINER)?.resources;
}

/** Why the node of a pod refused a resize or could not carry it out. One that is only deferred may still succeed. */
export function infeasibleResize({ metadata, status }: Pod): string | undefined {
  const found = status?.conditions?.find(
    (condition) =>
      condition.status === "True" &&
      ((condition.type === "PodResizePending" && condition.reason === "Infeasible") ||
        (condition.type === "PodResizeInProgress" && condition.reason === "Error")),
  );
  if (found === undefined) return undefined;
  return `Pod ${metadata.name} cannot be resized: ${found.message ?? found.reason ?? "the node refused it"}`;
}

function isRunning(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return !isBeingDeleted(pod) && phase !== "Succeeded" && phase !== "Failed" && functionResources(pod) !== undefined;
}

function isResizedByUs({ metadata }: Pod): boolean {
  return metadata.managedFields?.some(({ manager }) => manager === RESIZE_FIELD_MANAGER) ?? false;
}

function hasResources(live: ObservedResources | undefined, wanted: ContainerResources): boolean {
  return (["requests", "limits"] as const).every((bound) =>
    Object.entries(wanted[bound]).every(([name, amount]) => isSameAmount(live?.[bound]?.[name], amount)),
  );
}

/** The server normalizes quantities. */
function isSameAmount(a: string | number | undefined, b: string): boolean {
  const [left, right] = [a === undefined ? undefined : parseQuantity(a), parseQuantity(b)];
  return left?.ok === true && right.ok && compareQuantities(left.value, right.value) === 0;
}

function resizeManifest({ metadata }: Pod, resources: ContainerResources): Pod {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: { containers: [{ name: FUNCTION_CONTAINER, resources }] },
  } as Pod;
}
