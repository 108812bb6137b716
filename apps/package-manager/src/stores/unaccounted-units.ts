import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { Gauge, Logger, Meter } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { isNewer, isDuplicate, MAX_LISTED, type UnaccountedUnit } from "../records/unaccounted-unit.ts";

const KEY = "o/unaccounted-units";
/** Units beyond this number are left alone too, but not stored. */
const MAX_STORED = 500;

/**
 * The unaccounted units, in the store, so that every process of the installation reports them.
 *
 * *Guarantees*: nothing is written when nothing changed; units of unreachable clusters stay listed.
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
      help: "Units of this installation that are newer than its store, as after a restore of an older backup; /health lists them.",
    });
  }

  /** As last read or recorded. */
  get units(): readonly UnaccountedUnit[] {
    return this.#units;
  }

  /** Reads the units that another process recorded. */
  async refresh(): Promise<void> {
    const entry = await this.#store.get(KEY);
    this.#setUnits(entry === undefined ? [] : (JSON.parse(entry.value) as readonly UnaccountedUnit[]));
  }

  /** The newer units of a deployment. */
  async ofDeployment(key: DeploymentKey): Promise<readonly UnaccountedUnit[]> {
    await this.refresh();
    return this.#units.filter(({ deploymentKey, home }) => deploymentKey === key && home === undefined);
  }

  /** Records the result of a sweep; `unreachable` clusters keep their units. */
  async record(found: readonly UnaccountedUnit[], unreachable: readonly ClusterName[]): Promise<void> {
    await this.refresh();
    const before = this.#units;
    const units = [...before.filter(({ cluster }) => unreachable.includes(cluster)), ...found]
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .slice(0, MAX_STORED);
    if (JSON.stringify(units) === JSON.stringify(before)) return;
    const write =
      units.length === 0
        ? ({ op: "delete", key: KEY } as const)
        : ({ op: "put", key: KEY, value: JSON.stringify(units) } as const);
    await this.#store.commit({ writes: [write] });
    this.#setUnits(units);
    const known = new Set(before.map(nameOf));
    const fresh = units.filter((unit) => !known.has(nameOf(unit)));
    this.#logUnits("found units newer than the store; they are left alone", fresh.filter(isNewer));
    this.#logUnits("found the same units in two clusters; they are left alone", fresh.filter(isDuplicate));
  }

  #logUnits(message: string, units: readonly UnaccountedUnit[]): void {
    if (units.length === 0) return;
    this.#logger.warn(message, { count: units.length, units: units.slice(0, MAX_LISTED).map(nameOf) });
  }

  #setUnits(units: readonly UnaccountedUnit[]): void {
    this.#units = units;
    this.#gauge.set(units.filter(isNewer).length);
  }
}

function nameOf({ cluster, unitId }: UnaccountedUnit): string {
  return `${cluster}/${unitId}`;
}
