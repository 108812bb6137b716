/** One measured value. */
export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** Samples in ascending order of time, at the step of the query. A missing step is a gap; NaN and infinite values are never samples. */
export type Series = readonly Sample[];

/** The signals of a component, in the units of their names. */
export const SIGNALS = [
  "requests_per_second",
  "latency_p50_ms",
  "latency_p95_ms",
  "latency_p99_ms",
  /** Failed requests per second. */
  "errors_per_second",
  /** Requests above the latency requirement per second. */
  "slow_requests_per_second",
  "cpu_millicores",
  /** The share of CPU periods that were throttled, 0 to 1. */
  "cpu_throttled_ratio",
  "memory_bytes",
  /** Restarts of the containers of all pods so far: it rises with a restart and falls when a pod is deleted. */
  "restarts",
  /** Restarts of containers whose last end was an OOM kill: it rises with an OOM kill. */
  "oom_kills",
  /** The share of wanted replicas that were ready, 0 to 1. */
  "availability",
  "queue_length",
  "ready_replicas",
] as const;

export type Signal = (typeof SIGNALS)[number];

/** What was measured of one component: a function of a class, or its state store (`odgm`). */
export interface ComponentSamples {
  /** Each signal over all replicas. A signal that was not found is absent. */
  readonly signals: Readonly<Partial<Record<Signal, Series>>>;
  /** CPU and memory of each pod, for the sizes of containers. */
  readonly pods: Readonly<Record<string, PodSamples>>;
}

export interface PodSamples {
  readonly cpuMillicores?: Series;
  readonly memoryBytes?: Series;
  /** OOM kills so far, or in the window of the query; a kill counts when the number rises. */
  readonly oomKills?: Series;
}
