import type { Timer, Timers } from "@oaas/foundation";
import { partitionKey, type ShardPlace } from "../network/shard.ts";
import { SingleCopy, storeObject } from "../network/single-copy.ts";
import { equalObjects, type Change, type StoredObject } from "../objects/stored-object.ts";
import type { MergeMessage, PeerLinks } from "./messages.ts";

const EXCHANGE_MS = 1_000;

/** The copy of an `mst` partition in this process; see `MergingPartition`. */
export class RemoteMergingCopy extends SingleCopy {
  readonly key: string;
  readonly #links: PeerLinks;
  readonly #timers: Timers;
  #timer: Timer | undefined;

  constructor(place: ShardPlace, links: PeerLinks, timers: Timers) {
    super(place);
    this.key = partitionKey(place.collection.name, place.partition);
    this.#links = links;
    this.#timers = timers;
    this.#exchange();
  }

  override async write(id: string, change: Change): Promise<void> {
    await super.write(id, change);
    const object = this.objects.get(id);
    this.#broadcast(object === undefined ? { kind: "deleted", id } : { kind: "object", id, object });
  }

  receive(from: number, message: MergeMessage): void {
    switch (message.kind) {
      case "digest":
        this.#compare(from, message.versions);
        break;
      case "want":
        for (const id of message.ids) this.#sendObject(from, id);
        break;
      case "object":
        this.#take(from, message.id, message.object);
        break;
      case "deleted":
        this.objects.delete(message.id);
        break;
    }
  }

  close(): void {
    this.#timer?.cancel();
  }

  #exchange(): void {
    this.#timer = this.#timers.after(EXCHANGE_MS, () => this.#exchange());
    if (this.#links.connected.size === 0) return;
    this.#broadcast({ kind: "digest", versions: new Map([...this.objects].map(([id, { version }]) => [id, version])) });
  }

  /** Asks for what is newer there, and for what may differ at the same version. */
  #compare(from: number, versions: ReadonlyMap<string, bigint>): void {
    const ids = [...versions].filter(([id, version]) => {
      const own = this.objects.get(id)?.version ?? -1n;
      return own < version || (own === version && this.#asks(from));
    });
    if (ids.length > 0) this.#send(from, { kind: "want", ids: ids.map(([id]) => id) });
  }

  /** Of two copies with a conflict, one takes the object of the other; both would exchange them forever. */
  #asks(from: number): boolean {
    return this.self.node < from;
  }

  #take(from: number, id: string, object: StoredObject): void {
    const own = this.objects.get(id);
    if (equalObjects(own, object)) return;
    if (own === undefined || own.version < object.version || (own.version === object.version && this.#asks(from))) {
      storeObject(this.objects, id, object);
    }
  }

  #sendObject(to: number, id: string): void {
    const object = this.objects.get(id);
    if (object !== undefined) this.#send(to, { kind: "object", id, object });
  }

  #broadcast(message: MergeMessage): void {
    for (const node of this.#links.connected) this.#send(node, message);
  }

  #send(to: number, message: MergeMessage): void {
    this.#links.send(to, { key: this.key, membership: "", message });
  }
}
