import type { ClusterName } from "../fields/ids.ts";

/** Health of a cluster as PM observes it. */
export const ClusterStatus = {
  healthy: "healthy",
  degraded: "degraded",
  unhealthy: "unhealthy",
  unknown: "unknown",
} as const;
export type ClusterStatus = (typeof ClusterStatus)[keyof typeof ClusterStatus];

/** One health reading of a cluster. */
export interface ClusterHealth {
  readonly cluster: ClusterName;
  readonly status: ClusterStatus;
  readonly crmVersion?: string;
  /** RFC 3339; undefined if the cluster was never reached. */
  readonly lastSeen?: string;
  readonly nodeCount?: number;
  readonly readyNodes?: number;
  /** Measured availability, 0 to 1. */
  readonly availability?: number;
}

/** Returns the availability of a cluster: measured, else the share of ready nodes, else undefined. */
export function clusterAvailability(
  health: Pick<ClusterHealth, "availability" | "nodeCount" | "readyNodes">,
): number | undefined {
  if (health.availability !== undefined) return clamped(health.availability);
  if (health.readyNodes === undefined || !health.nodeCount) return undefined;
  return clamped(health.readyNodes / health.nodeCount);
}

function clamped(share: number): number | undefined {
  return Number.isNaN(share) ? undefined : Math.min(1, Math.max(0, share));
}
