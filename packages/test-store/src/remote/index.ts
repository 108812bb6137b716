import { invalidArgument, type Ambient } from "@oaas/foundation";
import { readStoreEnvironment, type Environment, type StoreSettings } from "../environment/environment.ts";
import type { Shard, ShardPlace } from "../network/shard.ts";
import { SingleCopy } from "../network/single-copy.ts";
import { StoreNode, type ShardHost } from "../network/store-node.ts";
import type { MergeMessage, PeerLinks, RaftMessage } from "./messages.ts";
import { RemoteMergingCopy } from "./remote-merging-copy.ts";
import { RemoteRaftCopy } from "./remote-raft-copy.ts";

export type { Envelope, PeerLinks } from "./messages.ts";

/** Opens the connections of a node to its peers. */
export type OpenLinks = (node: { readonly id: number; readonly settings: StoreSettings }) => PeerLinks;

/**
 * Starts a node whose peers are in other processes. Throws the violations of an environment that ends the process of the
 * store (T11).
 */
export function startRemoteNode(env: Environment, name: string, ambient: Ambient, open: OpenLinks): StoreNode {
  const settings = readStoreEnvironment(env);
  if (!settings.ok) throw invalidArgument("the environment", settings.error);
  return new StoreNode(settings.value, { name, cluster: "" }, new RemoteHost(ambient, open));
}

/** The copies of one node, and the messages to the copies of others. */
class RemoteHost implements ShardHost {
  readonly ambient: Ambient;
  readonly #open: OpenLinks;
  readonly #copies = new Map<string, RemoteRaftCopy | RemoteMergingCopy>();
  #links: PeerLinks | undefined;

  constructor(ambient: Ambient, open: OpenLinks) {
    this.ambient = ambient;
    this.#open = open;
  }

  createShards(node: StoreNode): readonly Shard[] {
    const links = this.#open(node);
    this.#links = links;
    const shards = node.settings.collections.flatMap((collection) =>
      collection.partitions.flatMap(({ members }, partition) =>
        members
          .filter((self) => self.node === node.id)
          .map((self) => this.#createShard({ collection, partition, self, owner: node, session: 0 }, links)),
      ),
    );
    links.onMessage((from, { key, membership, message }) => {
      const copy = this.#copies.get(key);
      if (copy instanceof RemoteRaftCopy) copy.receive(from, membership, message as RaftMessage);
      else copy?.receive(from, message as MergeMessage);
    });
    return shards;
  }

  #createShard(place: ShardPlace, links: PeerLinks): Shard {
    if (place.collection.type === "none") return new SingleCopy(place);
    const copy =
      place.collection.type === "raft"
        ? new RemoteRaftCopy(place, links, this.ambient)
        : new RemoteMergingCopy(place, links, this.ambient.timers);
    this.#copies.set(copy.key, copy);
    return copy;
  }

  removeShards(shards: readonly Shard[]): void {
    for (const [key, copy] of this.#copies) {
      if (!shards.includes(copy)) continue;
      copy.close();
      this.#copies.delete(key);
    }
  }

  removeNode(): void {
    this.#links?.close();
  }
}
