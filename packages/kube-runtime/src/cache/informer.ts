import { Fault, orAbort, type Ambient } from "@oaas/foundation";
import { keyOf, trimmed, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Logger, type Meter } from "@oaas/observability";
import type { WatchSource } from "../watch/watch-source.ts";
import { runWatcher, type WatcherEvent, type WatcherOptions } from "../watch/watcher.ts";
import type { IndexFunction } from "./indexes.ts";
import { ObjectStore, type CacheReader, type Change } from "./store.ts";
import { informerMetrics, type InformerMetrics } from "./telemetry.ts";

/** Called with changes, one at a time and in order; must not block. */
export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

/** The read view of one informer, or of several combined. */
export interface InformerView<T extends KubeObject, I extends string = never> {
  /** Read-only: never change an object. */
  readonly cache: CacheReader<T, I>;
  /** Whether the initial list is in the cache and delivered to the handlers. */
  readonly isSynced: boolean;
  /** Why the cache does not follow the server; undefined while it does. Retries continue in any case. */
  readonly fault: Fault | undefined;
  /** The same for one namespace, if namespaces are followed one by one. */
  faultIn(namespace: string): Fault | undefined;
  /** Returns the cached object. */
  get(key: ObjectKey): Stored<T> | undefined;
  /** Delivers all current objects to the handler, then every change. Returns a function that unsubscribes. */
  onChange(handler: ChangeHandler<T>): () => void;
}

/** What an informer follows and caches. */
export interface InformerOptions<T extends KubeObject, I extends string = never> {
  /** For logs and metrics. */
  readonly name: string;
  readonly source: WatchSource<Stored<T>>;
  readonly ambient: Ambient;
  readonly indexes?: Readonly<Record<I, IndexFunction<Stored<T>>>>;
  /**
   * Transforms each object before it is cached. By default removes managed fields and the last applied configuration.
   */
  readonly trim?: (object: Stored<T>) => Stored<T>;
  readonly logger?: Logger;
  readonly meter?: Meter;
  /** Watch settings; the defaults are right for clusters. */
  readonly watch?: Pick<
    WatcherOptions<unknown>,
    "streamingList" | "pageSize" | "silenceMs" | "watchSeconds" | "backoff"
  >;
}

interface Subscription<T extends KubeObject> {
  readonly handler: ChangeHandler<T>;
  active: boolean;
}

/**
 * A cache of the objects of one kind that follows the server and reports changes.
 *
 * *Flow*: `start` → list → handlers see every object as added → `synced` → changes as they arrive → `stop`.
 *
 * *Guarantees*: `isSynced` is true only when every object of the first list is in the cache and was delivered to every
 * handler; a handler added later first receives all current objects; an exception in a handler is logged and affects no
 * other handler; after any fault the cache converges to the server's state, including missed deletions.
 *
 * *Caveats*: the cache lags behind the server; decisions that need current data read from the server.
 */
export class Informer<T extends KubeObject, I extends string = never> implements InformerView<T, I> {
  readonly name: string;
  readonly #options: InformerOptions<T, I>;
  readonly #store: ObjectStore<T, I>;
  /** Replaced, never mutated: a handler that subscribes during a delivery receives the change once. */
  #subscriptions: readonly Subscription<T>[] = [];
  readonly #logger: Logger;
  readonly #metrics: InformerMetrics;
  readonly #firstSync = Promise.withResolvers<void>();
  readonly #firstForbidden = Promise.withResolvers<void>();
  #run: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  #synced = false;
  #stopped = false;
  #fault: Fault | undefined;

  constructor(options: InformerOptions<T, I>) {
    this.name = options.name;
    this.#options = options;
    this.#store = new ObjectStore<T, I>(options.indexes ?? ({} as Record<I, IndexFunction<Stored<T>>>));
    this.#logger = (options.logger ?? NOOP_LOGGER).child({ informer: options.name });
    this.#metrics = informerMetrics(options.meter ?? NOOP_METER, options.name);
    // Prevents an unhandled rejection when no caller waits for the sync.
    this.#firstSync.promise.catch(() => undefined);
  }

  get cache(): CacheReader<T, I> {
    return this.#store;
  }

  get isSynced(): boolean {
    return this.#synced;
  }

  get fault(): Fault | undefined {
    return this.#fault;
  }

  faultIn(_namespace: string): Fault | undefined {
    return this.#fault;
  }

  /**
   * Resolves when the initial list is in the cache and delivered; rejects when the signal aborts or the informer stops
   * before.
   */
  async synced(signal?: AbortSignal): Promise<void> {
    await orAbort(this.#firstSync.promise, signal);
  }

  /** The same, but a 403 also resolves it. */
  async syncedOrForbidden(signal?: AbortSignal): Promise<void> {
    await orAbort(Promise.race([this.#firstSync.promise, this.#firstForbidden.promise]), signal);
  }

  onChange(handler: ChangeHandler<T>): () => void {
    const subscription = { handler, active: true };
    for (const object of this.#store.list()) this.#notify(subscription, { type: "added", object });
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      subscription.active = false;
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
    };
  }

  /** Starts following the server. A stopped informer cannot be restarted. */
  start(): void {
    if (this.#run || this.#stopped) return;
    const stop = new AbortController();
    const ended = runWatcher<Stored<T>>(
      {
        ...this.#options.watch,
        source: this.#options.source,
        ambient: this.#options.ambient,
        sink: {
          admit: this.#options.trim ?? trimmed,
          replace: (items) => this.#replace(items),
          apply: (type, object) => this.#apply(type === "DELETED", object),
        },
        onNote: (note) => this.#note(note),
      },
      stop.signal,
    );
    this.#run = { stop, ended };
  }

  /** Stops following; the cache keeps its contents. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#run?.stop.abort();
    this.#firstSync.reject(new Fault({ kind: "cancelled" }, `the informer ${this.name} was stopped`));
    await this.#run?.ended;
  }

  get(key: ObjectKey): Stored<T> | undefined {
    return this.#store.get(key);
  }

  #replace(items: readonly Stored<T>[]): void {
    const subscriptions = this.#subscriptions;
    for (const change of this.#store.replace(items)) this.#notifyAll(change, subscriptions);
    this.#metrics.objects.set(this.#store.size, { informer: this.name });
    this.#synced = true;
    this.#firstSync.resolve();
  }

  #apply(deleted: boolean, object: Stored<T>): void {
    const change = deleted ? this.#store.remove(keyOf(object), object) : this.#store.put(object);
    if (!change) return;
    this.#metrics.events.add(1, { informer: this.name, type: change.type });
    this.#metrics.objects.set(this.#store.size, { informer: this.name });
    this.#notifyAll(change);
  }

  #notifyAll(change: Change<T>, subscriptions = this.#subscriptions): void {
    for (const subscription of subscriptions) this.#notify(subscription, change);
  }

  #notify({ active, handler }: Subscription<T>, change: Change<T>): void {
    if (!active) return;
    try {
      handler(change);
    } catch (thrown) {
      this.#logger.error("change handler failed", { fault: Fault.from(thrown), change: change.type });
    }
  }

  #note(note: WatcherEvent): void {
    if (note.type === "failed") {
      this.#fault = note.fault;
      if (note.fault.kind === "permission-denied") this.#firstForbidden.resolve();
      const { type: _, ...facts } = note;
      this.#metrics.restarts.add(1, { informer: this.name, reason: note.reason });
      this.#logger.warn("restart watch", facts);
      return;
    }
    const { type: step, ...facts } = note;
    if (step === "watching" || step === "listed") this.#fault = undefined;
    this.#logger.debug("watch resumed", { step, ...facts });
  }
}
