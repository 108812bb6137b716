import { gvrKey, type KubeObject, type Stored } from "@oaas/kube-core";
import type { KubeClient } from "../client/kube-client.ts";
import type { Selection } from "../client/resource-client.ts";
import type { ResourceType } from "../client/resource-type.ts";
import { Informer, type InformerOptions } from "./informer.ts";

export type PoolOptions = Pick<InformerOptions<KubeObject>, "ambient" | "logger" | "meter" | "watch">;

/** One informer per kind and selection, however many ask for it: each is one watch and one cache. */
export class InformerPool {
  readonly #client: KubeClient;
  readonly #options: PoolOptions;
  readonly #informers = new Map<string, Informer<KubeObject, string>>();
  #started = false;

  constructor(client: KubeClient, options: PoolOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** The informer of a kind. Indexes and trimming are settled by whoever asks first; asking with others is an error. */
  informer<T extends KubeObject, I extends string = never>(
    type: ResourceType<T>,
    selection: Selection = {},
    shape: Pick<InformerOptions<T, I>, "indexes" | "trim"> = {},
  ): Informer<T, I> {
    const scope = [selection.namespace ?? "", selection.labelSelector ?? "", selection.fieldSelector ?? ""].join("|");
    const name = `${gvrKey(type)}|${scope}`;
    const present = this.#informers.get(name);
    if (present) return present as unknown as Informer<T, I>;
    const informer = new Informer<T, I>({
      ...this.#options,
      ...shape,
      name: scope === "||" ? gvrKey(type) : name,
      source: this.#client.resource(type).source(selection),
    });
    this.#informers.set(name, informer as unknown as Informer<KubeObject, string>);
    if (this.#started) informer.start();
    return informer;
  }

  /** Starts all, also those that are asked for later. */
  start(): void {
    this.#started = true;
    for (const informer of this.#informers.values()) informer.start();
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced(signal)));
  }

  /** Names of the informers that have not seen their first state yet. */
  get unsynced(): string[] {
    return [...this.#informers.values()].filter(({ isSynced }) => !isSynced).map(({ name }) => name);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }
}

/** Keeps of an object only what identifies and labels it: for kinds whose content does not matter. */
export function metadataOnly<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { apiVersion, kind, metadata } = object;
  const { managedFields: _, annotations: __, ...rest } = metadata;
  return { apiVersion, kind, metadata: rest } as Stored<T>;
}
