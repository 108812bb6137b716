import type { ComponentSamples, PodSamples, Series, Signal } from "@oaas/nfr";
import type { AssignedSignal } from "@oaas/nfr/queries";

/** The signals that are kept for each pod. */
const POD_SIGNALS = {
  cpu_millicores: "cpuMillicores",
  memory_bytes: "memoryBytes",
  oom_kills: "oomKills",
} as const satisfies Partial<Record<Signal, keyof PodSamples>>;

type PodSignal = keyof typeof POD_SIGNALS;

interface Stored {
  readonly signals: Map<Signal, Series>;
  /** By signal and pod. */
  readonly pods: ReadonlyMap<PodSignal, Map<string, Series>>;
}

/** The times of one fetch. */
export interface FetchedRange {
  /** The first time that was fetched: samples from here on are replaced. */
  readonly fromMs: number;
  /** Older samples are dropped. */
  readonly keepFromMs: number;
  /** The components that the fetch covers. Default: all. */
  readonly covered?: ReadonlySet<string>;
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
      if (!this.#components.has(key)) this.#components.set(key, emptyStore());
    }
    for (const [key, stored] of this.#components) {
      if (range.covered?.has(key) === false) continue;
      const fresh = fetched.get(key);
      put(stored.signals, signal, fresh?.total, range);
      const pods = stored.pods.get(signal as PodSignal);
      if (pods !== undefined) putPods(pods, fresh, range);
    }
  }

  /** The samples of a component. */
  samplesOf(key: string): ComponentSamples {
    const stored = this.#components.get(key);
    if (stored === undefined) return { signals: {}, pods: {} };
    const pods: Record<string, PodSamples> = {};
    for (const [signal, byPod] of stored.pods) {
      for (const [pod, series] of byPod) pods[pod] = { ...pods[pod], [POD_SIGNALS[signal]]: series };
    }
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

function emptyStore(): Stored {
  return {
    signals: new Map(),
    pods: new Map((Object.keys(POD_SIGNALS) as PodSignal[]).map((signal) => [signal, new Map<string, Series>()])),
  };
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
