import { controllerOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { OWNER_LABEL } from "../../templates/index.ts";

/** The manager of everything that the lifecycle writes. */
export const FIELD_MANAGER = "oprc-crm";

/** Whether the object names the one with this uid as an owner. */
export function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

/**
 * Whether we once applied the object for the class with this owner label, and it names nobody who controls it: somebody took the owner reference
 * off it, and perhaps the label too. Only the server's own copy tells who applied it; caches drop that.
 */
export function isAbandoned(live: Stored<KubeObject>, label: string): boolean {
  const { labels, managedFields } = live.metadata;
  return (
    controllerOf(live) === undefined &&
    [undefined, label].includes(labels?.[OWNER_LABEL]) &&
    (managedFields ?? []).some(
      ({ manager, operation, subresource }) =>
        manager === FIELD_MANAGER && operation === "Apply" && subresource === undefined,
    )
  );
}
