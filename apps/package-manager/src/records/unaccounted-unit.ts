import { timestamp } from "@oaas/foundation";
import {
  DeploymentCondition,
  type ClassKey,
  type ClusterName,
  type DeploymentKey,
  type PackageName,
  type UnitId,
} from "@oaas/models";
import type { DeploymentRecord, Placements } from "./deployment-record.ts";

/** A unit that bears the name of this installation, and of which its store does not know that it is there. */
export interface UnaccountedUnit {
  readonly cluster: ClusterName;
  /** Where the store knows it to be: then both are names of one class runtime manager. */
  readonly home?: ClusterName;
  readonly unitId: UnitId;
  readonly deploymentKey?: string;
  readonly revision?: number;
  readonly packageName: string;
  readonly classKey: string;
}

/**
 * A deployment with the units of it that clusters have beyond what the store knows, so that they are deleted with it; undefined when
 * there is nothing of it anywhere. Of one that the store has lost there is only what its units say of it: enough to delete it.
 */
export function adoptUnaccountedUnits(
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

export const MAX_LISTED = 5;

/** What is to be done about them, in sentences; none when there are none. */
export function unaccountedWarnings(units: readonly UnaccountedUnit[]): readonly string[] {
  return [...newerWarning(units.filter(isNewer)), ...twinWarning(units.filter(isDuplicate))];
}

function newerWarning(units: readonly UnaccountedUnit[]): readonly string[] {
  if (units.length === 0) return [];
  const places = Map.groupBy(units, ({ deploymentKey, unitId }) => deploymentKey ?? unitId);
  const named = [...places]
    .slice(0, MAX_LISTED)
    .map(([name, at]) => `"${name}" in ${at.map(({ cluster }) => cluster).join(", ")}`);
  const more = places.size > MAX_LISTED ? `; and ${places.size - MAX_LISTED} more` : "";
  return [
    `clusters run what is newer than this store, as after a restore of an older backup: ${named.join("; ")}${more}. ` +
      "It is left running: apply these deployments again to keep them, or delete them",
  ];
}

function twinWarning(units: readonly UnaccountedUnit[]): readonly string[] {
  const pairs = new Set(units.map(({ cluster, home }) => `"${cluster}" and "${home}"`));
  return [...pairs]
    .slice(0, MAX_LISTED)
    .map(
      (pair) =>
        `clusters ${pair} have the same units, as two names of one class runtime manager would. ` +
        "Remove one of the two, or correct its address; until then nothing is taken away under either name",
    );
}

export function isDuplicate({ home }: UnaccountedUnit): boolean {
  return home !== undefined;
}

export function isNewer(unit: UnaccountedUnit): boolean {
  return !isDuplicate(unit);
}
