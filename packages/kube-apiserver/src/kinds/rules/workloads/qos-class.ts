import type { JsonObject } from "@oaas/kube-core";
import { objectAt, objectsAt } from "../../json-access.ts";
import { parseAmount } from "../../validation/resources.ts";

const QOS_RESOURCES = ["cpu", "memory"] as const;

/**
 * Guaranteed when requests equal limits for cpu and memory in every container; BestEffort when nothing is requested.
 */
export function computeQosClass(spec: JsonObject): string {
  const resources = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")].map((container) =>
    objectAt(container, "resources"),
  );
  const hasNoResources = resources.every((each) =>
    QOS_RESOURCES.every((name) => !isSpecified(each, "requests", name) && !isSpecified(each, "limits", name)),
  );
  if (hasNoResources) return "BestEffort";
  const isGuaranteed = resources.every((each) =>
    QOS_RESOURCES.every((name) => {
      const [limit, request] = [
        parseAmount(objectAt(each, "limits")[name]),
        parseAmount(objectAt(each, "requests")[name]),
      ];
      return limit !== undefined && limit.nano > 0n && request?.nano === limit.nano;
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function isSpecified(resources: JsonObject, part: string, name: string): boolean {
  return (parseAmount(objectAt(resources, part)[name])?.nano ?? 0n) > 0n;
}
