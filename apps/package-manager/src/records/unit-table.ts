import type { UnitId } from "@oaas/models";

/** A unit in a cluster. Two owners may use one id in different namespaces. */
export interface UnitAddress {
  readonly unitId: UnitId;
  /** Absent if the manager does not report it. */
  readonly namespace?: string | undefined;
}

/** The units of one cluster, by id and namespace. Almost every id has one unit. */
export class UnitTable<T> {
  readonly #addressOf: (item: T) => UnitAddress;
  readonly #units = new Map<UnitId, readonly T[]>();
  #size = 0;

  constructor(addressOf: (item: T) => UnitAddress, items: Iterable<T> = []) {
    this.#addressOf = addressOf;
    for (const item of items) this.set(item);
  }

  get size(): number {
    return this.#size;
  }

  /** The unit in the namespace, else one without a reported namespace. Without a namespace, any unit with the id. */
  get(unitId: UnitId, namespace?: string): T | undefined {
    const found = this.#units.get(unitId);
    if (found === undefined || namespace === undefined) return found?.[0];
    return (
      found.find((item) => this.#addressOf(item).namespace === namespace) ??
      found.find((item) => this.#addressOf(item).namespace === undefined)
    );
  }

  has(address: UnitAddress): boolean {
    return this.find(address) !== undefined;
  }

  /** The unit with exactly this address. */
  find({ unitId, namespace }: UnitAddress): T | undefined {
    return this.#units.get(unitId)?.find((item) => this.#addressOf(item).namespace === namespace);
  }

  set(item: T): void {
    const address = this.#addressOf(item);
    const others = this.#others(address);
    if (others.length === (this.#units.get(address.unitId)?.length ?? 0)) this.#size += 1;
    this.#units.set(address.unitId, [...others, item]);
  }

  /** Whether there was such a unit. */
  delete(address: UnitAddress): boolean {
    const others = this.#others(address);
    if (others.length === (this.#units.get(address.unitId)?.length ?? 0)) return false;
    this.#size -= 1;
    if (others.length === 0) this.#units.delete(address.unitId);
    else this.#units.set(address.unitId, others);
    return true;
  }

  *values(): Generator<T> {
    for (const items of this.#units.values()) yield* items;
  }

  #others({ unitId, namespace }: UnitAddress): readonly T[] {
    return (this.#units.get(unitId) ?? []).filter((item) => this.#addressOf(item).namespace !== namespace);
  }
}
