import { controllerOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { OWNER_LABEL } from "../../templates/index.ts";

/** Field manager of everything the controllers write. */
export const FIELD_MANAGER = "oprc-crm";

/** Whether the object has an owner reference to this uid. */
export function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

/**
 * Whether the object is an orphan of the class with this owner label: we applied it, and its owner reference (and
 * perhaps the label) was removed. Needs the server's copy, since caches drop the managed fields.
 */
export function isOrphaned(live: Stored<KubeObject>, label: string): boolean {
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
