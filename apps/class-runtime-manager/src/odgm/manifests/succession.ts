import { isJsonObject, type KubeObject } from "@oaas/kube-core";
import type { Manifest } from "../../rendering/model/rendered.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";

/** How rendered workloads follow the running ones. */
export interface Succession {
  /** Rendered workloads to apply. */
  readonly applied: readonly Manifest[];
  /** Running workloads that stay as they are. */
  readonly held: readonly KubeObject[];
  /** Running workloads that are deleted first. */
  readonly replaced: readonly KubeObject[];
}

/**
 * A running workload that cannot become the rendered one in place, such as a Deployment of an earlier version, is
 * replaced only when the class allows it: all its pods stop, and their objects are lost.
 */
export function succeedWorkloads(input: RenderInput, rendered: readonly Manifest[]): Succession {
  const running = input.storeWorkloads ?? [];
  const { allow_restart: mayRestart, allow_layout_change: mayChange } = input.spec.odgm_config ?? {};
  const blocking = running.filter((live) => {
    if (live.kind !== "StatefulSet") return true;
    const next = rendered.find(({ metadata }) => metadata.name === live.metadata.name);
    return next !== undefined && isReplacement(live, next);
  });
  if (mayRestart === true || mayChange === true) return { applied: rendered, held: [], replaced: blocking };
  if (blocking.some(({ kind }) => kind !== "StatefulSet")) return { applied: [], held: running, replaced: [] };
  const names = new Set(blocking.map(({ metadata }) => metadata.name));
  return { applied: rendered.filter(({ metadata }) => !names.has(metadata.name)), held: blocking, replaced: [] };
}

/** Whether a field differs that Kubernetes does not let change. */
function isReplacement(live: KubeObject, next: Manifest): boolean {
  const [before, after] = [specOf(live), specOf(next)];
  return (
    before["serviceName"] !== after["serviceName"] ||
    before["podManagementPolicy"] !== after["podManagementPolicy"] ||
    textOf(labelsOf(before)) !== textOf(labelsOf(after)) ||
    textOf(claimsOf(before, after)) !== textOf(claimsOf(after, after))
  );
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return objectOf(objectOf(object)["spec"]);
}

function labelsOf(spec: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(objectOf(objectOf(spec["selector"])["matchLabels"])).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The stated fields of volume claims; the server adds defaults. */
function claimsOf(
  spec: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const isClassStated = listOf(next["volumeClaimTemplates"]).some(
    (claim) => objectOf(objectOf(claim)["spec"])["storageClassName"] !== undefined,
  );
  return listOf(spec["volumeClaimTemplates"]).map((claim) => {
    const { accessModes, storageClassName, resources } = objectOf(objectOf(claim)["spec"]);
    const size = objectOf(objectOf(resources)["requests"])["storage"];
    return [accessModes, size, isClassStated ? storageClassName : undefined];
  });
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
