import { burnRateGroup, type RequestObjective } from "../burn-rate.ts";
import type { RuleGroup } from "../model.ts";
import { MONITORING } from "../settings.ts";

const { jobs, objectives } = MONITORING;

/** Probes are not requests of users: a readiness probe answers 503 while a process starts. */
const OF_USERS = 'operation!~"getHealth|getReadiness|getMetrics"';
/** Writes to deployments wait for clusters; streams stay open. */
const READS = 'operation=~"(get|list).*",operation!~"getHealth|getReadiness|getMetrics"';
/** Prometheus 3 writes bounds as floats. */
const ONE_SECOND = 'le=~"1|1[.]0"';

const rate = (metric: string, matchers: string, window: string): string =>
  `sum by (job, namespace) (rate(${metric}{${matchers}}[${window}]))`;

/** The share of requests without server errors. */
export const PACKAGE_MANAGER_REQUESTS: RequestObjective = {
  name: "pm_request_errors",
  objective: objectives.packageManagerRequests,
  bad: (window) => rate("pm_http_requests_total", `status=~"5..",${OF_USERS}`, window),
  total: (window) => rate("pm_http_requests_total", OF_USERS, window),
  alert: {
    alert: "PackageManagerErrors",
    summary: "The package manager answers requests with server errors",
    description: "Requests fail with status 5xx.",
  },
};

/** Alerts of the package manager and of its connections to clusters. */
export const PACKAGE_MANAGER_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-package-manager",
    rules: [
      {
        alert: "PackageManagerDown",
        severity: "critical",
        expr: `up{job="${jobs.packageManager}"} == 0 or absent(up{job="${jobs.packageManager}"})`,
        for: "2m",
        summary: "The package manager is down",
        description:
          "Prometheus cannot read the metrics of {{ $labels.instance }}. Deployed classes keep running; nothing can be deployed or changed.",
      },
      {
        alert: "PackageManagerStoreFails",
        severity: "critical",
        expr: "sum by (job, namespace, kind) (increase(pm_store_errors_total[5m])) > 5",
        for: "5m",
        summary: "The store of the package manager fails",
        description:
          "{{ $value | humanize }} operations of the store failed in 5 minutes with {{ $labels.kind }}. Changes are not accepted while it fails.",
      },
      {
        alert: "ClusterUnreachable",
        severity: "critical",
        expr: "max by (job, namespace, cluster) (pm_crm_breaker_state) == 2",
        for: "5m",
        summary: "Cluster {{ $labels.cluster }} is unreachable",
        description:
          "The circuit breaker of cluster {{ $labels.cluster }} is open: its class runtime manager does not answer. Its classes keep running; changes wait.",
      },
      {
        alert: "ClusterCallsFail",
        severity: "warning",
        expr: [
          'sum by (job, namespace, cluster) (rate(pm_crm_calls_total{outcome!~"ok|not-found|cancelled"}[10m]))',
          "/ sum by (job, namespace, cluster) (rate(pm_crm_calls_total[10m])) > 0.2",
        ].join(" "),
        for: "10m",
        summary: "Calls to cluster {{ $labels.cluster }} fail",
        description: "{{ $value | humanizePercentage }} of the calls to cluster {{ $labels.cluster }} fail.",
      },
      {
        alert: "OperationStuck",
        severity: "warning",
        expr: "time() - max by (job, namespace) (pm_operations_oldest_start_seconds > 0) > 3600",
        for: "5m",
        summary: "An operation on a deployment does not end",
        description: "The oldest open operation started {{ $value | humanizeDuration }} ago.",
      },
      {
        alert: "UnitsUnaccounted",
        severity: "warning",
        expr: "max by (job, namespace) (pm_units_unaccounted) > 0",
        for: "5m",
        summary: "Clusters run units that the store does not know",
        description:
          "{{ $value }} units are newer than the store, as after a restore of an older backup. They are kept and not managed.",
      },
    ],
  },
  burnRateGroup(PACKAGE_MANAGER_REQUESTS),
  burnRateGroup({
    name: "pm_slow_reads",
    objective: objectives.packageManagerReads,
    bad: (window) =>
      `${rate("pm_http_request_seconds_count", READS, window)} - ${rate("pm_http_request_seconds_bucket", `${ONE_SECOND},${READS}`, window)}`,
    total: (window) => rate("pm_http_request_seconds_count", READS, window),
    alert: {
      alert: "PackageManagerSlow",
      summary: "The package manager is slow",
      description: "Reads take longer than 1 second.",
    },
  }),
];
