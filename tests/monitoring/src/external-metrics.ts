/** A metric of another program that our queries use. */
export interface ExternalMetric {
  readonly type: "counter" | "gauge" | "histogram";
  /** Labels with a value for synthetic series of the class `web`. */
  readonly labels: Readonly<Record<string, string>>;
}

const HTTP = { namespace: "team-a", oaas_owner: "web", function: "hello" };
const KNATIVE = { namespace_name: "team-a", configuration_name: "web", revision_name: "web-00001" };
const CONTAINER = { namespace: "team-a", pod: "web-7d4b9c6f5d-x2x4z", container: "app" };
const DEPLOYMENT = { namespace: "team-a", deployment: "web-fn-0" };
const STATEFUL_SET = { namespace: "team-a", statefulset: "web-odgm" };
const HPA = { namespace: "team-a", horizontalpodautoscaler: "web-fn-0" };

const counter = (labels: ExternalMetric["labels"]): ExternalMetric => ({ type: "counter", labels });
const gauge = (labels: ExternalMetric["labels"]): ExternalMetric => ({ type: "gauge", labels });
const histogram = (labels: ExternalMetric["labels"]): ExternalMetric => ({ type: "histogram", labels });

/** Metrics of functions, Knative, cAdvisor and kube-state-metrics: what a cluster with Prometheus has. */
export const EXTERNAL_METRICS: Readonly<Record<string, ExternalMetric>> = {
  http_requests_total: counter({ ...HTTP, code: "200", status: "", status_code: "" }),
  http_request_duration_seconds: histogram({ ...HTTP, code: "200", status: "", status_code: "" }),
  http_server_requests_seconds: histogram({ ...HTTP, code: "", status: "200", status_code: "" }),
  http_requests_in_flight: gauge(HTTP),
  revision_request_count: counter({ ...KNATIVE, response_code_class: "2xx" }),
  revision_request_latencies: histogram(KNATIVE),
  revision_queue_depth: gauge(KNATIVE),
  activator_request_count: counter({ ...KNATIVE, response_code_class: "2xx" }),
  activator_request_latencies: histogram(KNATIVE),
  activator_request_concurrency: gauge(KNATIVE),
  container_cpu_usage_seconds_total: counter(CONTAINER),
  container_cpu_cfs_periods_total: counter(CONTAINER),
  container_cpu_cfs_throttled_periods_total: counter(CONTAINER),
  container_memory_working_set_bytes: gauge(CONTAINER),
  kube_pod_container_status_restarts_total: counter(CONTAINER),
  kube_pod_container_status_last_terminated_reason: gauge({ ...CONTAINER, reason: "OOMKilled" }),
  kube_deployment_spec_replicas: gauge(DEPLOYMENT),
  kube_deployment_status_replicas_ready: gauge(DEPLOYMENT),
  kube_statefulset_replicas: gauge(STATEFUL_SET),
  kube_statefulset_status_replicas_ready: gauge(STATEFUL_SET),
  kube_horizontalpodautoscaler_spec_min_replicas: gauge(HPA),
  kube_horizontalpodautoscaler_spec_max_replicas: gauge(HPA),
  kube_horizontalpodautoscaler_status_current_replicas: gauge(HPA),
  kube_horizontalpodautoscaler_status_desired_replicas: gauge(HPA),
};

/** Metrics that Prometheus and prom-client add to every scraped process; the test with real managers shows them. */
export const PROCESS_METRICS: ReadonlySet<string> = new Set([
  "up",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
]);

/** Labels of scrape targets; `cluster` may be an external label, and `worker` is added by the package manager. */
export const TARGET_LABELS: readonly string[] = ["job", "instance", "namespace", "cluster", "worker"];
