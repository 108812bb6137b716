import { isJsonObject } from "@oaas/kube-core";
import { parseText } from "./language.ts";
import type { RawManifest } from "./validate.ts";

/** Placeholders of the number of replicas that the class or enforcement chose. */
const FOLLOWING: ReadonlySet<string> = new Set(["function.replicas", "function.min_scale"]);
/** Placeholder of the maximum that the class or enforcement chose. */
const MAXIMUM: ReadonlySet<string> = new Set(["function.max_scale"]);
const MIN_SCALES = ["autoscaling.knative.dev/minScale", "autoscaling.knative.dev/min-scale"];

/**
 * Why enforcement cannot choose the replicas of a template: it states a number of its own. Undefined when the number is
 * left out or is a placeholder.
 */
export function fixedReplicasReason(
  id: string,
  manifests: readonly RawManifest[],
  workload: string,
): string | undefined {
  const autoscaler = manifests.find(({ kind }) => kind === "HorizontalPodAutoscaler");
  if (autoscaler !== undefined) {
    const minimum = memberOf(autoscaler, "spec", "minReplicas");
    return isFollowing(minimum)
      ? undefined
      : reasonText(id, minimum === undefined ? "does not state" : "fixes", "minReplicas of its autoscaler");
  }
  const object = manifests.find(({ apiVersion, kind }) => `${apiVersion}/${kind}` === workload);
  if (object === undefined) return undefined;
  const annotations = memberOf(object, "spec", "template", "metadata", "annotations");
  const [field, stated] = workload.startsWith("serving.knative.dev/")
    ? ([
        "the minimum scale",
        MIN_SCALES.map((name) => memberOf(annotations, name)).find((one) => one !== undefined),
      ] as const)
    : (["replicas", memberOf(object, "spec", "replicas")] as const);
  return stated === undefined || isFollowing(stated) ? undefined : reasonText(id, "fixes", field);
}

/** Whether the maximum of the autoscaler is the one of the class. */
export function followsMaximum(manifests: readonly RawManifest[]): boolean {
  const autoscaler = manifests.find(({ kind }) => kind === "HorizontalPodAutoscaler");
  return isPlaceholder(memberOf(autoscaler, "spec", "maxReplicas"), MAXIMUM);
}

function reasonText(id: string, verb: string, field: string): string {
  return `template ${id} ${verb} ${field}; {{ function.replicas }} lets enforcement choose it`;
}

function isFollowing(value: unknown): boolean {
  return isPlaceholder(value, FOLLOWING);
}

/** Whether a value is one of these placeholders and nothing else. */
function isPlaceholder(value: unknown, paths: ReadonlySet<string>): boolean {
  const pieces = typeof value === "string" ? parseText(value) : undefined;
  if (pieces?.ok !== true || pieces.value.length !== 1) return false;
  const [only] = pieces.value;
  return typeof only === "object" && paths.has(only.path.join("."));
}

function memberOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isJsonObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
}
