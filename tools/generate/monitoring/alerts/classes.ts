import { QUERY_TEMPLATES } from "@oaas/nfr/queries";
import { burnRateGroup } from "../burn-rate.ts";
import type { RuleGroup } from "../model.ts";
import { MONITORING } from "../settings.ts";

/** The query of a signal for all classes of all namespaces. */
const inWindow = (template: string, window: string): string =>
  template.replaceAll("$namespaces", '".+"').replaceAll("$window", window);

/** Alerts of classes, from the metrics of their functions. */
export const CLASS_RULES: readonly RuleGroup[] = [
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
