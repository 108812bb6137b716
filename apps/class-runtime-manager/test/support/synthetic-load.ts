import type { Clock } from "@oaas/foundation";
import type { PrometheusUnderTest, Series } from "@oaas/testkit";

/** A class under load: `cpuPerRequest` millicore seconds, and slow answers above `capacityRps` per pod. */
export interface LoadedClass {
  /** The labels and names of its series. */
  readonly scheme: "http" | "knative";
  readonly namespace: string;
  readonly name: string;
  readonly cpuPerRequest: number;
  readonly capacityRps: number;
  /** The ready pods now. */
  readonly pods: () => readonly string[];
}

/** Load that can be changed at run time. */
export interface SyntheticLoad {
  rps: number;
  stop(): Promise<void>;
}

const STEP_MS = 5_000;
const REPLICA_GAUGES = ["kube_deployment_status_replicas_ready", "kube_deployment_spec_replicas"];
/** Before the start, so that rates have a past. */
const PAST_MS = 120_000;

/**
 * Writes what a class would export, up to the present of the clock: requests, latencies and CPU. Pods share the load;
 * when it exceeds their capacity every request is slow.
 */
export function startLoad(
  one: LoadedClass,
  prometheus: Pick<PrometheusUnderTest, "write">,
  clock: Clock,
  rps: number,
): SyntheticLoad {
  const stop = new AbortController();
  const counters = new Map<string, { readonly labels: Record<string, string>; value: number }>();
  const add = (name: string, labels: Record<string, string>, amount: number): void => {
    const key = `${name} ${JSON.stringify(labels)}`;
    const counter = counters.get(key) ?? { labels: { __name__: name, ...labels }, value: 0 };
    counters.set(key, { ...counter, value: counter.value + amount });
  };
  const set = (name: string, labels: Record<string, string>, value: number): void => {
    counters.set(`${name} ${JSON.stringify(labels)}`, { labels: { __name__: name, ...labels }, value });
  };
  let writtenMs = Math.floor((clock.now() - PAST_MS) / STEP_MS) * STEP_MS;
  const load: SyntheticLoad = { rps, stop: async () => (stop.abort(), await done) };
  const advance = (): Series[] => {
    const all = new Map<string, { labels: Record<string, string>; samples: { atMs: number; value: number }[] }>();
    for (; writtenMs + STEP_MS <= clock.now(); writtenMs += STEP_MS) {
      serve(one, load.rps * (STEP_MS / 1000), add);
      for (const name of one.scheme === "http" ? REPLICA_GAUGES : [])
        set(name, { namespace: one.namespace, deployment: one.name }, one.pods().length);
      for (const [key, { labels, value }] of counters) {
        const series = all.get(key) ?? { labels, samples: [] };
        series.samples.push({ atMs: writtenMs, value });
        all.set(key, series);
      }
    }
    return [...all.values()];
  };
  const done = (async () => {
    while (!stop.signal.aborted) {
      const series = advance();
      if (series.length > 0) await prometheus.write(series);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return load;
}

type Add = (name: string, labels: Record<string, string>, amount: number) => void;

/** Counts the requests of one step. */
function serve({ scheme, namespace, name, cpuPerRequest, capacityRps, pods }: LoadedClass, requests: number, add: Add) {
  const running = pods();
  const isOverloaded = requests / (STEP_MS / 1000) > capacityRps * Math.max(1, running.length);
  const fast = isOverloaded ? 0 : requests;
  if (scheme === "http") {
    const labels = { namespace, oaas_owner: name, function: "f" };
    add("http_requests_total", { ...labels, code: "200" }, requests);
    const bucket = "http_request_duration_seconds_bucket";
    for (const [le, count] of [
      ["0.1", fast],
      ["0.5", requests],
      ["+Inf", requests],
    ] as const)
      add(bucket, { ...labels, le }, count);
  } else {
    const labels = { namespace_name: namespace, configuration_name: name, revision_name: `${name}-00001` };
    add("revision_request_count", { ...labels, response_code_class: "2xx" }, requests);
    for (const [le, count] of [
      ["100", fast],
      ["500", requests],
      ["+Inf", requests],
    ] as const)
      add("revision_request_latencies_bucket", { ...labels, le }, count);
  }
  const coreSeconds = (requests * cpuPerRequest) / 1000 / Math.max(1, running.length);
  for (const pod of running) {
    add("container_cpu_usage_seconds_total", { namespace, pod, container: "main" }, coreSeconds);
  }
}
