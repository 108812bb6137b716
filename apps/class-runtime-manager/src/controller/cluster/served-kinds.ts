import { Fault, orAbort, sleep, type Timers } from "@oaas/foundation";
import { gvkKey, type ObjectKey } from "@oaas/kube-core";
import { PRIORITY, type KubeClient, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ChildCache } from "../children/child-cache.ts";
import type { KindDefinitions } from "./kind-definitions.ts";
import { OPTIONAL_CHILD_KINDS } from "../kinds/resource-types.ts";

/** What looking for kinds needs. */
export interface ServedKindsOptions {
  readonly client: KubeClient;
  readonly children: Pick<ChildCache, "lookForKinds" | "kinds">;
  readonly definitions: Pick<KindDefinitions, "has" | "onChange">;
  readonly timers: Timers;
  readonly logger: Logger;
  /** How often where definitions cannot be watched, or do not lead to a kind that is served. */
  readonly everyMs: number;
}

/** After a look that failed. */
const AGAIN_MS = 1_000;
/** A kind is served a moment after it is defined, and no longer a moment after its definition is deleted; each look waits twice as long as the last. */
const SOON_MS = 50;
/** When all is as the definitions say, they tell of any change; a look now and then is for what comes about without one. */
const SELDOM_MS = 600_000;

/**
 * Knows which kinds of other projects (Knative, monitors) the cluster serves: it looks when one of their definitions comes, changes or goes, and
 * again until what is served is what is defined. No class is judged before the first look is done: a template must not be given up because nobody has asked
 * yet whether the cluster can serve it.
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
    const { timers, definitions } = this.#options;
    let changed = new AbortController();
    let looks = 0;
    const unfollow = definitions.onChange(() => {
      looks = 0;
      changed.abort();
    });
    try {
      while (!signal.aborted) {
        changed = new AbortController();
        looks += 1;
        const waitMs = (await this.#look(signal)) ? this.#nextLookInMs(looks) : AGAIN_MS;
        await sleep(timers, waitMs, AbortSignal.any([signal, changed.signal])).catch(() => undefined);
      }
    } finally {
      unfollow();
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

  /** Whether it could be seen what is served. */
  async #look(signal: AbortSignal): Promise<boolean> {
    const { client, children, logger } = this.#options;
    try {
      const changed = await children.lookForKinds(client, signal);
      this.#first.resolve();
      if (changed) for (const listener of this.#listeners) listener();
      return true;
    } catch (thrown) {
      if (!signal.aborted)
        logger.warn("the kinds that the cluster serves could not be read", { fault: Fault.from(thrown) });
      return false;
    }
  }

  #nextLookInMs(looks: number): number {
    const { children, definitions, everyMs } = this.#options;
    const followed = new Set(children.kinds.map(gvkKey));
    const defined = OPTIONAL_CHILD_KINDS.map((kind) => ({
      is: definitions.has(kind),
      was: followed.has(gvkKey(kind)),
    }));
    if (defined.every(({ is, was }) => is === was)) return Math.max(everyMs, SELDOM_MS);
    if (defined.every(({ is, was }) => is === undefined || is === was)) return everyMs;
    return Math.min(everyMs, SOON_MS * 2 ** Math.min(looks - 1, 20));
  }
}
