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

/** A unit that this installation owns by name, but that its store does not record in that cluster. */
export interface UnaccountedUnit {
  readonly cluster: ClusterName;
  /** The cluster in which the store records the unit: both are then names of one class runtime manager. */
  readonly home?: ClusterName;
  readonly unitId: UnitId;
  /** Absent if the manager does not report it. */
  readonly namespace?: string;
  readonly deploymentKey?: string;
  readonly revision?: number;
  readonly packageName: string;
  readonly classKey: string;
}

/**
 * A deployment with its unaccounted units as placements, so that they are deleted with it; undefined when neither exists.
 *
 * A deployment that the store has lost is rebuilt from its units, as far as its deletion needs it.
 */
export function adoptUnaccountedUnits(
  key: DeploymentKey,
  known: DeploymentRecord | undefined,
  units: readonly UnaccountedUnit[],
  nowMs: number,
): DeploymentRecord | undefined {
  const [first] = units;
  if (first === undefined) return known;
  const record = known ?? rebuiltRecord(key, first, nowMs);
  const stray: Placements = Object.fromEntries(
    units.map(({ cluster, unitId, namespace }) => [
      cluster,
      { unitId, ...(namespace === undefined ? {} : { namespace }), state: "leaving", accepted: false },
    ]),
  );
  return {
    ...record,
    unitRevision: Math.max(record.unitRevision, ...units.map(({ revision = 0 }) => revision)),
    placements: { ...stray, ...record.placements },
  };
}

function rebuiltRecord(
  key: DeploymentKey,
  { packageName, classKey }: UnaccountedUnit,
  nowMs: number,
): DeploymentRecord {
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

/** Units or clusters that a log or a warning lists by name. */
export const MAX_LISTED = 5;

/** Warnings for operators, with the action to take. */
export function unaccountedWarnings(units: readonly UnaccountedUnit[]): readonly string[] {
  return [...newerWarning(units.filter(isNewer)), ...duplicateWarning(units.filter(isDuplicate))];
}

function newerWarning(units: readonly UnaccountedUnit[]): readonly string[] {
  if (units.length === 0) return [];
  const places = Map.groupBy(units, ({ deploymentKey, unitId }) => deploymentKey ?? unitId);
  const named = [...places]
    .slice(0, MAX_LISTED)
    .map(([name, at]) => `"${name}" in ${at.map(({ cluster }) => cluster).join(", ")}`);
  const more = places.size > MAX_LISTED ? `; and ${places.size - MAX_LISTED} more` : "";
  return [
    `clusters run units that are newer than this store, as after a restore of an older backup: ${named.join("; ")}${more}. ` +
      "They keep running: apply these deployments again to keep them, or delete them",
  ];
}

function duplicateWarning(units: readonly UnaccountedUnit[]): readonly string[] {
  const pairs = new Set(units.map(({ cluster, home }) => `"${cluster}" and "${home}"`));
  return [...pairs]
    .slice(0, MAX_LISTED)
    .map(
      (pair) =>
        `clusters ${pair} report the same units, like two names of one class runtime manager. ` +
        "Remove one of the two or correct its address; until then no unit is removed in either",
    );
}

export function isDuplicate({ home }: UnaccountedUnit): boolean {
  return home !== undefined;
}

export function isNewer(unit: UnaccountedUnit): boolean {
  return !isDuplicate(unit);
}
