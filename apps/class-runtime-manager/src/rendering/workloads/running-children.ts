import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { FUNCTION_CONTAINER } from "../manifests/pod.ts";
import type { FunctionResources, Manifest, RenderedFunction } from "../model/rendered.ts";

/** The children with the resources of running pods, as quotas count them: pods may be resized in place. */
export function runningChildren(
  children: readonly Manifest[],
  functions: readonly RenderedFunction[],
): readonly Manifest[] {
  return children.map((child) => {
    const fn = functions.find(
      ({ workload }) =>
        workload?.kind === child.kind &&
        workload.apiVersion === child.apiVersion &&
        workload.name === child.metadata.name,
    );
    return fn?.resources === undefined || fn.resources.running === fn.resources.template
      ? child
      : withResources(child, fn.resources.running);
  });
}

function withResources(child: Manifest, resources: FunctionResources["running"]): Manifest {
  const spec = objectOf(child["spec"]);
  const template = objectOf(spec["template"]);
  const pod = objectOf(template["spec"]);
  const listed: readonly unknown[] = Array.isArray(pod["containers"]) ? pod["containers"] : [];
  const containers = listed.map((container) =>
    isJsonObject(container) && container["name"] === FUNCTION_CONTAINER ? { ...container, resources } : container,
  );
  return { ...child, spec: { ...spec, template: { ...template, spec: { ...pod, containers } } } };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
