import type { ClusterName } from "../fields/ids.ts";

/** How a cluster is doing, as far as PM can tell. */
export const ClusterStatus = {
  healthy: "healthy",
  degraded: "degraded",
  unhealthy: "unhealthy",
  unknown: "unknown",
} as const;
export type ClusterStatus = (typeof ClusterStatus)[keyof typeof ClusterStatus];

/** One reading of a cluster's health. */
export interface ClusterHealth {
  readonly cluster: ClusterName;
  readonly status: ClusterStatus;
  readonly crmVersion?: string;
  /** RFC 3339; absent when the cluster was never reached. */
  readonly lastSeen?: string;
  readonly nodeCount?: number;
  readonly readyNodes?: number;
  /** Measured share of time up, 0 to 1. */
  readonly availability?: number;
}

/** The probability that a cluster is up: what it measured, else its ready nodes, else unknown. */
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
