import { equalJson, type Clock } from "@oaas/foundation";
import type { ClusterName, UnitId } from "@oaas/models";
import type { RuntimeChange, UnitReport } from "../ports.ts";

/** A report and when it was heard. */
export interface ObservedUnit {
  readonly report: UnitReport;
  /** Epoch milliseconds. */
  readonly observedAtMs: number;
}

/**
 * How well a cluster is known. live: it tells every change by itself. polled: it is asked now and then. unknown: nothing can be relied on, because
 * it never told all it has, cannot be reached, or has more than is kept.
 */
export type SyncState = "live" | "polled" | "unknown";

/** Told of every change that is one. */
export type RuntimeListener = (cluster: ClusterName, change: RuntimeChange) => void;

interface ClusterUnits {
  units: Map<UnitId, ObservedUnit>;
  /** Told in the account that is under way. */
  fresh: Map<UnitId, ObservedUnit> | undefined;
  sorted: UnitReport[] | undefined;
  how: "live" | "polled";
  complete: boolean;
  overflow: boolean;
  heardAtMs: number;
  error: string | undefined;
}

/** Units of one cluster that are kept. */
const MOST_UNITS = 50_000;

/**
 * What clusters last said about their units, in memory.
 *
 * *Guarantees*: bounded; a change that changes nothing is not told; after a whole account, what was not in it is told as removed; when a
 * cluster is lost its units stay as they were last heard of, and are no longer called live.
 */
export class RuntimeView {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #accounts = new Map<ClusterName, ClusterUnits>();
  readonly #listeners = new Set<RuntimeListener>();

  constructor(clock: Clock, most: number = MOST_UNITS) {
    this.#clock = clock;
    this.#most = most;
  }

  /** The answer ends it. */
  onChange(listener: RuntimeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  syncState(cluster: ClusterName): SyncState {
    const account = this.#accounts.get(cluster);
    if (account === undefined || !account.complete || account.overflow || account.error !== undefined) return "unknown";
    return account.how;
  }

  /** Why the cluster is not followed at the moment. */
  syncError(cluster: ClusterName): string | undefined {
    return this.#accounts.get(cluster)?.error;
  }

  get(cluster: ClusterName, unitId: UnitId): ObservedUnit | undefined {
    return this.#accounts.get(cluster)?.units.get(unitId);
  }

  /** Everything last heard of a cluster, in no order. */
  unitsOf(cluster: ClusterName): Iterable<ObservedUnit> {
    return this.#accounts.get(cluster)?.units.values() ?? [];
  }

  /** The same, by unit id; sorted once and kept until something changes. */
  reportsOf(cluster: ClusterName): readonly UnitReport[] {
    const account = this.#accounts.get(cluster);
    if (account === undefined) return [];
    account.sorted ??= [...account.units.values()]
      .map(({ report }) => report)
      .sort((a, b) => (a.unitId < b.unitId ? -1 : 1));
    return account.sorted;
  }

  /** Takes in one change that a cluster told. */
  apply(cluster: ClusterName, change: RuntimeChange, how: "live" | "polled"): void {
    const account = this.#of(cluster);
    account.how = how;
    account.heardAtMs = this.#clock.now();
    account.error = undefined;
    switch (change.type) {
      case "syncing":
        account.fresh = new Map();
        account.overflow = false;
        return;
      case "changed":
        return this.#put(cluster, account, change.report);
      case "removed":
        account.fresh?.delete(change.unitId);
        return this.#remove(cluster, account, change.unitId);
      case "synced":
        return this.#synced(cluster, account);
      case "alive":
        return;
    }
  }

  /** Takes in a report that came by itself, outside any account. False when what is known is as new or newer. */
  report(cluster: ClusterName, report: UnitReport): boolean {
    const account = this.#of(cluster);
    const known = account.units.get(report.unitId)?.report;
    if (known !== undefined && known.runtime.updatedAt > report.runtime.updatedAt) return false;
    this.#put(cluster, account, report);
    return true;
  }

  /** The cluster cannot be heard any more. */
  markLost(cluster: ClusterName, error: string): void {
    const account = this.#of(cluster);
    account.error = error;
    account.fresh = undefined;
  }

  /** The cluster is none of ours any more. */
  forget(cluster: ClusterName): void {
    const account = this.#accounts.get(cluster);
    this.#accounts.delete(cluster);
    for (const unitId of account?.units.keys() ?? []) this.#tell(cluster, { type: "removed", unitId });
  }

  #of(cluster: ClusterName): ClusterUnits {
    const account = this.#accounts.get(cluster) ?? {
      units: new Map(),
      fresh: undefined,
      sorted: undefined,
      how: "polled",
      complete: false,
      overflow: false,
      heardAtMs: this.#clock.now(),
      error: undefined,
    };
    this.#accounts.set(cluster, account);
    return account;
  }

  #put(cluster: ClusterName, account: ClusterUnits, report: UnitReport): void {
    const observed = { report, observedAtMs: this.#clock.now() };
    const before = account.units.get(report.unitId);
    if (before === undefined && account.units.size >= this.#most) {
      account.overflow = true;
      return;
    }
    account.fresh?.set(report.unitId, observed);
    account.units.set(report.unitId, observed);
    account.sorted = undefined;
    if (before === undefined || !isSameReport(before.report, report)) this.#tell(cluster, { type: "changed", report });
  }

  #remove(cluster: ClusterName, account: ClusterUnits, unitId: UnitId): void {
    if (!account.units.delete(unitId)) return;
    account.sorted = undefined;
    this.#tell(cluster, { type: "removed", unitId });
  }

  #synced(cluster: ClusterName, account: ClusterUnits): void {
    const { fresh } = account;
    if (fresh !== undefined) {
      for (const unitId of account.units.keys()) {
        if (!fresh.has(unitId)) this.#remove(cluster, account, unitId);
      }
    }
    account.fresh = undefined;
    account.complete = true;
    this.#tell(cluster, { type: "synced" });
  }

  #tell(cluster: ClusterName, change: RuntimeChange): void {
    for (const listener of this.#listeners) listener(cluster, change);
  }
}

/** Whether two reports say the same. The Rust manager dates every answer anew, which is no news. */
function isSameReport(a: UnitReport, b: UnitReport): boolean {
  return equalJson(undated(a), undated(b));
}

function undated({ runtime, ...rest }: UnitReport): unknown {
  const { updatedAt: _updatedAt, status, ...facts } = runtime;
  const { lastUpdated: _lastUpdated, ...state } = status ?? { lastUpdated: "" };
  return { ...rest, runtime: facts, state };
}
