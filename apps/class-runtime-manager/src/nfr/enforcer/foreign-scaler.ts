import { controllerOf, type KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { OWNER_LABEL } from "../../templates/index.ts";
import type { EnforcerOptions } from "./enforcer.ts";

interface Autoscaler extends KubeObject {
  readonly spec?: { readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string } };
}

const AUTOSCALERS = resourceType<Autoscaler>({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  namespaced: true,
});

/**
 * Finds an autoscaler that is not a child of a class and scales this workload. KEDA scales through an autoscaler too,
 * whose controller is the ScaledObject.
 */
export function createForeignScalerFinder(client: KubeClient): EnforcerOptions["findForeignScaler"] {
  return async (namespace, workload, signal) => {
    const { items } = await client.resource(AUTOSCALERS).list({ namespace }, { signal });
    const found = items.find(
      ({ metadata, spec }) =>
        metadata.labels?.[OWNER_LABEL] === undefined &&
        spec?.scaleTargetRef?.kind === workload.kind &&
        spec.scaleTargetRef.name === workload.name,
    );
    return found && `${workload.kind} ${workload.name} is scaled by ${scalerText(found)}`;
  };
}

function scalerText(autoscaler: Autoscaler): string {
  const { name, managedFields } = autoscaler.metadata;
  const controller = controllerOf(autoscaler);
  const owner = controller && ` of ${controller.kind} ${controller.name}`;
  const manager = managedFields?.find(({ subresource }) => subresource === undefined)?.manager;
  return `HorizontalPodAutoscaler ${name}${owner ?? (manager === undefined ? "" : ` of ${manager}`)}`;
}
