import { Fault, orAbort, sleep, type Timers } from "@oaas/foundation";
import { gvkKey, type ObjectKey } from "@oaas/kube-core";
import { PRIORITY, type KubeClient, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ChildCache } from "../children/child-cache.ts";
import type { KindDefinitions } from "./kind-definitions.ts";
import { OPTIONAL_CHILD_KINDS } from "../kinds/resource-types.ts";

/** Dependencies of the discovery of kinds. */
export interface ServedKindsOptions {
  readonly client: KubeClient;
  readonly children: Pick<ChildCache, "discoverKinds" | "kinds">;
  readonly definitions: Pick<KindDefinitions, "has" | "onChange">;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Interval while definitions cannot be watched or a defined kind is not served. */
  readonly everyMs: number;
}

/** Delay after a failed discovery. */
const RETRY_MS = 1_000;
/**
 * First delay after a definition changed; it doubles with each attempt. The server needs a moment to serve or drop a
 * kind.
 */
const FIRST_DELAY_MS = 50;
/** Interval while the served kinds match the definitions; changes without a definition event are rare. */
const STABLE_INTERVAL_MS = 600_000;

/**
 * Discovers which optional kinds (Knative, monitors) the cluster serves: on every change of a definition, and again
 * until the served kinds match the definitions. No class is reconciled before the first discovery, so that no class
 * loses its template while the kinds are unknown.
 */
export class ServedKinds implements LedTask {
  readonly name = "served-kinds";
  readonly #options: ServedKindsOptions;
  readonly #firstDiscovery = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();

  constructor(options: ServedKindsOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timers, definitions } = this.#options;
    let changed = new AbortController();
    let attempts = 0;
    const unsubscribe = definitions.onChange(() => {
      attempts = 0;
      changed.abort();
    });
    try {
      while (!signal.aborted) {
        changed = new AbortController();
        attempts += 1;
        const waitMs = (await this.#discover(signal)) ? this.#nextDelayMs(attempts) : RETRY_MS;
        await sleep(timers, waitMs, AbortSignal.any([signal, changed.signal])).catch(() => undefined);
      }
    } finally {
      unsubscribe();
    }
  }

  /** Resolves after the first discovery. */
  whenKnown(signal: AbortSignal): Promise<void> {
    return orAbort(this.#firstDiscovery.promise, signal);
  }

  /** Enqueues all classes when a kind was added or removed. */
  source(all: () => Iterable<ObjectKey>): Source {
    return (enqueue) => {
      const enqueueAll = (): void => {
        for (const key of all()) enqueue(key, { priority: PRIORITY.low });
      };
      this.#listeners.add(enqueueAll);
      return () => void this.#listeners.delete(enqueueAll);
    };
  }

  /** Returns whether the discovery succeeded. */
  async #discover(signal: AbortSignal): Promise<boolean> {
    const { client, children, logger } = this.#options;
    try {
      const changed = await children.discoverKinds(client, signal);
      this.#firstDiscovery.resolve();
      if (changed) for (const listener of this.#listeners) listener();
      return true;
    } catch (thrown) {
      if (!signal.aborted) logger.warn("discover kinds failed", { fault: Fault.from(thrown) });
      return false;
    }
  }

  #nextDelayMs(attempts: number): number {
    const { children, definitions, everyMs } = this.#options;
    const watched = new Set(children.kinds.map(gvkKey));
    const kinds = OPTIONAL_CHILD_KINDS.map((kind) => ({
      isDefined: definitions.has(kind),
      isWatched: watched.has(gvkKey(kind)),
    }));
    if (kinds.every(({ isDefined, isWatched }) => isDefined === isWatched))
      return Math.max(everyMs, STABLE_INTERVAL_MS);
    if (kinds.every(({ isDefined, isWatched }) => isDefined === undefined || isDefined === isWatched)) return everyMs;
    return Math.min(everyMs, FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20));
  }
}
