import { equalJson, type Clock } from "@oaas/foundation";
import type { ClusterName, UnitId } from "@oaas/models";
import type { RuntimeChange, UnitReport } from "../ports.ts";
import { UnitTable, type UnitAddress } from "../records/unit-table.ts";

/** A report and the time it was received. */
export interface ObservedUnit {
  readonly report: UnitReport;
  /** Epoch milliseconds. */
  readonly observedAtMs: number;
}

/**
 * How current the known units of a cluster are. live: followed by watch. polled: listed periodically. unknown: incomplete,
 * because the first list is not finished, the cluster is unreachable, or it has too many units.
 */
export type SyncState = "live" | "polled" | "unknown";

export type RuntimeListener = (cluster: ClusterName, change: RuntimeChange) => void;

interface ClusterUnits {
  units: UnitTable<ObservedUnit>;
  /** Units of the list in progress. */
  listed: UnitTable<ObservedUnit> | undefined;
  sorted: UnitReport[] | undefined;
  mode: "live" | "polled";
  complete: boolean;
  overflow: boolean;
  error: string | undefined;
}

/** Maximum units per cluster. */
const MAX_UNITS = 50_000;

/**
 * The last known units of all clusters, in memory.
 *
 * *Guarantees*: memory is bounded; listeners get only effective changes; after a complete list, missing units are reported
 * as removed; the units of a lost cluster keep their last known state and are not live.
 */
export class RuntimeView {
  readonly #clock: Clock;
  readonly #maxUnits: number;
  readonly #clusters = new Map<ClusterName, ClusterUnits>();
  readonly #listeners = new Set<RuntimeListener>();
  #version = 0;

  constructor(clock: Clock, maxUnits: number = MAX_UNITS) {
    this.#clock = clock;
    this.#maxUnits = maxUnits;
  }

  /** Returns the function that unsubscribes the listener. */
  onChange(listener: RuntimeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes with every change of a unit or of a cluster. */
  get version(): number {
    return this.#version;
  }

  syncState(cluster: ClusterName): SyncState {
    const state = this.#clusters.get(cluster);
    if (state === undefined || !state.complete || state.overflow || state.error !== undefined) return "unknown";
    return state.mode;
  }

  /** Why the cluster is not followed; undefined if it is. */
  syncError(cluster: ClusterName): string | undefined {
    return this.#clusters.get(cluster)?.error;
  }

  /** Without a namespace, any unit with the id. */
  get(cluster: ClusterName, unitId: UnitId, namespace?: string): ObservedUnit | undefined {
    return this.#clusters.get(cluster)?.units.get(unitId, namespace);
  }

  /** The last known units of a cluster, unordered. */
  unitsOf(cluster: ClusterName): Iterable<ObservedUnit> {
    return this.#clusters.get(cluster)?.units.values() ?? [];
  }

  /** The last known reports of a cluster by unit id; cached until a change. */
  reportsOf(cluster: ClusterName): readonly UnitReport[] {
    const state = this.#clusters.get(cluster);
    if (state === undefined) return [];
    state.sorted ??= [...state.units.values()]
      .map(({ report }) => report)
      .sort((a, b) => (a.unitId < b.unitId ? -1 : 1));
    return state.sorted;
  }

  /** Applies a change of a watch or list. */
  apply(cluster: ClusterName, change: RuntimeChange, mode: "live" | "polled"): void {
    if (change.type !== "alive") this.#version += 1;
    const state = this.#stateOf(cluster);
    state.mode = mode;
    state.error = undefined;
    switch (change.type) {
      case "syncing":
        state.listed = newTable();
        state.overflow = false;
        return;
      case "changed":
        return this.#put(cluster, state, change.report);
      case "removed":
        state.listed?.delete(change);
        return this.#remove(cluster, state, change);
      case "synced":
        return this.#synced(cluster, state);
      case "alive":
        return;
    }
  }

  /** Applies a pushed report. Returns false if a newer one is known. */
  applyReport(cluster: ClusterName, report: UnitReport): boolean {
    const state = this.#stateOf(cluster);
    const known = state.units.find(report)?.report;
    if (known !== undefined && known.runtime.updatedAt > report.runtime.updatedAt) return false;
    this.#version += 1;
    this.#put(cluster, state, report);
    return true;
  }

  /** Marks a cluster as not followed. */
  markLost(cluster: ClusterName, error: string): void {
    this.#version += 1;
    const state = this.#stateOf(cluster);
    state.error = error;
    state.listed = undefined;
  }

  /** Removes a cluster that is not registered any more. */
  forget(cluster: ClusterName): void {
    this.#version += 1;
    const state = this.#clusters.get(cluster);
    this.#clusters.delete(cluster);
    for (const { report } of state?.units.values() ?? []) this.#notify(cluster, removalOf(report));
  }

  #stateOf(cluster: ClusterName): ClusterUnits {
    const state = this.#clusters.get(cluster) ?? {
      units: newTable(),
      listed: undefined,
      sorted: undefined,
      mode: "polled",
      complete: false,
      overflow: false,
      error: undefined,
    };
    this.#clusters.set(cluster, state);
    return state;
  }

  #put(cluster: ClusterName, state: ClusterUnits, report: UnitReport): void {
    const observed = { report, observedAtMs: this.#clock.now() };
    const before = state.units.find(report);
    if (before === undefined && state.units.size >= this.#maxUnits) {
      state.overflow = true;
      return;
    }
    state.listed?.set(observed);
    state.units.set(observed);
    state.sorted = undefined;
    if (before === undefined || !isSameReport(before.report, report))
      this.#notify(cluster, { type: "changed", report });
  }

  #remove(cluster: ClusterName, state: ClusterUnits, address: UnitAddress): void {
    if (!state.units.delete(address)) return;
    state.sorted = undefined;
    this.#notify(cluster, removalOf(address));
  }

  #synced(cluster: ClusterName, state: ClusterUnits): void {
    const { listed } = state;
    if (listed !== undefined) {
      const gone = [...state.units.values()].filter(({ report }) => !listed.has(report));
      for (const { report } of gone) this.#remove(cluster, state, report);
    }
    state.listed = undefined;
    state.complete = true;
    this.#notify(cluster, { type: "synced" });
  }

  #notify(cluster: ClusterName, change: RuntimeChange): void {
    for (const listener of this.#listeners) listener(cluster, change);
  }
}

function newTable(): UnitTable<ObservedUnit> {
  return new UnitTable(({ report }) => report);
}

function removalOf({ unitId, namespace }: UnitAddress): RuntimeChange {
  return { type: "removed", unitId, ...(namespace === undefined ? {} : { namespace }) };
}

/** Compares reports without timestamps, because the Rust manager changes them with every response. */
function isSameReport(a: UnitReport, b: UnitReport): boolean {
  return equalJson(withoutTimestamps(a), withoutTimestamps(b));
}

function withoutTimestamps({ runtime, ...rest }: UnitReport): unknown {
  const { updatedAt: _updatedAt, status, ...facts } = runtime;
  const { lastUpdated: _lastUpdated, ...state } = status ?? { lastUpdated: "" };
  return { ...rest, runtime: facts, state };
}
