import { SERIES_LABELS } from "@oaas/nfr/queries";
import type { TimeSeriesStore } from "@oaas/promql";
import { serveDemand, type Served } from "./queue-model.ts";

/** A pod of a function, as far as load matters. */
export interface LoadedPod {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly isReady: boolean;
  readonly cpuLimitMillicores: number;
}

/** The component of a class that pods belong to, in the spelling of labels. */
export interface Component {
  readonly namespace: string;
  readonly owner: string;
  readonly deploymentId: string;
  readonly className: string;
  /** Absent for the state store, which gets no requests. */
  readonly functionName?: string;
}

export interface PodUsage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/** The load of one component, for people. */
export interface LoadState {
  readonly namespace: string;
  /** The class, as in the label `oaas.io/owner`. */
  readonly owner: string;
  readonly function: string;
  readonly requests_per_second: number;
  readonly failed_per_second: number;
  readonly ready_replicas: number;
  readonly mean_latency_ms: number;
  /** What the autoscaler of the function sees and wants. */
  readonly autoscaler?: string;
}

/** The work of one request on one core. */
const CPU_MS_PER_REQUEST = 5;
const IDLE: PodUsage = { cpuMillicores: 2, memoryBytes: 48 * 2 ** 20 };
const BYTES_PER_WAITING_REQUEST = 64 * 1024;
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Periods of the CPU quota per second. */
const QUOTA_PERIODS = 10;

interface Counters {
  completed: number;
  failed: number;
  latencySum: number;
  cpuSeconds: number;
  periods: number;
  throttled: number;
  readonly buckets: number[];
}

/** Serves requests with the pods of one component and writes what their metrics would show. */
export class FunctionLoad {
  /** When the first pod ran: a wave starts there. */
  readonly sinceMs: number;
  readonly #component: Component;
  readonly #pods = new Map<string, { readonly pod: LoadedPod; readonly counters: Counters }>();
  #backlog = 0;
  #state: LoadState | undefined;

  constructor(component: Component, sinceMs: number) {
    this.#component = component;
    this.sinceMs = sinceMs;
  }

  get state(): LoadState | undefined {
    return this.#state;
  }

  /** Serves one interval and appends the samples at its end. Returns the usage of each pod by name. */
  advance(
    store: TimeSeriesStore,
    pods: readonly LoadedPod[],
    interval: { readonly nowMs: number; readonly seconds: number; readonly requestsPerSecond: number },
  ): ReadonlyMap<string, PodUsage> {
    const { nowMs, seconds } = interval;
    const ready = pods.filter(({ isReady }) => isReady);
    const [first] = ready;
    const isServing = this.#component.functionName !== undefined;
    const served = serveDemand(
      {
        requestsPerSecond: isServing ? interval.requestsPerSecond : 0,
        replicas: ready.length,
        capacityPerReplica: (first?.cpuLimitMillicores ?? 1000) / CPU_MS_PER_REQUEST,
        seconds,
      },
      this.#backlog,
    );
    this.#backlog = served.backlog;
    this.#state = isServing ? this.#describe(served, ready.length, interval) : undefined;
    this.#endMissing(store, pods, nowMs);
    return new Map(
      pods.map((pod) => {
        const share = pod.isReady ? 1 / ready.length : 0;
        const usage = usageOf(pod, served, share, seconds);
        const counters = this.#count(pod, served, { share, seconds, usage });
        this.#append(store, pod, { counters, usage, nowMs, inFlight: this.#backlog * share });
        return [pod.name, usage];
      }),
    );
  }

  /** Marks all series as ended. */
  end(store: TimeSeriesStore, nowMs: number): void {
    this.#endMissing(store, [], nowMs);
  }

  #describe(
    served: Served,
    replicas: number,
    { requestsPerSecond, seconds }: { requestsPerSecond: number; seconds: number },
  ): LoadState {
    const { namespace, owner, functionName = "" } = this.#component;
    return {
      namespace,
      owner,
      function: functionName,
      requests_per_second: round(requestsPerSecond),
      failed_per_second: round(served.failed / seconds),
      ready_replicas: replicas,
      mean_latency_ms: round(served.meanSeconds * 1000),
    };
  }

  #count(
    pod: LoadedPod,
    served: Served,
    { share, seconds, usage }: { readonly share: number; readonly seconds: number; readonly usage: PodUsage },
  ): Counters {
    const { counters } = this.#pods.get(pod.name) ?? { counters: newCounters() };
    this.#pods.set(pod.name, { pod, counters });
    const completed = served.completed * share;
    counters.completed += completed;
    counters.failed += served.failed * share;
    counters.latencySum += completed * served.meanSeconds;
    counters.cpuSeconds += (usage.cpuMillicores / 1000) * seconds;
    counters.periods += QUOTA_PERIODS * seconds;
    if (pod.isReady && served.backlog > 0) counters.throttled += QUOTA_PERIODS * seconds;
    for (const [index, bound] of BUCKETS.entries()) {
      counters.buckets[index] = (counters.buckets[index] ?? 0) + completed * served.shareWithin(bound);
    }
    return counters;
  }

  #append(
    store: TimeSeriesStore,
    pod: LoadedPod,
    { counters, usage, nowMs, inFlight }: { counters: Counters; usage: PodUsage; nowMs: number; inFlight: number },
  ): void {
    for (const [labels, value] of seriesOf(this.#component, pod, { counters, usage, inFlight })) {
      store.append(labels, nowMs, value);
    }
  }

  #endMissing(store: TimeSeriesStore, pods: readonly LoadedPod[], nowMs: number): void {
    const present = new Set(pods.map(({ name }) => name));
    for (const [name, { pod, counters }] of this.#pods) {
      if (present.has(name)) continue;
      this.#pods.delete(name);
      for (const [labels] of seriesOf(this.#component, pod, { counters, usage: IDLE, inFlight: 0 }))
        store.end(labels, nowMs);
    }
  }
}

function newCounters(): Counters {
  return {
    completed: 0,
    failed: 0,
    latencySum: 0,
    cpuSeconds: 0,
    periods: 0,
    throttled: 0,
    buckets: BUCKETS.map(() => 0),
  };
}

function usageOf(pod: LoadedPod, served: Served, share: number, seconds: number): PodUsage {
  const busy = (served.completed * share * CPU_MS_PER_REQUEST) / seconds;
  return {
    cpuMillicores: Math.min(pod.cpuLimitMillicores, IDLE.cpuMillicores + busy),
    memoryBytes: IDLE.memoryBytes + served.backlog * share * BYTES_PER_WAITING_REQUEST,
  };
}

type Labels = Readonly<Record<string, string>>;

function* seriesOf(
  component: Component,
  { namespace, name: pod, container }: LoadedPod,
  { counters, usage, inFlight }: { readonly counters: Counters; readonly usage: PodUsage; readonly inFlight: number },
): Iterable<readonly [Labels, number]> {
  const own = { namespace, pod, container };
  const named = (metric: string, labels: Labels, value: number): readonly [Labels, number] => [
    { __name__: metric, ...labels },
    value,
  ];
  yield named("container_cpu_usage_seconds_total", own, counters.cpuSeconds);
  yield named("container_memory_working_set_bytes", own, usage.memoryBytes);
  yield named("container_cpu_cfs_periods_total", own, counters.periods);
  yield named("container_cpu_cfs_throttled_periods_total", own, counters.throttled);
  yield named("kube_pod_container_status_restarts_total", own, 0);
  if (component.functionName === undefined) return;
  const labels = {
    ...own,
    [SERIES_LABELS.owner]: component.owner,
    [SERIES_LABELS.deploymentId]: component.deploymentId,
    [SERIES_LABELS.class]: component.className,
    [SERIES_LABELS.function]: component.functionName,
  };
  yield named("http_requests_total", { ...labels, code: "200" }, counters.completed);
  yield named("http_requests_total", { ...labels, code: "503" }, counters.failed);
  yield named("http_requests_in_flight", labels, inFlight);
  yield named("http_request_duration_seconds_sum", labels, counters.latencySum);
  yield named("http_request_duration_seconds_count", labels, counters.completed);
  for (const [index, bound] of BUCKETS.entries()) {
    yield named("http_request_duration_seconds_bucket", { ...labels, le: String(bound) }, counters.buckets[index] ?? 0);
  }
  yield named("http_request_duration_seconds_bucket", { ...labels, le: "+Inf" }, counters.completed);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
