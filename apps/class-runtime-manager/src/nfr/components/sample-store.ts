import type { ComponentSamples, Series, Signal } from "@oaas/nfr";
import type { AssignedSignal } from "@oaas/nfr/queries";

interface Stored {
  readonly signals: Map<Signal, Series>;
  readonly cpu: Map<string, Series>;
  readonly memory: Map<string, Series>;
}

/** The times of one fetch. */
export interface FetchedRange {
  /** The first time that was fetched: samples from here on are replaced. */
  readonly fromMs: number;
  /** Older samples are dropped. */
  readonly keepFromMs: number;
}

/**
 * The samples of all components in the range, so that a tick fetches only what is new. Samples of the last steps are
 * fetched again, because they change while samples arrive.
 */
export class SampleStore {
  readonly #components = new Map<string, Stored>();

  /** Adds the fetched samples of one signal. Components without samples in the fetched range have a gap there. */
  add(signal: Signal, fetched: ReadonlyMap<string, AssignedSignal>, range: FetchedRange): void {
    for (const key of fetched.keys()) {
      if (!this.#components.has(key))
        this.#components.set(key, { signals: new Map(), cpu: new Map(), memory: new Map() });
    }
    for (const [key, stored] of this.#components) {
      const fresh = fetched.get(key);
      put(stored.signals, signal, fresh?.total, range);
      if (signal === "cpu_millicores") putPods(stored.cpu, fresh, range);
      if (signal === "memory_bytes") putPods(stored.memory, fresh, range);
    }
  }

  /** The samples of a component. */
  samplesOf(key: string): ComponentSamples {
    const stored = this.#components.get(key);
    if (stored === undefined) return { signals: {}, pods: {} };
    const pods: Record<string, { cpuMillicores?: Series; memoryBytes?: Series }> = {};
    for (const [pod, cpuMillicores] of stored.cpu) pods[pod] = { cpuMillicores };
    for (const [pod, memoryBytes] of stored.memory) pods[pod] = { ...pods[pod], memoryBytes };
    return { signals: Object.fromEntries(stored.signals), pods };
  }

  /** Forgets all other components. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#components.keys()) if (!keys.has(key)) this.#components.delete(key);
  }

  clear(): void {
    this.#components.clear();
  }
}

function putPods(into: Map<string, Series>, fresh: AssignedSignal | undefined, range: FetchedRange): void {
  for (const pod of new Set([...into.keys(), ...(fresh?.pods.keys() ?? [])])) {
    put(into, pod, fresh?.pods.get(pod), range);
  }
}

function put<K>(into: Map<K, Series>, key: K, fresh: Series | undefined, { fromMs, keepFromMs }: FetchedRange): void {
  const kept = (into.get(key) ?? []).filter(({ atMs }) => atMs >= keepFromMs && atMs < fromMs);
  const merged = fresh === undefined ? kept : [...kept, ...fresh];
  if (merged.length > 0) into.set(key, merged);
  else into.delete(key);
}
