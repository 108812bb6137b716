import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { classRuntime, type ClassRuntimeStatus } from "@oaas/contracts/crd";
import { realAmbient } from "@oaas/foundation/real";
import { SIGNALS } from "@oaas/nfr";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { createPrometheusClient } from "@oaas/prometheus-client";
import { createUndiciTransport } from "@oaas/prometheus-client/node";
import { startPrometheus, type PrometheusUnderTest, type Series } from "@oaas/testkit";
import { Analyzer, type MeasuredClass } from "../apps/class-runtime-manager/src/nfr/analysis/analyzer.ts";
import { measuredComponents } from "../apps/class-runtime-manager/src/nfr/components/measured-component.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const CLASSES = scaled(1_000);
const PODS = ["x2x4z", "b5c6d"];
const TICKS = 8;
const SCRAPE_MS = 15_000;
/** Samples of the range and a rate window before it. */
const SCRAPES = 60;
const STEP_MS = 30_000;
const RANGE_MS = 600_000;
const BOUNDS = ["0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"];
const WRITE_CLASSES = 50;

/**
 * Measures classes of one function with two pods on a real Prometheus: the first tick, which reads the whole range and
 * the history of requests, and the following ones, which read what is new.
 */
export const bench: Bench = {
  name: "nfr-analyzer",
  async run(log) {
    await using prometheus = await startPrometheus();
    const now = Math.floor(Date.now() / STEP_MS) * STEP_MS;
    await feed(prometheus, now, log);
    const clock = { nowMs: now, queries: 0, writes: 0 };
    const client = createPrometheusClient({
      transport: createUndiciTransport({ clock: realAmbient.clock }),
      ambient: realAmbient,
      url: prometheus.url,
      urlSetting: "OPRC_CRM_PROM_URL",
      timeoutMs: 60_000,
    });
    const classes = Array.from({ length: CLASSES }, (_, index) => measuredClass(`class-${index}`, clock));
    const analyzer = new Analyzer({
      provider: {
        queryInstant: (query, options) => client.queryInstant(query, options),
        healthCheck: (options) => client.healthCheck(options),
        breaker: "closed",
        queryRange: (query, options) => {
          clock.queries += 1;
          return client.queryRange(query, options);
        },
      },
      // The samples end at the time of the feed; only the clock that selects ranges is fixed.
      ambient: {
        ...realAmbient,
        clock: { now: () => clock.nowMs, monotonic: () => realAmbient.clock.monotonic() },
      },
      logger: NOOP_LOGGER,
      meter: NOOP_METER,
      everyMs: STEP_MS,
      rangeMs: RANGE_MS,
      stepMs: STEP_MS,
      rateWindowMs: 120_000,
      scheme: "prometheus",
      overrides: {},
      settings: { ...DEFAULT_ANALYZER_SETTINGS, rateWindowMs: 120_000 },
      classes: () => classes.map((make) => make()),
      recordEvent: () => undefined,
    });
    const before = heapMiB();
    const first = await timedTick(analyzer, clock);
    log(`first tick: ${Math.round(first.ms)} ms, ${first.queries} queries`);
    const ticks = [];
    for (let tick = 0; tick < TICKS; tick += 1) ticks.push(await timedTick(analyzer, clock));
    await client.close();
    const ms = median(ticks.map((tick) => tick.ms));
    const cpuMs = median(ticks.map((tick) => tick.cpuMs));
    return {
      title: `Measurement of ${CLASSES} classes with two pods each on a real Prometheus`,
      measurements: [
        { name: "queries per tick", value: median(ticks.map(({ queries }) => queries)), unit: "queries" },
        {
          name: "queries of the first tick",
          value: first.queries,
          unit: "queries",
          note: "with the history of requests and usage",
        },
        { name: "tick", value: ms, unit: "ms", note: "with the queries" },
        { name: "CPU time of a tick", value: cpuMs, unit: "ms" },
        { name: "CPU time per class and tick", value: (cpuMs * 1000) / CLASSES, unit: "µs" },
        {
          name: "CPU time of the longest turn of the event loop",
          value: Math.max(...ticks.map((one) => one.turnMs)),
          unit: "ms",
        },
        { name: "first tick", value: first.ms, unit: "ms", note: "reads the whole range" },
        { name: "heap of samples and states", value: heapMiB() - before, unit: "MiB" },
        { name: "status writes of the first tick", value: first.writes, unit: "writes" },
        { name: "status writes of a later tick", value: median(ticks.map(({ writes }) => writes)), unit: "writes" },
      ],
      ratios: [
        {
          name: "signals / queries per tick",
          value: SIGNALS.length / median(ticks.map(({ queries }) => queries)),
          floor: 1,
          explains: "one query per signal, whatever the number of classes",
        },
      ],
    };
  },
};

interface Counters {
  readonly nowMs: number;
  queries: number;
  writes: number;
}

async function timedTick(analyzer: Analyzer, counters: Counters) {
  const { queries, writes } = counters;
  const startedCpu = process.cpuUsage();
  const started = performance.now();
  let turnMs = 0;
  let last = threadCpuMs();
  // CPU time: other processes may take turns too.
  const watch = setInterval(() => {
    const at = threadCpuMs();
    turnMs = Math.max(turnMs, at - last);
    last = at;
  }, 0);
  await analyzer.tick(new AbortController().signal);
  clearInterval(watch);
  const { user, system } = process.cpuUsage(startedCpu);
  return {
    ms: performance.now() - started,
    cpuMs: (user + system) / 1000,
    turnMs,
    queries: counters.queries - queries,
    writes: counters.writes - writes,
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function heapMiB(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

/** A class whose status is what was written last. */
function measuredClass(name: string, counters: Counters): () => MeasuredClass {
  const metadata = { name, namespace: "bench", uid: `uid-${name}`, generation: 1, resourceVersion: "1" };
  const functions = [{ function_key: "f", provision_config: { container_image: "example.test/fn:1" } }];
  const spec = { functions, nfr_requirements: { min_throughput_rps: 20, max_latency_ms: 200, availability: 0.99 } };
  const object = { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", metadata };
  const parsed = classRuntime.parse({ ...object, spec });
  const labels = { "oaas.io/component": "function", "oaas.io/function": "f" };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels, annotations: { "oaas.io/function-key": "f" } },
    spec: { replicas: 2, template: { spec: { containers: [{ image: "example.test/fn:1" }] } } },
  };
  const sources = { class: parsed, uid: metadata.uid, children: [deployment], pods: [], maxReplicas: 20 };
  let status: ClassRuntimeStatus = {};
  return () => ({
    object,
    class: parsed,
    status,
    isMeasured: true,
    components: measuredComponents(sources),
    writeStatus: async (next) => {
      counters.writes += 1;
      status = next;
      return true;
    },
  });
}

async function feed(prometheus: PrometheusUnderTest, nowMs: number, log: (line: string) => void): Promise<void> {
  const times = Array.from({ length: SCRAPES }, (_, index) => nowMs - (SCRAPES - 1 - index) * SCRAPE_MS);
  let count = 0;
  for (let from = 0; from < CLASSES; from += WRITE_CLASSES) {
    const names = Array.from(
      { length: Math.min(WRITE_CLASSES, CLASSES - from) },
      (_, index) => `class-${from + index}`,
    );
    const series = names.flatMap((name) => seriesOf(name, times));
    count += series.length;
    await prometheus.write(series);
  }
  log(`${count} series, ${count * SCRAPES} samples`);
}

function seriesOf(name: string, times: readonly number[]): Series[] {
  const series = (metric: string, labels: Record<string, string>, valueAt: (index: number) => number): Series => ({
    labels: { __name__: metric, namespace: "bench", ...labels },
    samples: times.map((atMs, index) => ({ atMs, value: valueAt(index) })),
  });
  const counter = (metric: string, labels: Record<string, string>, perSecond: number): Series =>
    series(metric, labels, (index) => (index * SCRAPE_MS * perSecond) / 1000);
  const gauge = (metric: string, labels: Record<string, string>, value: number): Series =>
    series(metric, labels, () => value);
  const owner = { oaas_owner: name, function: "f" };
  return [
    counter("http_requests_total", { ...owner, code: "200" }, 40),
    counter("http_requests_total", { ...owner, code: "500" }, 0.01),
    gauge("http_requests_in_flight", owner, 2),
    ...BOUNDS.map((le, index) =>
      counter("http_request_duration_seconds_bucket", { ...owner, le }, Math.min(40, 5 * (index + 1))),
    ),
    ...PODS.flatMap((id) => {
      const pod = { pod: `${name}-7d4b9c6f5d-${id}`, container: "app" };
      return [
        counter("container_cpu_usage_seconds_total", pod, 0.2),
        gauge("container_memory_working_set_bytes", pod, 1e8),
        counter("container_cpu_cfs_periods_total", pod, 10),
        counter("container_cpu_cfs_throttled_periods_total", pod, 0),
        gauge("kube_pod_container_status_restarts_total", pod, 0),
      ];
    }),
    gauge("kube_deployment_status_replicas_ready", { deployment: name }, 2),
    gauge("kube_deployment_spec_replicas", { deployment: name }, 2),
  ];
}
