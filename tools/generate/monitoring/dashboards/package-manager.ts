import { ratioSeries } from "../burn-rate.ts";
import type { Dashboard } from "../model.ts";
import { processRow } from "./process-row.ts";

const PM = 'job="$job",namespace=~"$namespace"';
const OF_CLUSTER = `${PM},cluster=~"$cluster"`;

const rate = (by: string, metric: string, matchers: string): string =>
  `sum by (${by}) (rate(${metric}{${matchers}}[$__rate_interval]))`;

const quantile = (q: number, by: string, metric: string, matchers: string): string =>
  `histogram_quantile(${q}, ${rate(`${by}, le`, `${metric}_bucket`, matchers)})`;

/** Requests, calls to clusters and processes of the package manager. */
export const PACKAGE_MANAGER: Dashboard = {
  uid: "oaas-package-manager",
  title: "OaaS / Package manager",
  description: "Requests, calls to clusters and processes of the package manager.",
  variables: [
    { name: "job", label: "Job", series: "pm_crm_breaker_state", seriesLabel: "job", isSingle: true },
    {
      name: "namespace",
      label: "Namespace",
      series: 'pm_crm_breaker_state{job="$job"}',
      seriesLabel: "namespace",
    },
    { name: "cluster", label: "Cluster", series: `pm_crm_breaker_state{${PM}}`, seriesLabel: "cluster" },
  ],
  rows: [
    {
      title: "Requests",
      panels: [
        {
          title: "Requests per second",
          unit: "reqps",
          description: "Completed requests by operation. A stream counts when it ends.",
          queries: [{ expr: rate("operation", "pm_http_requests_total", PM), legend: "{{operation}}" }],
        },
        {
          title: "Responses by status",
          unit: "reqps",
          description: "4xx are mistakes of clients or conflicts, 429 the rate limit, 5xx our failures.",
          queries: [{ expr: rate("status", "pm_http_requests_total", PM), legend: "{{status}}" }],
        },
        {
          title: "Share of server errors",
          unit: "percentunit",
          description: "Responses with status 5xx, relative to all. Runbook: PackageManagerErrors.",
          queries: [
            {
              expr: `(${rate("job", "pm_http_requests_total", `${PM},status=~"5.."`)} or 0 * ${rate("job", "pm_http_requests_total", PM)}) / (${rate("job", "pm_http_requests_total", PM)} > 0)`,
              legend: "errors",
            },
          ],
        },
        {
          title: "Burn rates of the error budget",
          unit: "none",
          description: "Share of server errors by window, recorded by the rules; empty with fewer than 30 requests.",
          queries: ["5m", "1h", "6h", "3d"].map((window) => ({
            expr: `${ratioSeries("pm_request_errors", window)}{${PM}}`,
            legend: window,
          })),
        },
        {
          title: "Latency by operation, 99th percentile",
          unit: "s",
          description: "Writes to deployments wait for clusters, up to DEPLOY_WAIT. Reads should stay below 1 s.",
          queries: [{ expr: quantile(0.99, "operation", "pm_http_request_seconds", PM), legend: "{{operation}}" }],
        },
        {
          title: "Latency of all requests",
          unit: "s",
          description: "Median, 90th and 99th percentile over all operations.",
          queries: [0.5, 0.9, 0.99].map((q) => ({
            expr: quantile(q, "job", "pm_http_request_seconds", PM),
            legend: `p${q * 100}`,
          })),
        },
      ],
    },
    {
      title: "Operations",
      panels: [
        {
          title: "Open operations",
          unit: "none",
          description: "Roll-outs and removals that have not ended.",
          queries: [{ expr: `max(pm_operations_open{${PM}})`, legend: "open" }],
        },
        {
          title: "Age of the oldest operation",
          unit: "s",
          description: "Grows while an operation waits for a gate or a cluster. Runbook: OperationStuck.",
          queries: [
            {
              expr: `(time() - max(pm_operations_oldest_start_seconds{${PM}} > 0)) or 0 * max(pm_operations_open{${PM}})`,
              legend: "age",
            },
          ],
        },
        {
          title: "Ended sagas by outcome",
          unit: "ops",
          description: "Roll-outs, removals and repairs by kind. Failed ones are repeated by the drift reconciler.",
          queries: [{ expr: rate("kind, outcome", "pm_sagas_total", PM), legend: "{{kind}} {{outcome}}" }],
        },
        {
          title: "Duration of sagas, 99th percentile",
          unit: "s",
          description: "From the request to the end, with waiting for gates and over restarts.",
          queries: [{ expr: quantile(0.99, "kind", "pm_saga_seconds", PM), legend: "{{kind}}" }],
        },
        {
          title: "Retries of saga steps",
          unit: "ops",
          description: "Repeated calls to clusters. A steady rate means a cluster that fails or answers late.",
          queries: [
            {
              expr: `${rate("action", "pm_saga_step_retries_total", PM)} or 0 * ${rate("job", "pm_sagas_total", PM)}`,
              legend: "{{action}}",
            },
          ],
        },
      ],
    },
    {
      title: "Planner",
      panels: [
        {
          title: "Time to compute a plan",
          unit: "s",
          description: "Median and 99th percentile, without reading the health of clusters.",
          queries: [0.5, 0.99].map((q) => ({ expr: quantile(q, "job", "pm_plan_seconds", PM), legend: `p${q * 100}` })),
        },
        {
          title: "Refused plans by reason",
          unit: "ops",
          description: "The response of each refused request names the change that would help.",
          queries: [{ expr: rate("reason", "pm_plan_refusals_total", PM), legend: "{{reason}}" }],
        },
      ],
    },
    {
      title: "Drift",
      panels: [
        {
          title: "Sweeps by outcome",
          unit: "ops",
          description: "Comparisons of all clusters with the desired state; partial when a cluster did not answer.",
          queries: [{ expr: rate("outcome", "pm_drift_sweeps_total", PM), legend: "{{outcome}}" }],
        },
        {
          title: "Duration of a sweep, 99th percentile",
          unit: "s",
          description: "Grows with the number of units and the slowest cluster.",
          queries: [{ expr: quantile(0.99, "job", "pm_drift_sweep_seconds", PM), legend: "p99" }],
        },
        {
          title: "Corrections",
          unit: "ops",
          description: "Units found changed or missing, repaired deployments, and removed surplus units.",
          queries: [
            { expr: rate("job", "pm_drift_units_total", PM), legend: "drifted units" },
            { expr: rate("job", "pm_drift_repairs_total", PM), legend: "repairs" },
            { expr: rate("job", "pm_drift_surplus_removed_total", PM), legend: "surplus removed" },
          ],
        },
        {
          title: "Reconciling processes and unreachable clusters",
          unit: "none",
          description: "One process reconciles; none means that its lease is not held, or the store is away.",
          queries: [
            { expr: `sum(pm_drift_active{${PM}})`, legend: "active" },
            { expr: `max(pm_drift_unreachable_clusters{${PM}})`, legend: "unreachable clusters" },
          ],
        },
      ],
    },
    {
      title: "Events",
      panels: [
        {
          title: "Open streams",
          unit: "none",
          description: "Clients that follow events. Their number is limited by SERVER_MAX_STREAMS.",
          queries: [{ expr: `sum(pm_event_subscribers{${PM}})`, legend: "streams" }],
        },
        {
          title: "Delivered events",
          unit: "ops",
          description: "Events sent to streams, by topic.",
          queries: [{ expr: rate("topic", "pm_events_delivered_total", PM), legend: "{{topic}}" }],
        },
        {
          title: "Lag of events, 99th percentile",
          unit: "s",
          description: "From an event to its delivery. Clients that read slowly raise it.",
          queries: [{ expr: quantile(0.99, "job", "pm_event_lag_seconds", PM), legend: "p99" }],
        },
        {
          title: "Streams that missed events",
          unit: "ops",
          description: "These clients were told to read their objects again.",
          queries: [{ expr: rate("job", "pm_event_resyncs_total", PM), legend: "resyncs" }],
        },
      ],
    },
    {
      title: "Store",
      panels: [
        {
          title: "Errors of the store",
          unit: "ops",
          description: "Failed operations of etcd or the SQLite file. Runbook: PackageManagerStoreFails.",
          queries: [{ expr: rate("operation, kind", "pm_store_errors_total", PM), legend: "{{operation}} {{kind}}" }],
        },
        {
          title: "Latency of the store, 99th percentile",
          unit: "s",
          description: "Commits to etcd wait for its disk; commits to SQLite for ours.",
          queries: [
            {
              expr: quantile(0.99, "operation, backend", "pm_store_operation_seconds", PM),
              legend: "{{backend}} {{operation}}",
            },
          ],
        },
        {
          title: "Size of the store",
          unit: "bytes",
          description: "The SQLite file, or the database of an etcd member, whose quota is 2 GiB by default.",
          queries: [{ expr: `max by (backend) (pm_store_size_bytes{${PM}})`, legend: "{{backend}}" }],
        },
        {
          title: "Conflicts of transactions",
          unit: "ops",
          description: "Another writer was first. Retried; many mean that several clients change the same objects.",
          queries: [{ expr: rate("job", "pm_store_conflicts_total", PM), legend: "conflicts" }],
        },
        {
          title: "Lag of watches, 99th percentile",
          unit: "s",
          description: "From a write to its delivery by a watch of the same process: how old lists are.",
          queries: [{ expr: quantile(0.99, "job", "pm_store_watch_lag_seconds", PM), legend: "p99" }],
        },
      ],
    },
    {
      title: "Clusters",
      panels: [
        {
          title: "Circuit breakers",
          unit: "none",
          description: "2 is open: no calls are sent, changes wait. Runbook: ClusterUnreachable.",
          valueNames: { "0": "closed", "1": "half open", "2": "open" },
          queries: [{ expr: `max by (cluster) (pm_crm_breaker_state{${OF_CLUSTER}})`, legend: "{{cluster}}" }],
        },
        {
          title: "Calls by outcome",
          unit: "reqps",
          description: "Calls to class runtime managers, including retries; ok or the kind of the fault.",
          queries: [
            { expr: rate("cluster, outcome", "pm_crm_calls_total", OF_CLUSTER), legend: "{{cluster}} {{outcome}}" },
          ],
        },
        {
          title: "Latency of calls, 99th percentile",
          unit: "s",
          description: "Includes waiting and retries.",
          queries: [{ expr: quantile(0.99, "cluster", "pm_crm_call_seconds", OF_CLUSTER), legend: "{{cluster}}" }],
        },
        {
          title: "Calls by method",
          unit: "reqps",
          description: "Health checks and watches are steady; the others follow deployments.",
          queries: [{ expr: rate("method", "pm_crm_calls_total", OF_CLUSTER), legend: "{{method}}" }],
        },
        {
          title: "Unaccounted units",
          unit: "none",
          kind: "stat",
          description: "Units that are newer than the store. Above 0 after a restore. Runbook: UnitsUnaccounted.",
          queries: [{ expr: `max(pm_units_unaccounted{${PM}})`, legend: "units" }],
        },
      ],
    },
    processRow(PM),
  ],
};
