import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { Gauge, Logger, Meter } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { isNewer, isDuplicate, MAX_LISTED, type UnaccountedUnit } from "../records/unaccounted-unit.ts";

const KEY = "o/unaccounted-units";
/** More are left alone just the same, only not listed. */
const MOST_KEPT = 500;

/**
 * The units that nobody can account for, in the store, so that every process of the installation tells of them.
 *
 * *Guarantees*: nothing is written when nothing changed; units of clusters that could not be asked stay listed.
 */
export class UnaccountedUnits {
  readonly #store: KeyValueStore;
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  #units: readonly UnaccountedUnit[] = [];

  constructor(options: { readonly store: KeyValueStore; readonly logger: Logger; readonly meter: Meter }) {
    this.#store = options.store;
    this.#logger = options.logger;
    this.#gauge = options.meter.gauge({
      name: "pm_units_unaccounted",
      help: "Units that bear the name of this installation and are newer than its store, as after a restore of an older backup; /health names them.",
    });
  }

  /** As last read or noted. */
  get units(): readonly UnaccountedUnit[] {
    return this.#units;
  }

  /** Takes over what another process noted. */
  async refresh(): Promise<void> {
    const entry = await this.#store.get(KEY);
    this.#take(entry === undefined ? [] : (JSON.parse(entry.value) as readonly UnaccountedUnit[]));
  }

  /** Those of a deployment. */
  async ofDeployment(key: DeploymentKey): Promise<readonly UnaccountedUnit[]> {
    await this.refresh();
    return this.#units.filter(({ deploymentKey, home }) => deploymentKey === key && home === undefined);
  }

  /** Notes what a look at the clusters found. */
  async record(found: readonly UnaccountedUnit[], away: readonly ClusterName[]): Promise<void> {
    await this.refresh();
    const before = this.#units;
    const units = [...before.filter(({ cluster }) => away.includes(cluster)), ...found]
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .slice(0, MOST_KEPT);
    if (JSON.stringify(units) === JSON.stringify(before)) return;
    const write =
      units.length === 0
        ? ({ op: "delete", key: KEY } as const)
        : ({ op: "put", key: KEY, value: JSON.stringify(units) } as const);
    await this.#store.commit({ writes: [write] });
    this.#take(units);
    const known = new Set(before.map(nameOf));
    const fresh = units.filter((unit) => !known.has(nameOf(unit)));
    this.#tell(
      "units of ours are newer than anything our store knows; they are left as they are",
      fresh.filter(isNewer),
    );
    this.#tell(
      "two clusters have the same units, as two names of one would; they are left as they are",
      fresh.filter(isDuplicate),
    );
  }

  #tell(message: string, units: readonly UnaccountedUnit[]): void {
    if (units.length === 0) return;
    this.#logger.warn(message, { count: units.length, units: units.slice(0, MAX_LISTED).map(nameOf) });
  }

  #take(units: readonly UnaccountedUnit[]): void {
    this.#units = units;
    this.#gauge.set(units.filter(isNewer).length);
  }
}

function nameOf({ cluster, unitId }: UnaccountedUnit): string {
  return `${cluster}/${unitId}`;
}
