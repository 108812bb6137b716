import type { RuleGroup } from "../model.ts";
import { MONITORING } from "../settings.ts";

const { jobs } = MONITORING;
const BY = "job, namespace, cluster";

/** Alerts of the class runtime manager. The label `cluster` is the external label of each Prometheus, if it has one. */
export const CLASS_RUNTIME_MANAGER_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-class-runtime-manager",
    rules: [
      {
        alert: "ClassRuntimeManagerDown",
        severity: "critical",
        expr: `up{job="${jobs.classRuntimeManager}"} == 0 or absent(up{job="${jobs.classRuntimeManager}"})`,
        for: "2m",
        summary: "A class runtime manager is down",
        description:
          "Prometheus cannot read the metrics of {{ $labels.instance }}. Classes keep running; changes, repairs and scaling by requirements wait.",
      },
      {
        alert: "ClassRuntimeManagerNoLeader",
        severity: "critical",
        expr: `max by (${BY}, lease) (kube_leader_leading) == 0`,
        for: "2m",
        summary: "No class runtime manager leads",
        description: "No process holds the lease {{ $labels.lease }}, so nothing is reconciled.",
      },
      {
        alert: "ReconcilesFail",
        severity: "warning",
        expr: [
          `sum by (${BY}, controller) (rate(kube_controller_reconciles_total{result=~"retried|failed"}[10m]))`,
          `/ sum by (${BY}, controller) (rate(kube_controller_reconciles_total[10m])) > 0.2`,
        ].join(" "),
        for: "15m",
        summary: "Reconciles of {{ $labels.controller }} fail",
        description: "{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} end in a fault.",
      },
      {
        alert: "ReconcileQueueSlow",
        severity: "warning",
        expr: `histogram_quantile(0.9, sum by (${BY}, controller, le) (rate(kube_controller_queue_wait_seconds_bucket[10m]))) > 60`,
        for: "10m",
        summary: "Changes wait long for {{ $labels.controller }}",
        description: "One of ten keys of {{ $labels.controller }} waits {{ $value | humanizeDuration }} or more.",
      },
      {
        alert: "WatchesBreak",
        severity: "warning",
        expr: `sum by (${BY}, informer) (increase(kube_informer_restarts_total{reason=~"broken|silent"}[15m])) > 5`,
        for: "15m",
        summary: "The watch of {{ $labels.informer }} breaks again and again",
        description:
          "The watch of {{ $labels.informer }} was restarted {{ $value | humanize }} times in 15 minutes. Its cache may be outdated.",
      },
      {
        alert: "ReportsNotDelivered",
        severity: "warning",
        expr: `sum by (${BY}) (rate(crm_pm_reports_total{outcome=~"failed|refused|dropped"}[10m])) / sum by (${BY}) (rate(crm_pm_reports_total[10m])) > 0.5`,
        for: "15m",
        summary: "Reports do not reach the package manager",
        description:
          "{{ $value | humanizePercentage }} of the reports of this cluster are not delivered. The package manager still reads the status by calls.",
      },
    ],
  },
];
