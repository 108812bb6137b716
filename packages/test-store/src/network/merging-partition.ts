import { equalObjects, type Change, type StoredObject } from "../objects/stored-object.ts";
import { RESEND_MS, type Links, type Shard, type ShardPlace } from "./shard.ts";
import { SingleCopy, storeObject } from "./single-copy.ts";

class MergingCopy extends SingleCopy {
  readonly #replicate: (copy: MergingCopy, id: string) => void;

  constructor(place: ShardPlace, replicate: (copy: MergingCopy, id: string) => void) {
    super(place);
    this.#replicate = replicate;
  }

  override async write(id: string, change: Change): Promise<void> {
    await super.write(id, change);
    this.#replicate(this, id);
  }
}

/**
 * The copies of an `mst` partition (T5). Each accepts writes alone. Copies exchange objects when they meet: the higher
 * version wins; at equal versions the copy that asks takes the remote object. A deletion reaches the copies that are
 * connected then; any other copy brings the object back.
 */
export class MergingPartition {
  readonly #copies = new Set<MergingCopy>();
  readonly #links: Links;
  readonly #intervalMs: number;
  #scheduled = false;

  constructor(links: Links, intervalMs: number) {
    this.#links = links;
    this.#intervalMs = intervalMs;
  }

  add(place: ShardPlace): Shard {
    const copy = new MergingCopy(place, (from, id) => this.#written(from, id));
    this.#copies.add(copy);
    return copy;
  }

  remove(shard: Shard): void {
    this.#copies.delete(shard as MergingCopy);
  }

  get isEmpty(): boolean {
    return this.#copies.size === 0;
  }

  /** Called when a connection or a node changed. */
  settle(): void {
    const delayMs = Math.max(this.#intervalMs, this.#links.latencyMs);
    if (delayMs > 0) this.#schedule(delayMs);
    else this.#exchangeAll();
  }

  #written(from: MergingCopy, id: string): void {
    if (!from.objects.has(id)) {
      for (const copy of this.#copies) if (this.#links.connected(from, copy)) copy.objects.delete(id);
    }
    this.settle();
  }

  #schedule(delayMs: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#links.after(delayMs, () => {
      this.#scheduled = false;
      this.#exchangeAll();
    });
  }

  /** Exchanges between all connected copies, until nothing moves: an object may pass through a third copy. */
  #exchangeAll(): void {
    const copies = [...this.#copies];
    let lost = false;
    for (let round = 0; round < copies.length; round += 1) {
      let moved = false;
      for (const [index, asks] of copies.entries()) {
        for (const remote of copies.slice(index + 1)) {
          if (!this.#links.connected(asks, remote)) continue;
          if (this.#links.loses()) lost = true;
          else moved = exchange(asks.objects, remote.objects) || moved;
        }
      }
      if (!moved) break;
    }
    if (lost) this.#schedule(RESEND_MS);
  }
}

/** Makes two copies equal. Returns whether anything moved. */
function exchange(asks: Map<string, StoredObject>, remote: Map<string, StoredObject>): boolean {
  let moved = false;
  for (const id of new Set([...asks.keys(), ...remote.keys()])) {
    const [own, other] = [asks.get(id), remote.get(id)];
    if (equalObjects(own, other)) continue;
    const winner = own !== undefined && (other === undefined || own.version > other.version) ? own : other;
    storeObject(asks, id, winner);
    storeObject(remote, id, winner);
    moved = true;
  }
  return moved;
}
