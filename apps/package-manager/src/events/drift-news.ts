import { driftCorrectionToWire } from "@oaas/contracts/rest";
import type { ClusterName, DriftCorrection, UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";

/** Finds the corrections in reports that were not in an earlier report of the same unit. */
export class DriftNews {
  /** Time of the newest known correction, by cluster and unit; only of units with corrections. */
  readonly #newest = new Map<string, string>();

  /** The new corrections, oldest first, in the form of the API with a sentence. */
  news(cluster: ClusterName, { unitId, runtime }: UnitReport): readonly object[] {
    const corrections = runtime.status?.driftCorrections ?? [];
    const [newest] = corrections.map(({ lastAt }) => lastAt).toSorted((a, b) => (a > b ? -1 : 1));
    if (newest === undefined) return [];
    const id = idOf(cluster, unitId);
    const known = this.#newest.get(id) ?? "";
    this.#newest.set(id, newest);
    return corrections
      .filter(({ lastAt }) => lastAt > known)
      .toSorted((a, b) => (a.lastAt < b.lastAt ? -1 : 1))
      .map((one) => driftEvent(cluster, one));
  }

  forget(cluster: ClusterName, unitId: UnitId): void {
    this.#newest.delete(idOf(cluster, unitId));
  }
}

/** The object of an event about a correction. */
export function driftEvent(cluster: ClusterName, correction: DriftCorrection): object {
  return { reason: "DriftCorrected", cluster, ...driftCorrectionToWire(correction) };
}

function idOf(cluster: ClusterName, unitId: UnitId): string {
  return `${cluster}/${unitId}`;
}
