import { QUERY_TEMPLATES } from "@oaas/nfr/queries";
import { burnRateGroup } from "../burn-rate.ts";
import type { RuleGroup } from "../model.ts";
import { MONITORING } from "../settings.ts";

/** The query of a signal for all classes of all namespaces. */
const inWindow = (template: string, window: string): string =>
  template.replaceAll("$namespaces", '".+"').replaceAll("$window", window);

/** A manager that is not the leader measures nothing: its last values mean nothing. Without leader election all count. */
const OF_LEADER = "unless on (job, namespace, cluster, instance) (kube_leader_leading == 0)";

const BY = "job, namespace, cluster";

/** Alerts of classes: whether their requirements hold and are measured, and errors of their functions. */
export const CLASS_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-requirements",
    rules: [
      {
        alert: "RequirementDataOutdated",
        severity: "warning",
        expr: `max by (${BY}, instance) (crm_nfr_data_age_seconds) > 600 ${OF_LEADER}`,
        for: "5m",
        summary: "Requirements of classes are not measured",
        description:
          "The newest sample of all classes is {{ $value | humanizeDuration }} old. Nothing is scaled by requirements meanwhile.",
      },
      {
        alert: "RequirementQueriesFail",
        severity: "warning",
        expr: [
          `sum by (${BY}, signal) (rate(crm_nfr_query_errors_total[10m]))`,
          `/ (sum by (${BY}, signal) (rate(crm_nfr_query_errors_total[10m])) + sum by (${BY}, signal) (rate(crm_nfr_query_duration_seconds_count[10m]))) > 0.5`,
        ].join(" "),
        for: "15m",
        summary: "Queries of the signal {{ $labels.signal }} fail",
        description: "{{ $value | humanizePercentage }} of the queries of {{ $labels.signal }} fail or are partial.",
      },
    ],
  },
  burnRateGroup({
    name: "class_requirement_violations",
    objective: MONITORING.objectives.classRequirements,
    badTime: (window) =>
      `sum by (cluster, class_namespace, class, component, requirement) (rate(crm_nfr_violated_seconds_total{class!="overflow"}[${window}]))`,
    alert: {
      alert: "ClassRequirementViolated",
      summary: "Class {{ $labels.class }} violates its {{ $labels.requirement }} requirement",
      description:
        "{{ $labels.component }} of {{ $labels.class_namespace }}/{{ $labels.class }} violated its {{ $labels.requirement }} requirement {{ $value | humanizePercentage }} of the time.",
    },
  }),
  burnRateGroup({
    name: "class_request_errors",
    objective: MONITORING.objectives.classRequests,
    bad: (window) => inWindow(QUERY_TEMPLATES.prometheus.errors_per_second, window),
    total: (window) => inWindow(QUERY_TEMPLATES.prometheus.requests_per_second, window),
    alert: {
      alert: "ClassErrors",
      summary: "Requests to class {{ $labels.oaas_owner }}{{ $labels.configuration_name }} fail",
      description:
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.namespace }}{{ $labels.namespace_name }}/{{ $labels.oaas_owner }}{{ $labels.configuration_name }} {{ $labels.function }} fail.",
    },
  }),
];
