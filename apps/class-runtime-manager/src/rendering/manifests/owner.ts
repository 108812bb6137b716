import type { OwnerReference } from "@oaas/kube-core";
import type { Owner } from "../model/rendered.ts";

/** The reference by which a child names its class: the garbage collector and our watches follow it. */
export function ownerReference({ apiVersion, kind, name, uid }: Owner): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
