import type { Fault } from "@oaas/foundation";
import { gvrKey, type KubeObject } from "@oaas/kube-core";
import type { KubeClient } from "../client/kube-client.ts";
import type { Selection } from "../client/resource-client.ts";
import type { ResourceType } from "../client/resource-type.ts";
import { Informer, type InformerOptions, type InformerView } from "./informer.ts";
import { unitedView } from "./united-view.ts";

/** What all informers of a pool share. */
export type PoolOptions = Pick<InformerOptions<KubeObject>, "ambient" | "logger" | "meter" | "watch">;

/** What whoever asks for an informer may settle about it. */
export interface InformerShape<T extends KubeObject, I extends string = never> extends Pick<
  InformerOptions<T, I>,
  "indexes" | "trim"
> {
  /** Work may begin without it when the server refuses it (403); it is tried on all the same. Default false. */
  readonly mayBeRefused?: boolean;
}

interface Entry {
  readonly informer: Informer<KubeObject, string>;
  readonly indexes: object | undefined;
  readonly trim: unknown;
  readonly mayBeRefused: boolean;
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
    { mayBeRefused = false, ...shape }: InformerShape<T, I> = {},
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
    this.#informers.set(name, { informer: shared, indexes: shape.indexes, trim: shape.trim, mayBeRefused });
    if (this.#started) informer.start();
    return informer;
  }

  /** The same over several namespaces, or without a list over all: one informer each, behind one face. */
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
    return only !== undefined && informers.length === 1 ? only[1] : unitedView(new Map(informers));
  }

  /** Stops and forgets what `view` gave for the same question; whoever asks again gets a new one. */
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

  /** Starts all, also those that are asked for later. */
  start(): void {
    this.#started = true;
    for (const informer of this.#all()) informer.start();
  }

  /** Resolves when all are synced, or refused where that is foreseen; rejects when the signal aborts or one is stopped before. */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#informers.values()].map(({ informer, mayBeRefused }) =>
        mayBeRefused ? informer.answered(signal) : informer.synced(signal),
      ),
    );
  }

  /** Names of the informers that have not seen their first state yet, but for those that may be refused and are. */
  get unsynced(): string[] {
    return [...this.#informers.values()]
      .filter(({ informer, mayBeRefused }) => !informer.isSynced && !(mayBeRefused && isRefused(informer)))
      .map(({ informer }) => informer.name);
  }

  /** Informers that the server refuses, although work goes on without them. */
  get refused(): { readonly informer: string; readonly fault: Fault }[] {
    return this.troubles.filter(
      ({ informer, fault }) => fault.kind === "permission-denied" && this.#informers.get(informer)?.mayBeRefused,
    );
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

function isRefused({ trouble }: Pick<Informer<KubeObject>, "trouble">): boolean {
  return trouble?.kind === "permission-denied";
}

function nameOf(type: ResourceType<KubeObject>, { namespace, labelSelector, fieldSelector }: Selection): string {
  const parts = { namespace, labels: labelSelector, fields: fieldSelector, view: type.view };
  const scope = Object.entries(parts).filter(([, value]) => value !== undefined && value !== "");
  return [gvrKey(type), ...scope.map(([part, value]) => `${part}=${value}`)].join("|");
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
