import type { Dashboard } from "../model.ts";
import { processRow } from "./process-row.ts";

const CRM = 'job="$job",cluster=~"$cluster",namespace=~"$namespace"';

const rate = (by: string, metric: string): string => `sum by (${by}) (rate(${metric}{${CRM}}[$__rate_interval]))`;

const quantile = (q: number, by: string, metric: string): string =>
  `histogram_quantile(${q}, ${rate(`${by}, le`, `${metric}_bucket`)})`;

/** Controllers, caches, calls and reports of the class runtime manager. */
export const CLASS_RUNTIME_MANAGER: Dashboard = {
  uid: "oaas-class-runtime-manager",
  title: "OaaS / Class runtime manager",
  description: "Controllers, caches, calls and reports of the class runtime manager of a cluster.",
  variables: [
    { name: "job", label: "Job", series: "crm_active_deployments", seriesLabel: "job", isSingle: true },
    { name: "cluster", label: "Cluster", series: 'crm_active_deployments{job="$job"}', seriesLabel: "cluster" },
    {
      name: "namespace",
      label: "Namespace",
      series: 'crm_active_deployments{job="$job",cluster=~"$cluster"}',
      seriesLabel: "namespace",
    },
  ],
  rows: [
    {
      title: "Classes",
      panels: [
        {
          title: "Class runtimes",
          unit: "none",
          kind: "stat",
          description: "Class runtimes in the served namespaces.",
          queries: [{ expr: `max by (cluster) (crm_active_deployments{${CRM}})`, legend: "{{cluster}}" }],
        },
        {
          title: "Leader",
          unit: "none",
          description: "1 for the process that leads. Runbook: ClassRuntimeManagerNoLeader.",
          queries: [
            {
              expr: `max by (cluster, instance, lease) (kube_leader_leading{${CRM}})`,
              legend: "{{cluster}} {{instance}}",
            },
          ],
        },
        {
          title: "Deployment requests",
          unit: "reqps",
          description: "Completed requests of the package manager, by outcome.",
          queries: [{ expr: rate("outcome", "crm_deployments_total"), legend: "{{outcome}}" }],
        },
        {
          title: "Children",
          unit: "ops",
          description: "Reconciled children by outcome. Constant writes without changes mean another writer.",
          queries: [{ expr: rate("kind, outcome", "crm_children_total"), legend: "{{kind}} {{outcome}}" }],
        },
        {
          title: "Health checks of state stores",
          unit: "ops",
          description: "ODGM health checks by outcome.",
          queries: [{ expr: rate("outcome", "crm_odgm_readings_total"), legend: "{{outcome}}" }],
        },
      ],
    },
    {
      title: "Controllers",
      panels: [
        {
          title: "Reconciles by result",
          unit: "ops",
          description: "retried and failed are faults. Runbook: ReconcilesFail.",
          queries: [
            {
              expr: rate("controller, result", "kube_controller_reconciles_total"),
              legend: "{{controller}} {{result}}",
            },
          ],
        },
        {
          title: "Reconcile duration, 99th percentile",
          unit: "s",
          description: "Time of one reconcile by controller.",
          queries: [
            {
              expr: quantile(0.99, "controller", "kube_controller_reconcile_duration_seconds"),
              legend: "{{controller}}",
            },
          ],
        },
        {
          title: "Reconcile duration by kind, median",
          unit: "s",
          description: "Time of one reconcile by the kind of the object.",
          queries: [{ expr: quantile(0.5, "kind", "crm_reconciliation_duration_seconds"), legend: "{{kind}}" }],
        },
        {
          title: "Queue depth",
          unit: "none",
          description: "Keys that wait for a worker.",
          queries: [{ expr: `sum by (controller) (kube_controller_queue_depth{${CRM}})`, legend: "{{controller}}" }],
        },
        {
          title: "Queue wait, 90th percentile",
          unit: "s",
          description: "How long a key waits. Runbook: ReconcileQueueSlow.",
          queries: [
            { expr: quantile(0.9, "controller", "kube_controller_queue_wait_seconds"), legend: "{{controller}}" },
          ],
        },
        {
          title: "Keys added and retried",
          unit: "ops",
          description: "Retries after faults, relative to all keys.",
          queries: [
            { expr: rate("controller", "kube_controller_queue_adds_total"), legend: "{{controller}} added" },
            { expr: rate("controller", "kube_controller_queue_retries_total"), legend: "{{controller}} retried" },
          ],
        },
        {
          title: "Busy workers",
          unit: "none",
          description: "At the limit of OPRC_CRM_LIMITS_CONCURRENCY the queue grows.",
          queries: [{ expr: `sum by (controller) (kube_controller_active_workers{${CRM}})`, legend: "{{controller}}" }],
        },
      ],
    },
    {
      title: "Requirements",
      panels: [
        {
          title: "Measured classes",
          unit: "none",
          description: "Classes by the status of their condition NfrObserved. Unknown has no fresh data.",
          queries: [
            { expr: `max by (cluster, observed) (crm_nfr_classes{${CRM}})`, legend: "{{cluster}} {{observed}}" },
          ],
        },
        {
          title: "Age of the newest sample",
          unit: "s",
          description: "Grows while Prometheus does not answer. Runbook: RequirementDataOutdated.",
          queries: [
            {
              expr: `max by (cluster, instance) (crm_nfr_data_age_seconds{${CRM}})`,
              legend: "{{cluster}} {{instance}}",
            },
          ],
        },
        {
          title: "Violations that began",
          unit: "ops",
          description: "Requirements that became violated, by requirement.",
          queries: [{ expr: rate("requirement", "crm_nfr_violations_total"), legend: "{{requirement}}" }],
        },
        {
          title: "Duration of a measurement",
          unit: "s",
          description: "Of all classes. Above OPRC_CRM_ANALYZER_INTERVAL_SECS measurements come late.",
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(q, "cluster", "crm_nfr_tick_duration_seconds"),
            legend: `{{cluster}} p${q * 100}`,
          })),
        },
        {
          title: "Query duration by signal, 99th percentile",
          unit: "s",
          description: "Successful queries to Prometheus.",
          queries: [{ expr: quantile(0.99, "signal", "crm_nfr_query_duration_seconds"), legend: "{{signal}}" }],
        },
        {
          title: "Queries by result",
          unit: "ops",
          description: "Failed ones by the kind of the fault. Runbook: RequirementQueriesFail.",
          queries: [
            { expr: rate("cluster", "crm_nfr_query_duration_seconds_count"), legend: "{{cluster}} ok" },
            {
              expr: `${rate("cluster, kind", "crm_nfr_query_errors_total")} or 0 * ${rate("cluster", "crm_nfr_tick_duration_seconds_count")}`,
              legend: "{{cluster}} {{kind}} failed",
            },
          ],
        },
      ],
    },
    {
      title: "Kubernetes API",
      panels: [
        {
          title: "Requests by code",
          unit: "reqps",
          description:
            "Code none: the API server did not respond. Constant 403 means a missing role binding, 429 a busy API server.",
          queries: [{ expr: rate("verb, code", "kube_client_requests_total"), legend: "{{verb}} {{code}}" }],
        },
        {
          title: "Request duration, 99th percentile",
          unit: "s",
          description: "Until the status line of the response.",
          queries: [{ expr: quantile(0.99, "verb", "kube_client_request_duration_seconds"), legend: "{{verb}}" }],
        },
        {
          title: "Cached objects",
          unit: "none",
          description: "Objects in the caches of informers.",
          queries: [{ expr: `sum by (informer) (kube_informer_objects{${CRM}})`, legend: "{{informer}}" }],
        },
        {
          title: "Changes in caches",
          unit: "ops",
          description: "Watch events by informer and type.",
          queries: [{ expr: rate("informer, type", "kube_informer_events_total"), legend: "{{informer}} {{type}}" }],
        },
        {
          title: "Watch restarts",
          unit: "ops",
          description: "expired is normal; broken and silent are network faults. Runbook: WatchesBreak.",
          queries: [
            { expr: rate("informer, reason", "kube_informer_restarts_total"), legend: "{{informer}} {{reason}}" },
          ],
        },
        {
          title: "Events",
          unit: "ops",
          description: "Kubernetes Events: created, counted into a series, or dropped.",
          queries: [{ expr: rate("outcome", "kube_events_recorded_total"), legend: "{{outcome}}" }],
        },
      ],
    },
    {
      title: "Package manager",
      panels: [
        {
          title: "gRPC calls by code",
          unit: "reqps",
          description: "Completed calls of the package manager and other clients.",
          queries: [{ expr: rate("method, code", "grpc_server_handled_total"), legend: "{{method}} {{code}}" }],
        },
        {
          title: "gRPC latency, 99th percentile",
          unit: "s",
          description: "Until the end of the response; watches last long.",
          queries: [{ expr: quantile(0.99, "method", "grpc_server_handling_seconds"), legend: "{{method}}" }],
        },
        {
          title: "Running gRPC calls",
          unit: "none",
          description: "Watches count while they are open.",
          queries: [{ expr: `sum by (instance) (grpc_server_in_flight{${CRM}})`, legend: "{{instance}}" }],
        },
        {
          title: "Rejected connections",
          unit: "ops",
          description: "Connections above a limit: OPRC_CRM_LIMITS_CONNECTIONS and _CONNECTIONS_PER_ADDRESS.",
          queries: [{ expr: rate("limit", "grpc_server_connections_rejected_total"), legend: "{{limit}}" }],
        },
        {
          title: "Reports to the package manager",
          unit: "ops",
          description: "Reports by outcome. Runbook: ReportsNotDelivered.",
          queries: [{ expr: rate("about, outcome", "crm_pm_reports_total"), legend: "{{about}} {{outcome}}" }],
        },
        {
          title: "Waiting reports",
          unit: "none",
          description: "Reports that wait to be sent.",
          queries: [{ expr: `sum by (instance) (crm_pm_reports_queued{${CRM}})`, legend: "{{instance}}" }],
        },
      ],
    },
    processRow(CRM),
  ],
};
