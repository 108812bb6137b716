import type { Fault } from "@oaas/foundation";
import { gvrKey, type KubeObject } from "@oaas/kube-core";
import type { KubeClient } from "../client/kube-client.ts";
import type { Selection } from "../client/resource-client.ts";
import type { ResourceType } from "../client/resource-type.ts";
import { Informer, type InformerOptions } from "./informer.ts";

/** What all informers of a pool share. */
export type PoolOptions = Pick<InformerOptions<KubeObject>, "ambient" | "logger" | "meter" | "watch">;

interface Entry {
  readonly informer: Informer<KubeObject, string>;
  readonly indexes: object | undefined;
  readonly trim: unknown;
}

/** One informer per kind and selection, however many ask for it: each is one watch and one cache. */
export class InformerPool {
  readonly #client: KubeClient;
  readonly #options: PoolOptions;
  readonly #informers = new Map<string, Entry>();
  #started = false;

  constructor(client: KubeClient, options: PoolOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** The informer of a kind. Indexes and trimming are settled by whoever asks first; asking with others is a TypeError. */
  informer<T extends KubeObject, I extends string = never>(
    type: ResourceType<T>,
    selection: Selection = {},
    shape: Pick<InformerOptions<T, I>, "indexes" | "trim"> = {},
  ): Informer<T, I> {
    const { namespace, labelSelector, fieldSelector } = selection;
    const parts = { namespace, labels: labelSelector, fields: fieldSelector, view: type.view };
    const scope = Object.entries(parts).filter(([, value]) => value !== undefined && value !== "");
    const name = [gvrKey(type), ...scope.map(([part, value]) => `${part}=${value}`)].join("|");
    const present = this.#informers.get(name);
    if (present) {
      checkShape(name, present, shape);
      return present.informer as unknown as Informer<T, I>;
    }
    const source = this.#client.resource(type).source(selection);
    const informer = new Informer<T, I>({ ...this.#options, ...shape, name, source });
    const shared = informer as unknown as Informer<KubeObject, string>;
    this.#informers.set(name, { informer: shared, indexes: shape.indexes, trim: shape.trim });
    if (this.#started) informer.start();
    return informer;
  }

  /** Starts all, also those that are asked for later. */
  start(): void {
    this.#started = true;
    for (const informer of this.#all()) informer.start();
  }

  /** Resolves when all are synced; rejects when the signal aborts or one is stopped before. */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#all().map((informer) => informer.synced(signal)));
  }

  /** Names of the informers that have not seen their first state yet. */
  get unsynced(): string[] {
    return this.#all()
      .filter(({ isSynced }) => !isSynced)
      .map(({ name }) => name);
  }

  /** Informers that do not follow the server at the moment, and why. */
  get troubles(): { readonly informer: string; readonly fault: Fault }[] {
    return this.#all().flatMap(({ name, trouble }) => (trouble ? [{ informer: name, fault: trouble }] : []));
  }

  /** Stops all. Repeatable. */
  async stop(): Promise<void> {
    this.#started = false;
    await Promise.all(this.#all().map((informer) => informer.stop()));
  }

  #all(): Informer<KubeObject, string>[] {
    return [...this.#informers.values()].map(({ informer }) => informer);
  }
}

/** Asking without a shape is asking for what there is; functions are compared by identity, so share them. */
function checkShape(
  name: string,
  present: Entry,
  wanted: { readonly indexes?: object; readonly trim?: unknown },
): void {
  const missing = Object.entries(wanted.indexes ?? {}).filter(
    ([index, function_]) => (present.indexes as Record<string, unknown> | undefined)?.[index] !== function_,
  );
  if (missing.length > 0) {
    const names = missing.map(([index]) => index).join(", ");
    throw new TypeError(`the informer of ${name} exists with other indexes than: ${names}`);
  }
  if (wanted.trim !== undefined && wanted.trim !== present.trim) {
    throw new TypeError(`the informer of ${name} exists with another trim`);
  }
}
