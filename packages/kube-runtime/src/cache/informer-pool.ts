import type { Fault } from "@oaas/foundation";
import { gvrKey, type KubeObject } from "@oaas/kube-core";
import type { KubeClient } from "../client/kube-client.ts";
import type { Selection } from "../client/resource-client.ts";
import type { ResourceType } from "../client/resource-type.ts";
import { Informer, type InformerOptions, type InformerView } from "./informer.ts";
import { mergedView } from "./merged-view.ts";

/** Dependencies that all informers of a pool share. */
export type PoolOptions = Pick<InformerOptions<KubeObject>, "ambient" | "logger" | "meter" | "watch">;

/** Options of one informer. */
export interface InformerShape<T extends KubeObject, I extends string = never> extends Pick<
  InformerOptions<T, I>,
  "indexes" | "trim"
> {
  /** Controllers may start without this informer when the server returns 403; it is retried. Default false. */
  readonly isOptional?: boolean;
}

interface Entry {
  readonly informer: Informer<KubeObject, string>;
  readonly indexes: object | undefined;
  readonly trim: unknown;
  readonly isOptional: boolean;
}

/** One informer per kind and selection: all users share one watch and one cache. */
export class InformerPool {
  readonly #client: KubeClient;
  readonly #options: PoolOptions;
  readonly #informers = new Map<string, Entry>();
  #started = false;

  constructor(client: KubeClient, options: PoolOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Returns the informer of a kind. The first caller sets indexes and trimming; different ones later are a TypeError.
   */
  informer<T extends KubeObject, I extends string = never>(
    type: ResourceType<T>,
    selection: Selection = {},
    { isOptional = false, ...shape }: InformerShape<T, I> = {},
  ): Informer<T, I> {
    const name = nameOf(type, selection);
    const present = this.#informers.get(name);
    if (present) {
      checkShape(name, present, shape);
      return present.informer as unknown as Informer<T, I>;
    }
    const source = this.#client.resource(type).source(selection);
    const informer = new Informer<T, I>({ ...this.#options, ...shape, name, source });
    const shared = informer as unknown as Informer<KubeObject, string>;
    this.#informers.set(name, { informer: shared, indexes: shape.indexes, trim: shape.trim, isOptional });
    if (this.#started) informer.start();
    return informer;
  }

  /** The same over several namespaces, or all without a list: one informer each, behind one view. */
  view<T extends KubeObject, I extends string = never>(
    type: ResourceType<T>,
    namespaces: readonly string[] | undefined,
    selection: Omit<Selection, "namespace"> = {},
    shape: InformerShape<T, I> = {},
  ): InformerView<T, I> {
    if (namespaces === undefined) return this.informer(type, selection, shape);
    const informers = namespaces.map(
      (namespace) => [namespace, this.informer(type, { ...selection, namespace }, shape)] as const,
    );
    const [only] = informers;
    return only !== undefined && informers.length === 1 ? only[1] : mergedView(new Map(informers));
  }

  /** Stops and forgets the informers that `view` returned for the same arguments. */
  async release<T extends KubeObject>(
    type: ResourceType<T>,
    namespaces: readonly string[] | undefined,
    selection: Omit<Selection, "namespace"> = {},
  ): Promise<void> {
    const selections = namespaces?.map((namespace) => ({ ...selection, namespace })) ?? [selection];
    await Promise.all(
      selections.map(async (each) => {
        const name = nameOf(type, each);
        const entry = this.#informers.get(name);
        this.#informers.delete(name);
        await entry?.informer.stop();
      }),
    );
  }

  /** Starts all informers, including those created later. */
  start(): void {
    this.#started = true;
    for (const informer of this.#all()) informer.start();
  }

  /**
   * Resolves when all are synced, or refused where that is allowed; rejects when the signal aborts or one is stopped
   * before.
   */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#informers.values()].map(({ informer, isOptional }) =>
        isOptional ? informer.syncedOrForbidden(signal) : informer.synced(signal),
      ),
    );
  }

  /** Names of informers that are not synced, except those that may be refused and are. */
  get unsynced(): string[] {
    return [...this.#informers.values()]
      .filter(({ informer, isOptional }) => !informer.isSynced && !(isOptional && isForbidden(informer)))
      .map(({ informer }) => informer.name);
  }

  /** Informers that the server refuses (403) and that are optional. */
  get forbidden(): { readonly informer: string; readonly fault: Fault }[] {
    return this.faults.filter(
      ({ informer, fault }) => fault.kind === "permission-denied" && this.#informers.get(informer)?.isOptional,
    );
  }

  /** Informers that currently do not follow the server, with the reason. */
  get faults(): { readonly informer: string; readonly fault: Fault }[] {
    return this.#all().flatMap(({ name, fault }) => (fault ? [{ informer: name, fault }] : []));
  }

  /** Stops all informers. Idempotent. */
  async stop(): Promise<void> {
    this.#started = false;
    await Promise.all(this.#all().map((informer) => informer.stop()));
  }

  #all(): Informer<KubeObject, string>[] {
    return [...this.#informers.values()].map(({ informer }) => informer);
  }
}

function isForbidden({ fault }: Pick<Informer<KubeObject>, "fault">): boolean {
  return fault?.kind === "permission-denied";
}

function nameOf(type: ResourceType<KubeObject>, { namespace, labelSelector, fieldSelector }: Selection): string {
  const parts = { namespace, labels: labelSelector, fields: fieldSelector, view: type.view };
  const scope = Object.entries(parts).filter(([, value]) => value !== undefined && value !== "");
  return [gvrKey(type), ...scope.map(([part, value]) => `${part}=${value}`)].join("|");
}

/** Without options the existing informer is returned; functions are compared by identity, so share them. */
function checkShape(
  name: string,
  present: Entry,
  options: { readonly indexes?: object; readonly trim?: unknown },
): void {
  const missing = Object.entries(options.indexes ?? {}).filter(
    ([index, function_]) => (present.indexes as Record<string, unknown> | undefined)?.[index] !== function_,
  );
  if (missing.length > 0) {
    const names = missing.map(([index]) => index).join(", ");
    throw new TypeError(`the informer of ${name} already exists with other indexes than: ${names}`);
  }
  if (options.trim !== undefined && options.trim !== present.trim) {
    throw new TypeError(`the informer of ${name} already exists with another trim function`);
  }
}
