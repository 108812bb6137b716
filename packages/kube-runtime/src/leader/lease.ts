import type { KubeObject, Stored } from "@oaas/kube-core";
import { resourceType } from "../client/resource-type.ts";

/** A Lease of coordination.k8s.io/v1. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** Resource type of Leases. */
export const LEASES = resourceType<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  resource: "leases",
  namespaced: true,
});

/** The lease as its holder writes it: acquired or renewed. Times are informational. */
export function heldLease(
  present: Stored<Lease> | undefined,
  holder: { readonly identity: string; readonly leaseMs: number; readonly nowMs: number },
): Omit<Lease, "metadata"> {
  const now = new Date(holder.nowMs).toISOString().replace("Z", "000Z");
  const isRenewal = present?.spec?.holderIdentity === holder.identity;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: {
      holderIdentity: holder.identity,
      leaseDurationSeconds: holder.leaseMs / 1000,
      acquireTime: isRenewal ? (present.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (present?.spec?.leaseTransitions ?? 0) + (isRenewal || !present ? 0 : 1),
    },
  };
}
