import { Fault, orAbort, sleep, type Timers } from "@oaas/foundation";
import type { ObjectKey } from "@oaas/kube-core";
import { PRIORITY, type KubeClient, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ChildCache } from "./child-cache.ts";

/** What looking for kinds needs. */
export interface ServedKindsOptions {
  readonly client: KubeClient;
  readonly children: Pick<ChildCache, "lookForKinds">;
  readonly timers: Timers;
  readonly logger: Logger;
  /** How often. */
  readonly everyMs: number;
}

/** After a look that failed. */
const AGAIN_MS = 1_000;

/**
 * Looks again and again which kinds of other projects (Knative, monitors) the cluster serves. No class is judged before the first look is done:
 * a template must not be given up because nobody has asked yet whether the cluster can serve it.
 */
export class ServedKinds implements LedTask {
  readonly name = "served-kinds";
  readonly #options: ServedKindsOptions;
  readonly #first = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();

  constructor(options: ServedKindsOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, children, timers, logger, everyMs } = this.#options;
    while (!signal.aborted) {
      let waitMs = everyMs;
      try {
        const changed = await children.lookForKinds(client, signal);
        this.#first.resolve();
        if (changed) for (const listener of this.#listeners) listener();
      } catch (thrown) {
        if (signal.aborted) return;
        waitMs = Math.min(AGAIN_MS, everyMs);
        logger.warn("the kinds that the cluster serves could not be read", { fault: Fault.from(thrown) });
      }
      await sleep(timers, waitMs, signal).catch(() => undefined);
    }
  }

  /** Resolves when the first look is done. */
  known(signal: AbortSignal): Promise<void> {
    return orAbort(this.#first.promise, signal);
  }

  /** Wakes everyone when a kind came or went. */
  source(everyone: () => Iterable<ObjectKey>): Source {
    return (enqueue) => {
      const wake = (): void => {
        for (const key of everyone()) enqueue(key, { priority: PRIORITY.low });
      };
      this.#listeners.add(wake);
      return () => void this.#listeners.delete(wake);
    };
  }
}
