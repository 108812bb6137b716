import { controllerOf, type KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient, type ResourceType } from "@oaas/kube-runtime";
import { OWNER_LABEL } from "../../templates/index.ts";

interface Scaler extends KubeObject {
  readonly spec?: { readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string } };
}

const AUTOSCALERS = resourceType<Scaler>({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  namespaced: true,
});

const SCALED_OBJECTS = resourceType<Scaler>({
  group: "keda.sh",
  version: "v1alpha1",
  kind: "ScaledObject",
  resource: "scaledobjects",
  namespaced: true,
});

/** The kinds that the cluster serves now. */
interface Served {
  isServed(kind: Pick<ResourceType<KubeObject>, "group" | "version" | "kind">): boolean;
}

/** Returns the name of a controller outside of the class that scales a workload, such as an autoscaler of a user. */
export type FindForeignScaler = (
  namespace: string,
  workload: { readonly kind: string; readonly name: string },
  signal: AbortSignal,
) => Promise<string | undefined>;

/**
 * Finds an autoscaler or a ScaledObject that is not a child of a class and scales this workload. KEDA scales through an
 * autoscaler, but deletes it while the ScaledObject is paused.
 */
export function createForeignScalerFinder(client: KubeClient, kinds: Served): FindForeignScaler {
  return async (namespace, workload, signal) => {
    const types = [...(kinds.isServed(SCALED_OBJECTS) ? [SCALED_OBJECTS] : []), AUTOSCALERS];
    for (const type of types) {
      const { items } = await client.resource(type).list({ namespace }, { signal });
      const found = items.find((scaler) => isForeign(scaler) && scales(scaler, workload));
      if (found) return `${workload.kind} ${workload.name} is scaled by ${scalerText(type.kind, found)}`;
    }
    return undefined;
  };
}

/** KEDA copies the labels of a ScaledObject to its autoscaler, so that those of our children are not foreign either. */
function isForeign({ metadata }: Scaler): boolean {
  return metadata.labels?.[OWNER_LABEL] === undefined;
}

/** A ScaledObject targets a Deployment unless it states another kind. */
function scales({ spec }: Scaler, { kind, name }: { readonly kind: string; readonly name: string }): boolean {
  const { kind: target = "Deployment", name: targetName } = spec?.scaleTargetRef ?? {};
  return target === kind && targetName === name;
}

function scalerText(kind: string, scaler: Scaler): string {
  const { name, managedFields } = scaler.metadata;
  const controller = controllerOf(scaler);
  const owner = controller && ` of ${controller.kind} ${controller.name}`;
  const manager = managedFields?.find(({ subresource }) => subresource === undefined)?.manager;
  return `${kind} ${name}${owner ?? (manager === undefined ? "" : ` of ${manager}`)}`;
}
