import { describeWith, startPrometheus, type PrometheusUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  assignSeries,
  buildQuery,
  ComponentIndex,
  deploymentCpuPercent,
  deploymentLatencyP95,
  deploymentThroughput,
  httpLatencyP99Ms,
  knativeLatencyP99Ms,
  knativeRequestsPerSecond,
  podsCpuMillicores,
  podsMemoryBytes,
  type ComponentTarget,
  type NamingScheme,
} from "../src/queries/index.ts";
import { SIGNALS, type Signal } from "../src/samples.ts";

const MINUTE = 60_000;
const NOW = Math.floor(Date.now() / MINUTE) * MINUTE;
const TIMES = Array.from({ length: 81 }, (_, index) => NOW - (80 - index) * 15_000);

type Labels = Record<string, string>;
interface Written {
  readonly labels: Labels;
  readonly samples: readonly { readonly atMs: number; readonly value: number }[];
}

const gauge = (name: string, labels: Labels, value: number): Written => ({
  labels: { __name__: name, ...labels },
  samples: TIMES.map((atMs) => ({ atMs, value })),
});
const counter = (name: string, labels: Labels, perSecond: number): Written => ({
  labels: { __name__: name, ...labels },
  samples: TIMES.map((atMs, index) => ({ atMs, value: 1000 + index * 15 * perSecond })),
});
/** Rates of the cumulative buckets; the last one is also the rate of all requests. */
const histogram = (name: string, labels: Labels, buckets: Readonly<Record<string, number>>): Written[] => [
  ...Object.entries(buckets).map(([le, perSecond]) => counter(`${name}_bucket`, { ...labels, le }, perSecond)),
  counter(`${name}_count`, labels, buckets["+Inf"] ?? 0),
];

const WEB_PODS = ["web-7d4b9c6f5d-x2x4z", "web-7d4b9c6f5d-b5c6d"];
const API_POD = "web-api-5f6d7c8b9-zzzz2";
const KNATIVE_POD = "greeter-00001-deployment-6c8d9f7b5-lmnpq";
const ODGM_POD = "web-odgm-0";
/** Not ours, but with our prefix. */
const FOREIGN_POD = "web-admin-7d4b9c6f5d-x2x4z";

/** Classes `web` (a function and a state store) and `web-api`, and the Knative class `greeter`. */
const TARGETS: readonly ComponentTarget[] = [
  target("web/hello", "web", "hello", { kind: "Deployment", namespace: "team-a", name: "web" }, 300),
  target("web/odgm", "web", undefined, { kind: "StatefulSet", namespace: "team-a", name: "web-odgm" }),
  target("web-api/api", "web-api", "api", { kind: "Deployment", namespace: "team-a", name: "web-api" }, 100),
  target("greeter/greet", "greeter", "greet", { kind: "Knative", namespace: "team-a", name: "greeter" }, 50),
  {
    ...target("b/web", "web", "hello", { kind: "Deployment", namespace: "team-b", name: "web" }, 300),
    namespace: "team-b",
  },
];

function target(
  key: string,
  owner: string,
  functionLabel: string | undefined,
  workload: ComponentTarget["workloads"][number],
  maxLatencyMs?: number,
): ComponentTarget {
  return {
    key,
    namespace: "team-a",
    owner,
    workloads: [workload],
    ...(functionLabel === undefined ? {} : { functionLabel }),
    ...(maxLatencyMs === undefined ? {} : { maxLatencyMs }),
  };
}

const ns = { namespace: "team-a" };
const web = { ...ns, oaas_owner: "web", function: "hello", deployment_id: "d-web" };
const revision = { namespace_name: "team-a", configuration_name: "greeter", revision_name: "greeter-00001" };

function containerSeries(pod: string, cores: number, bytes: number, namespace = "team-a"): Written[] {
  const app = { namespace, pod, container: "app" };
  return [
    counter("container_cpu_usage_seconds_total", app, cores),
    // The sums of the pod and the pause container must not count twice.
    counter("container_cpu_usage_seconds_total", { ...app, container: "" }, cores * 1.5),
    counter("container_cpu_usage_seconds_total", { ...app, container: "POD" }, 0.01),
    gauge("container_memory_working_set_bytes", app, bytes),
    gauge("container_memory_working_set_bytes", { ...app, container: "" }, bytes * 1.5),
    counter("container_cpu_cfs_periods_total", app, 10),
    counter("container_cpu_cfs_throttled_periods_total", app, 2),
  ];
}

function prometheusSeries(): Written[] {
  const latency = { "0.1": 18, "0.5": 20, "+Inf": 20 };
  const teamB = { ...web, namespace: "team-b", deployment_id: "d-b" };
  const other = { ...web, namespace: "not-asked", deployment_id: "d-other" };
  return [
    ...WEB_PODS.flatMap((pod) => [
      counter("http_requests_total", { ...web, pod, code: "200" }, 20),
      ...histogram("http_request_duration_seconds", { ...web, pod }, latency),
      gauge("http_requests_in_flight", { ...web, pod }, 4),
      ...containerSeries(pod, 0.25, 1e8),
      gauge("kube_pod_container_status_restarts_total", { ...ns, pod, container: "app" }, 1),
    ]),
    counter("http_requests_total", { ...web, pod: WEB_PODS[0] ?? "", code: "500" }, 1),
    counter("http_requests_total", { ...teamB, code: "200" }, 100),
    counter("http_requests_total", { ...other, code: "200" }, 1000),
    counter("http_requests_total", { ...ns, oaas_owner: "web", code: "200" }, 7),
    // Spring Boot: no counter of requests, and another status label.
    ...histogram("http_server_requests_seconds", { ...ns, oaas_owner: "web-api", function: "api", status: "200" }, { "0.05": 4, "0.2": 4, "+Inf": 4 }),
    ...histogram("http_server_requests_seconds", { ...ns, oaas_owner: "web-api", function: "api", status: "503" }, { "0.05": 0, "0.2": 1, "+Inf": 1 }),
    counter("revision_request_count", { ...revision, response_code_class: "2xx" }, 10),
    counter("revision_request_count", { ...revision, response_code_class: "5xx" }, 2),
    counter("activator_request_count", { ...revision, response_code_class: "2xx" }, 3),
    ...histogram("revision_request_latencies", revision, { "10": 6, "100": 12, "+Inf": 12 }),
    ...histogram("activator_request_latencies", revision, { "10": 3, "100": 3, "+Inf": 3 }),
    gauge("revision_queue_depth", revision, 6),
    ...containerSeries(API_POD, 0.1, 5e7),
    ...containerSeries(ODGM_POD, 0.5, 4e8),
    ...containerSeries(KNATIVE_POD, 0.3, 6e7),
    ...containerSeries(FOREIGN_POD, 9, 9e9),
    gauge("kube_pod_container_status_restarts_total", { ...ns, pod: API_POD, container: "app" }, 3),
    gauge("kube_pod_container_status_last_terminated_reason", { ...ns, pod: API_POD, container: "app", reason: "OOMKilled" }, 1),
    gauge("kube_pod_container_status_last_terminated_reason", { ...ns, pod: WEB_PODS[0] ?? "", container: "app", reason: "Error" }, 1),
    gauge("kube_deployment_status_replicas_ready", { ...ns, deployment: "web" }, 2),
    gauge("kube_deployment_spec_replicas", { ...ns, deployment: "web" }, 4),
    gauge("kube_deployment_status_replicas_ready", { ...ns, deployment: "web-api" }, 1),
    gauge("kube_deployment_spec_replicas", { ...ns, deployment: "web-api" }, 1),
    gauge("kube_statefulset_status_replicas_ready", { ...ns, statefulset: "web-odgm" }, 1),
    gauge("kube_statefulset_replicas", { ...ns, statefulset: "web-odgm" }, 1),
    gauge("kube_deployment_status_replicas_ready", { ...ns, deployment: "greeter-00001-deployment" }, 3),
    gauge("kube_deployment_spec_replicas", { ...ns, deployment: "greeter-00001-deployment" }, 3),
    // Scaled to zero: 0 / 0 is not a number.
    gauge("kube_deployment_status_replicas_ready", { ...ns, deployment: "greeter-00002-deployment" }, 0),
    gauge("kube_deployment_spec_replicas", { ...ns, deployment: "greeter-00002-deployment" }, 0),
  ]; // prettier-ignore
}

function openTelemetrySeries(): Written[] {
  const k8s = { k8s_namespace_name: "team-a" };
  const deployment = (name: string) => ({ ...k8s, k8s_deployment_name: name });
  const duration = "http_server_request_duration_seconds";
  const knative = { ...k8s, kn_configuration_name: "greeter", kn_revision_name: "greeter-00001" };
  const usage = (pod: string, cores: number, bytes: number) => [
    gauge("k8s_pod_cpu_usage", { ...k8s, k8s_pod_name: pod }, cores),
    gauge("k8s_pod_memory_working_set_bytes", { ...k8s, k8s_pod_name: pod }, bytes),
  ];
  const container = (pod: string, reason: string) => ({
    ...k8s,
    k8s_pod_name: pod,
    k8s_container_name: "app",
    ...(reason === "" ? {} : { k8s_container_status_last_terminated_reason: reason }),
  });
  return [
    ...WEB_PODS.flatMap((pod) => [
      ...histogram(duration, { ...deployment("web"), k8s_pod_name: pod, http_response_status_code: "200" }, { "0.1": 18, "0.5": 20, "+Inf": 20 }),
      gauge("http_server_active_requests", { ...deployment("web"), k8s_pod_name: pod }, 4),
      ...usage(pod, 0.25, 1e8),
      gauge("k8s_container_restarts", container(pod, ""), 1),
    ]),
    ...histogram(duration, { ...deployment("web"), k8s_pod_name: WEB_PODS[0] ?? "", http_response_status_code: "500" }, { "0.1": 1, "0.5": 1, "+Inf": 1 }),
    ...histogram(duration, { ...knative, http_response_status_code: "200" }, { "0.01": 6, "0.1": 10, "+Inf": 10 }),
    ...histogram(duration, { ...knative, http_response_status_code: "502" }, { "0.01": 0, "0.1": 2, "+Inf": 2 }),
    gauge("kn_revision_request_queued", knative, 6),
    ...usage(API_POD, 0.1, 5e7),
    ...usage(ODGM_POD, 0.5, 4e8),
    ...usage(KNATIVE_POD, 0.3, 6e7),
    ...usage(FOREIGN_POD, 9, 9e9),
    gauge("k8s_container_restarts", container(API_POD, "OOMKilled"), 3),
    gauge("k8s_deployment_available", deployment("web"), 2),
    gauge("k8s_deployment_desired", deployment("web"), 4),
    gauge("k8s_statefulset_ready_pods", { ...k8s, k8s_statefulset_name: "web-odgm" }, 1),
    gauge("k8s_statefulset_desired_pods", { ...k8s, k8s_statefulset_name: "web-odgm" }, 1),
    gauge("k8s_deployment_available", deployment("greeter-00001-deployment"), 3),
    gauge("k8s_deployment_desired", deployment("greeter-00001-deployment"), 3),
  ]; // prettier-ignore
}

type Expected = Readonly<Record<Signal, Readonly<Record<string, number>>>>;

/** Interpolated in the bucket from 10 to 100 ms that has the second half of the requests. */
const greeterSlow = 12 - (6 + 6 * (40 / 90));

const EXPECTED: Readonly<Record<NamingScheme, Expected>> = {
  prometheus: {
    requests_per_second: { "web/hello": 41, "web/odgm": 7, "web-api/api": 5, "greeter/greet": 12, "b/web": 100 },
    latency_p50_ms: { "web/hello": 100 * (10 / 18), "web-api/api": 50 * (2.5 / 4), "greeter/greet": 10 },
    latency_p95_ms: { "web/hello": 300, "web-api/api": 50 + 150 * 0.75, "greeter/greet": 91 },
    latency_p99_ms: { "web/hello": 460, "web-api/api": 50 + 150 * 0.95, "greeter/greet": 98.2 },
    errors_per_second: { "web/hello": 1, "web/odgm": 0, "web-api/api": 1, "greeter/greet": 2, "b/web": 0 },
    slow_requests_per_second: { "web/hello": 2, "web-api/api": 2 / 3, "greeter/greet": greeterSlow },
    cpu_millicores: { "web/hello": 500, "web/odgm": 500, "web-api/api": 100, "greeter/greet": 300 },
    cpu_throttled_ratio: { "web/hello": 0.2, "web/odgm": 0.2, "web-api/api": 0.2, "greeter/greet": 0.2 },
    memory_bytes: { "web/hello": 2e8, "web/odgm": 4e8, "web-api/api": 5e7, "greeter/greet": 6e7 },
    restarts: { "web/hello": 2, "web-api/api": 3 },
    oom_kills: { "web/hello": 0, "web-api/api": 3 },
    availability: { "web/hello": 0.5, "web/odgm": 1, "web-api/api": 1, "greeter/greet": 1 },
    queue_length: { "web/hello": 8, "greeter/greet": 6 },
    ready_replicas: { "web/hello": 2, "web/odgm": 1, "web-api/api": 1, "greeter/greet": 3 },
  },
  opentelemetry: {
    requests_per_second: { "web/hello": 41, "greeter/greet": 12 },
    latency_p50_ms: { "web/hello": 100 * (20.5 / 37), "greeter/greet": 10 },
    latency_p95_ms: { "web/hello": 100 + 400 * ((38.95 - 37) / 4), "greeter/greet": 91 },
    latency_p99_ms: { "web/hello": 100 + 400 * ((40.59 - 37) / 4), "greeter/greet": 98.2 },
    errors_per_second: { "web/hello": 1, "greeter/greet": 2 },
    slow_requests_per_second: { "web/hello": 2, "greeter/greet": greeterSlow },
    cpu_millicores: { "web/hello": 500, "web/odgm": 500, "web-api/api": 100, "greeter/greet": 300 },
    cpu_throttled_ratio: {},
    memory_bytes: { "web/hello": 2e8, "web/odgm": 4e8, "web-api/api": 5e7, "greeter/greet": 6e7 },
    restarts: { "web/hello": 2, "web-api/api": 3 },
    oom_kills: { "web/hello": 0, "web-api/api": 3 },
    availability: { "web/hello": 0.5, "web/odgm": 1, "greeter/greet": 1 },
    queue_length: { "web/hello": 8, "greeter/greet": 6 },
    ready_replicas: { "web/hello": 2, "web/odgm": 1, "greeter/greet": 3 },
  },
};

const SERIES = { prometheus: prometheusSeries, opentelemetry: openTelemetrySeries } as const;

describeWith(["prometheus"], "signals on a real Prometheus", () => {
  describe.each(["prometheus", "opentelemetry"] as const)("with the names of %s", (scheme) => {
    let prometheus: PrometheusUnderTest;
    beforeAll(async () => {
      prometheus = await startPrometheus();
      await prometheus.write(SERIES[scheme]());
    });
    afterAll(() => prometheus?.close());

    const index = new ComponentIndex(TARGETS);
    it.each(SIGNALS)("measures %s of every class with one query", async (signal) => {
      const expression = buildQuery(signal, { namespaces: ["team-a", "team-b"], windowMs: 2 * MINUTE }, scheme);
      const range = { fromMs: NOW - 10 * MINUTE, toMs: NOW, stepMs: 30_000 };
      const series = (await prometheus.queryRange(expression, range)).map(({ labels, points }) => ({
        labels,
        // The client drops values that are not finite.
        samples: points.filter(({ value }) => Number.isFinite(value)),
      }));
      const { signals } = assignSeries(index, signal, series);
      const expected = EXPECTED[scheme][signal];
      expect(new Set(signals.keys())).toEqual(new Set(Object.keys(expected)));
      for (const [key, { total }] of signals) {
        expect(total, key).toHaveLength(21);
        for (const { value } of total) expect(value, key).toBeCloseTo(expected[key] ?? Number.NaN, 3);
      }
    });

    it.runIf(scheme === "prometheus")("answers the queries about one class", async () => {
      const first = async (expression: string): Promise<number | undefined> =>
        (await prometheus.query(expression, NOW))[0]?.points[0]?.value;
      const greeter = { namespace: "team-a", name: "greeter" };
      const pods = { namespace: "team-a", podPattern: "web-[a-z0-9]+-[a-z0-9]{5}" };
      expect(await first(knativeRequestsPerSecond(greeter))).toBeCloseTo(3, 3);
      expect(await first(knativeLatencyP99Ms(greeter))).toBeCloseTo(9_900, 3);
      expect(await first(httpLatencyP99Ms({ namespace: "team-a", name: "web-api" }))).toBeCloseTo(192.5, 3);
      expect(await first(podsCpuMillicores(pods))).toBeCloseTo(520, 3);
      expect(await first(podsMemoryBytes(pods))).toBe(2e8);
      expect(await first(deploymentLatencyP95("d-web"))).toBeCloseTo(0.3, 6);
      expect(await first(deploymentThroughput("d-web"))).toBeCloseTo(20, 3);
      await prometheus.write([counter("container_cpu_usage_seconds_total", { deployment_id: "d-web" }, 0.4)]);
      expect(await first(deploymentCpuPercent("d-web"))).toBeCloseTo(40, 3);
    });
  });
});
