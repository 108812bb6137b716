import { notFound, timestamp, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { Collection, CollectionView, type KeyValueStore, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { Cordon, Drain } from "../ports.ts";
import { CORDONS } from "../stores/cordon-store.ts";
import type { Call, Cordons } from "../use-cases.ts";

export interface ClusterCordonsOptions {
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
  readonly isCluster: (name: ClusterName) => boolean;
}

/**
 * The cordons of clusters, durable and the same in every process on the store.
 *
 * *Guarantees*: a cordon is durable, and the plans of this process follow it, before the request is answered. A second
 * cordon keeps the first one with its author, so that repeating a request changes nothing.
 */
export class ClusterCordons implements Cordons {
  readonly #options: ClusterCordonsOptions;
  readonly #cordons: Collection<Cordon>;
  readonly #view: CollectionView<Cordon>;
  readonly #listeners = new Set<() => void>();

  constructor(options: ClusterCordonsOptions) {
    this.#options = options;
    this.#cordons = new Collection<Cordon>(options.store, CORDONS);
    this.#view = new CollectionView(this.#cordons, {
      ambient: options.ambient,
      onChange: () => this.#listeners.forEach((listener) => listener()),
    });
  }

  /** Calls the listener when a cordon is set, changed or removed, by any process. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  start(): Promise<void> {
    return this.#view.start();
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  of(name: ClusterName): Cordon | undefined {
    return this.#view.get(name)?.record;
  }

  async cordon(name: ClusterName, { caller, reason }: Call): Promise<void> {
    this.#assertCluster(name);
    const cordon = {
      by: caller,
      at: timestamp(this.#options.ambient.clock.now()),
      ...(reason === undefined ? {} : { reason }),
    };
    await this.#commit(async () =>
      (await this.#cordons.get(name)) === undefined ? this.#cordons.stageCreate(name, cordon) : undefined,
    );
  }

  /** Also renews the request of an earlier drain, so that refused deployments are tried again. */
  async drain(name: ClusterName, { allowsStateLoss, ...call }: Call & Pick<Drain, "allowsStateLoss">): Promise<void> {
    this.#assertCluster(name);
    const { caller: by, reason } = call;
    const at = timestamp(this.#options.ambient.clock.now());
    const drain = { by, at, allowsStateLoss };
    await this.#commit(async () => {
      const found = await this.#cordons.get(name);
      const cordon = { by, at, ...found?.record, ...(reason === undefined ? {} : { reason }), drain };
      return found === undefined ? this.#cordons.stageCreate(name, cordon) : this.#cordons.stageUpdate(found, cordon);
    });
  }

  async uncordon(name: ClusterName): Promise<void> {
    this.#assertCluster(name);
    await this.#commit(() => this.stageRemoval(name));
  }

  /** Deletes the cordon of a cluster; undefined when there is none. */
  async stageRemoval(name: ClusterName): Promise<Transaction | undefined> {
    const found = await this.#cordons.get(name);
    return found && this.#cordons.stageDelete(found);
  }

  async #commit(stage: () => Promise<Transaction | undefined>): Promise<void> {
    const committed = await retryOnConflict(async () => {
      const transaction = await stage();
      return transaction && this.#options.store.commit(transaction);
    });
    if (committed !== undefined) await this.#view.waitForRevision(committed.revision);
  }

  #assertCluster(name: ClusterName): void {
    if (!this.#options.isCluster(name)) throw notFound("cluster", name);
  }
}
