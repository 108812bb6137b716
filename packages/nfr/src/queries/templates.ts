import type { Signal } from "../samples.ts";

/**
 * How metrics and labels are named: `prometheus` by client libraries, cAdvisor, kube-state-metrics and Knative up to
 * 1.18; `opentelemetry` by the semantic conventions, the Collector's receivers and Knative from 1.19.
 */
export const NAMING_SCHEMES = ["prometheus", "opentelemetry"] as const;

export type NamingScheme = (typeof NAMING_SCHEMES)[number];

/**
 * The query of a signal with placeholders: `$namespaces` is a quoted regular expression of the namespaces, `$window` the
 * window of rates.
 *
 * One query covers all classes of the namespaces, and all kinds of workloads: `or` adds the series of the next metric
 * where the metrics before have none with these labels. Each series names its component by one of these label sets:
 * namespace with `oaas_owner` (and `function`), with `deployment_id`, with the Deployment or StatefulSet, with the pod, or
 * the configuration of Knative.
 */
export type QueryTemplate = string;

type Templates = Readonly<Record<Signal, QueryTemplate>>;

/** Metrics of containers, by pod: they have no label of the class. Pause containers have no name. */
const CONTAINERS = 'namespace=~$namespaces,container!="",container!="POD"';

const HTTP = "namespace, oaas_owner, function";
const HTTP_FROM = 'namespace=~$namespaces,oaas_owner!=""';
const KNATIVE = "namespace_name, configuration_name";
const KNATIVE_FROM = "namespace_name=~$namespaces";

const OTEL_WORKLOAD = "k8s_namespace_name, k8s_deployment_name, k8s_statefulset_name";
const OTEL_KNATIVE = "k8s_namespace_name, kn_configuration_name";

/** Joins alternatives by `or`. */
const firstOf = (...alternatives: readonly string[]): string => alternatives.join(" or ");

const rate = (by: string, metric: string, matchers: string): string =>
  `sum by (${by}) (rate(${metric}{${matchers}}[$window]))`;

/** Failed requests; zero where there are requests, since a counter of failures appears with the first one. */
const failures = (by: string, metric: string, matchers: string, failed: readonly string[]): string =>
  firstOf(...failed.map((label) => rate(by, metric, `${matchers},${label}`)), `0 * ${rate(by, metric, matchers)}`);

const quantile = (q: number, buckets: string): string => `histogram_quantile(${q}, ${buckets})`;

/** The status label of a request, in the spelling of common client libraries. */
const FAILED = ['code=~"5.."', 'status=~"5.."', 'status_code=~"5.."'];

/** Requests by group, from counters and from the counts of histograms. */
const HTTP_COUNTERS = [
  "http_requests_total",
  "http_request_duration_seconds_count",
  "http_server_requests_seconds_count",
];
const HTTP_HISTOGRAMS = ["http_request_duration_seconds_bucket", "http_server_requests_seconds_bucket"];
/** The queue proxy sees every request; the activator only those that pass through it. */
const KNATIVE_COUNTERS = ["revision_request_count", "activator_request_count"];
/** In milliseconds. */
const KNATIVE_HISTOGRAMS = ["revision_request_latencies_bucket", "activator_request_latencies_bucket"];

const prometheusLatency = (q: number): string =>
  firstOf(
    ...HTTP_HISTOGRAMS.map((metric) => `1000 * ${quantile(q, rate(`${HTTP}, le`, metric, HTTP_FROM))}`),
    // Per revision, because their latencies differ; the worst counts.
    ...KNATIVE_HISTOGRAMS.map(
      (metric) => `max by (${KNATIVE}) (${quantile(q, rate(`${KNATIVE}, revision_name, le`, metric, KNATIVE_FROM))})`,
    ),
  );

const throttled = (by: string, namespace: string): string =>
  `sum by (${by}) (rate(container_cpu_cfs_throttled_periods_total{${namespace}}[$window])) / sum by (${by}) (rate(container_cpu_cfs_periods_total{${namespace}}[$window]))`;

const RESTARTS = `kube_pod_container_status_restarts_total{namespace=~$namespaces}`;
const OOM_KILLED = `kube_pod_container_status_last_terminated_reason{namespace=~$namespaces,reason="OOMKilled"} == 1`;

const PROMETHEUS: Templates = {
  requests_per_second: firstOf(
    ...HTTP_COUNTERS.map((metric) => rate(HTTP, metric, HTTP_FROM)),
    ...KNATIVE_COUNTERS.map((metric) => rate(KNATIVE, metric, KNATIVE_FROM)),
  ),
  latency_p50_ms: prometheusLatency(0.5),
  latency_p95_ms: prometheusLatency(0.95),
  latency_p99_ms: prometheusLatency(0.99),
  errors_per_second: firstOf(
    ...HTTP_COUNTERS.map((metric) => failures(HTTP, metric, HTTP_FROM, FAILED)),
    ...KNATIVE_COUNTERS.map((metric) => failures(KNATIVE, metric, KNATIVE_FROM, ['response_code_class="5xx"'])),
  ),
  slow_requests_per_second: firstOf(
    ...HTTP_HISTOGRAMS.map((metric) => rate(`${HTTP}, le`, metric, HTTP_FROM)),
    ...KNATIVE_HISTOGRAMS.map((metric) => rate(`${KNATIVE}, le`, metric, KNATIVE_FROM)),
  ),
  cpu_millicores: `1000 * ${rate("namespace, pod", "container_cpu_usage_seconds_total", CONTAINERS)}`,
  cpu_throttled_ratio: throttled("namespace, pod", CONTAINERS),
  memory_bytes: `sum by (namespace, pod) (container_memory_working_set_bytes{${CONTAINERS}})`,
  restarts: `sum by (namespace, pod) (${RESTARTS})`,
  oom_kills: `sum by (namespace, pod) (${RESTARTS} and on (namespace, pod, container) (${OOM_KILLED}) or 0 * ${RESTARTS})`,
  availability: firstOf(
    "sum by (namespace, deployment) (kube_deployment_status_replicas_ready{namespace=~$namespaces}) / sum by (namespace, deployment) (kube_deployment_spec_replicas{namespace=~$namespaces})",
    "sum by (namespace, statefulset) (kube_statefulset_status_replicas_ready{namespace=~$namespaces}) / sum by (namespace, statefulset) (kube_statefulset_replicas{namespace=~$namespaces})",
  ),
  queue_length: firstOf(
    `sum by (${HTTP}) (http_requests_in_flight{${HTTP_FROM}})`,
    `sum by (${KNATIVE}) (revision_queue_depth{${KNATIVE_FROM}})`,
    `sum by (${KNATIVE}) (activator_request_concurrency{${KNATIVE_FROM}})`,
  ),
  ready_replicas: firstOf(
    "sum by (namespace, deployment) (kube_deployment_status_replicas_ready{namespace=~$namespaces})",
    "sum by (namespace, statefulset) (kube_statefulset_status_replicas_ready{namespace=~$namespaces})",
  ),
};

const OTEL_HTTP = "http_server_request_duration_seconds";
const OTEL_FROM = 'k8s_namespace_name=~$namespaces,kn_configuration_name=""';
const OTEL_KNATIVE_FROM = 'k8s_namespace_name=~$namespaces,kn_configuration_name!=""';
const OTEL_FAILED = ['http_response_status_code=~"5.."'];
const OTEL_POD = "k8s_namespace_name, k8s_pod_name";
const OTEL_PODS = "k8s_namespace_name=~$namespaces";

const otelLatency = (q: number): string =>
  firstOf(
    `1000 * ${quantile(q, rate(`${OTEL_WORKLOAD}, le`, `${OTEL_HTTP}_bucket`, OTEL_FROM))}`,
    `1000 * max by (${OTEL_KNATIVE}) (${quantile(q, rate(`${OTEL_KNATIVE}, kn_revision_name, le`, `${OTEL_HTTP}_bucket`, OTEL_KNATIVE_FROM))})`,
  );

const OTEL_RESTARTS = `k8s_container_restarts{${OTEL_PODS}}`;

const OPENTELEMETRY: Templates = {
  requests_per_second: firstOf(
    rate(OTEL_WORKLOAD, `${OTEL_HTTP}_count`, OTEL_FROM),
    rate(OTEL_KNATIVE, `${OTEL_HTTP}_count`, OTEL_KNATIVE_FROM),
  ),
  latency_p50_ms: otelLatency(0.5),
  latency_p95_ms: otelLatency(0.95),
  latency_p99_ms: otelLatency(0.99),
  errors_per_second: firstOf(
    failures(OTEL_WORKLOAD, `${OTEL_HTTP}_count`, OTEL_FROM, OTEL_FAILED),
    failures(OTEL_KNATIVE, `${OTEL_HTTP}_count`, OTEL_KNATIVE_FROM, OTEL_FAILED),
  ),
  slow_requests_per_second: firstOf(
    rate(`${OTEL_WORKLOAD}, le`, `${OTEL_HTTP}_bucket`, OTEL_FROM),
    rate(`${OTEL_KNATIVE}, le`, `${OTEL_HTTP}_bucket`, OTEL_KNATIVE_FROM),
  ),
  cpu_millicores: `1000 * sum by (${OTEL_POD}) (k8s_pod_cpu_usage{${OTEL_PODS}})`,
  // No receiver measures throttling; a Collector that scrapes the kubelet keeps the names of cAdvisor.
  cpu_throttled_ratio: throttled("namespace, pod", CONTAINERS),
  memory_bytes: `sum by (${OTEL_POD}) (k8s_pod_memory_working_set_bytes{${OTEL_PODS}})`,
  restarts: `sum by (${OTEL_POD}) (${OTEL_RESTARTS})`,
  oom_kills: `sum by (${OTEL_POD}) (k8s_container_restarts{${OTEL_PODS},k8s_container_status_last_terminated_reason="OOMKilled"} or 0 * ${OTEL_RESTARTS})`,
  availability: firstOf(
    `sum by (k8s_namespace_name, k8s_deployment_name) (k8s_deployment_available{${OTEL_PODS}}) / sum by (k8s_namespace_name, k8s_deployment_name) (k8s_deployment_desired{${OTEL_PODS}})`,
    `sum by (k8s_namespace_name, k8s_statefulset_name) (k8s_statefulset_ready_pods{${OTEL_PODS}}) / sum by (k8s_namespace_name, k8s_statefulset_name) (k8s_statefulset_desired_pods{${OTEL_PODS}})`,
  ),
  queue_length: firstOf(
    `sum by (${OTEL_WORKLOAD}) (http_server_active_requests{${OTEL_FROM}})`,
    `sum by (${OTEL_KNATIVE}) (kn_revision_request_queued{${OTEL_KNATIVE_FROM}})`,
  ),
  ready_replicas: firstOf(
    `sum by (k8s_namespace_name, k8s_deployment_name) (k8s_deployment_available{${OTEL_PODS}})`,
    `sum by (k8s_namespace_name, k8s_statefulset_name) (k8s_statefulset_ready_pods{${OTEL_PODS}})`,
  ),
};

/** The default templates of each naming scheme. */
export const QUERY_TEMPLATES: Readonly<Record<NamingScheme, Templates>> = {
  prometheus: PROMETHEUS,
  opentelemetry: OPENTELEMETRY,
};
