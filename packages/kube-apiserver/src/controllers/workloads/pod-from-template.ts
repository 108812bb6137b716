import { type KubeObject, type ObjectMeta, ownerReferenceTo, type Stored } from "@oaas/kube-core";
import type { WriteEvents } from "../loop/decision.ts";
import { typed } from "../objects/cluster-view.ts";
import type { Pod, PodTemplate } from "../objects/typed.ts";

/** A pod of this template, controlled by its owner. Without a name the server generates one with the owner's prefix. */
export function createPodFromTemplate(
  owner: Stored<KubeObject>,
  template: PodTemplate,
  more: Partial<ObjectMeta> = {},
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { namespace } = owner.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...(more.name === undefined ? { generateName: `${owner.metadata.name}-` } : {}),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [ownerReferenceTo(owner)],
      ...more,
    },
    spec: template.spec ?? {},
  };
}

/** Events of ReplicaSets, DaemonSets and Jobs about a pod. */
export function creationEvents(owner: KubeObject): WriteEvents {
  return {
    done: (pod) => ({
      about: owner,
      type: "Normal",
      reason: "SuccessfulCreate",
      message: `Created pod: ${typed(pod).metadata.name}`,
    }),
    failed: (status) => ({
      about: owner,
      type: "Warning",
      reason: "FailedCreate",
      message: `Error creating: ${status.message ?? ""}`,
    }),
  };
}

export function deletionEvents(owner: KubeObject, pod: KubeObject): WriteEvents {
  return {
    done: () => ({
      about: owner,
      type: "Normal",
      reason: "SuccessfulDelete",
      message: `Deleted pod: ${pod.metadata.name}`,
    }),
    failed: (status) => ({
      about: owner,
      type: "Warning",
      reason: "FailedDelete",
      message: `Error deleting: ${status.message ?? ""}`,
    }),
  };
}
