import { timestamp } from "@oaas/foundation";
import { DeploymentCondition, type ClassKey, type DeploymentKey, type PackageName } from "@oaas/models";
import type { DeploymentRecord, Placements } from "./deployment-record.ts";
import type { UnaccountedUnit } from "../stores/unaccounted-units.ts";

/**
 * A deployment with the units of it that clusters have beyond what the store knows, so that they are deleted with it; undefined when
 * there is nothing of it anywhere. Of one that the store has lost there is only what its units say of it: enough to delete it.
 */
export function claimed(
  key: DeploymentKey,
  known: DeploymentRecord | undefined,
  units: readonly UnaccountedUnit[],
  nowMs: number,
): DeploymentRecord | undefined {
  const [first] = units;
  if (first === undefined) return known;
  const record = known ?? lost(key, first, nowMs);
  const stray: Placements = Object.fromEntries(
    units.map(({ cluster, unitId }) => [cluster, { unitId, state: "leaving", accepted: false }]),
  );
  return {
    ...record,
    unitRevision: Math.max(record.unitRevision, ...units.map(({ revision = 0 }) => revision)),
    placements: { ...stray, ...record.placements },
  };
}

function lost(key: DeploymentKey, { packageName, classKey }: UnaccountedUnit, nowMs: number): DeploymentRecord {
  const now = timestamp(nowMs);
  return {
    deployment: {
      key,
      packageName: packageName as PackageName,
      classKey: classKey as ClassKey,
      targetClusters: [],
      availableClusters: [],
      nfr: {},
      clusterTemplates: {},
      functions: [],
      allowBestEffort: false,
    },
    revision: 0,
    unitRevision: 0,
    placements: {},
    condition: DeploymentCondition.down,
    summary: { replicationFactor: 0, selectedClusters: [] },
    createdAt: now,
    updatedAt: now,
  };
}
