import type { ReplanBudget } from "@oaas/models";
import type { AutomaticChanges } from "./replan-record.ts";

/** Limits of automatic changes. */
export interface ReplanSettings {
  /** How long a cluster must be lost (`REPLAN_CLUSTER_LOST`). */
  readonly clusterLostMs: number;
  /** The shortest time between two automatic changes of a deployment (`REPLAN_MIN_INTERVAL`). */
  readonly minIntervalMs: number;
  /** Automatic changes per hour of one deployment (`REPLAN_DEPLOYMENT_BUDGET`). */
  readonly deploymentBudget: number;
  /** Automatic changes per hour of all deployments (`REPLAN_BUDGET`). */
  readonly platformBudget: number;
}

export const HOUR_MS = 3_600_000;

/** The automatic changes of the last hour, and their limits. */
export function budgetOf(
  owner: string,
  { changes }: AutomaticChanges,
  settings: ReplanSettings,
  nowMs: number,
): ReplanBudget {
  const recent = changes.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
  return {
    deploymentUsed: recent.filter((change) => change.owner === owner).length,
    deploymentLimit: settings.deploymentBudget,
    platformUsed: recent.length,
    platformLimit: settings.platformBudget,
  };
}

/**
 * The changes with a new one, without those that no limit counts any more: of those older than an hour, only the newest of a
 * deployment counts, for the minimum interval. The record is one value of the store.
 */
export function withChange(
  { changes }: AutomaticChanges,
  change: AutomaticChanges["changes"][number],
  { minIntervalMs }: ReplanSettings,
): AutomaticChanges {
  const hasNewer = new Set([change.owner]);
  const kept = changes.toReversed().filter(({ owner, atMs }) => {
    const isNewest = !hasNewer.has(owner);
    hasNewer.add(owner);
    return atMs > change.atMs - HOUR_MS || (isNewest && atMs > change.atMs - minIntervalMs);
  });
  return { changes: [...kept.toReversed(), change] };
}
