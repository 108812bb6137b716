import type { Signal } from "@oaas/nfr";
import { ratioSeries } from "../burn-rate.ts";
import { signalQuery } from "../class-signals.ts";
import type { Dashboard, DashboardVariable, Panel } from "../model.ts";

/** Variables of dashboards about classes. Series of the functions have the label `oaas_owner`. */
export const CLASS_VARIABLES: readonly DashboardVariable[] = [
  { name: "cluster", label: "Cluster", series: '{oaas_owner!=""}', seriesLabel: "cluster" },
  { name: "namespace", label: "Namespace", series: '{oaas_owner!="",cluster=~"$cluster"}', seriesLabel: "namespace" },
  {
    name: "class",
    label: "Class",
    series: '{oaas_owner!="",cluster=~"$cluster",namespace=~"$namespace"}',
    seriesLabel: "oaas_owner",
  },
];

/** Series of the class runtime manager about a class. */
const OF_CLASS = 'cluster=~"$cluster",class_namespace=~"$namespace",class=~"$class"';

const COMPONENT = "{{oaas_owner}} {{function}} {{configuration_name}} {{deployment}} {{statefulset}} {{pod}}";

function signalPanel(signal: Signal, panel: Pick<Panel, "title" | "unit" | "description" | "kind">): Panel {
  const legend = panel.kind === "heatmap" ? "{{le}}" : COMPONENT;
  return { ...panel, queries: [{ expr: signalQuery(signal), legend }] };
}

/** What the analyzer measures of each class, with the same queries. */
export const CLASS_REQUIREMENTS: Dashboard = {
  uid: "oaas-class-requirements",
  title: "OaaS / Class requirements",
  description: "Throughput, latency, errors, availability and resources of classes, with the queries of the analyzer.",
  variables: CLASS_VARIABLES,
  rows: [
    {
      title: "Requirements",
      panels: [
        {
          title: "Violated time",
          unit: "percentunit",
          description: "Share of the time in which a stated requirement was violated, as the analyzer decided.",
          queries: [
            {
              expr: `sum by (class, component, requirement) (rate(crm_nfr_violated_seconds_total{${OF_CLASS}}[$__rate_interval]))`,
              legend: "{{class}} {{component}} {{requirement}}",
            },
          ],
        },
        {
          title: "Violated time in an hour, a day and three days",
          unit: "percentunit",
          description: "Recorded by the rules. Runbook: ClassRequirementViolated.",
          queries: ["1h", "1d", "3d"].map((window) => ({
            expr: `${ratioSeries("class_requirement_violations", window)}{${OF_CLASS}}`,
            legend: `{{class}} {{component}} {{requirement}} ${window}`,
          })),
        },
      ],
    },
    {
      title: "Requests",
      panels: [
        signalPanel("requests_per_second", {
          title: "Throughput",
          unit: "reqps",
          description: "Requests per second of each function; compare with min_throughput_rps.",
        }),
        signalPanel("errors_per_second", {
          title: "Errors",
          unit: "reqps",
          description: "Requests with status 5xx per second.",
        }),
        {
          title: "Share of errors by window",
          unit: "percentunit",
          description: "Recorded by the rules; empty with fewer than 30 requests in the window. Runbook: ClassErrors.",
          queries: ["5m", "1h", "6h", "3d"].map((window) => ({
            expr: `${ratioSeries("class_request_errors", window)}{namespace=~"$namespace",oaas_owner=~"$class"}`,
            legend: `{{oaas_owner}} {{function}} ${window}`,
          })),
        },
        signalPanel("queue_length", {
          title: "Requests in flight",
          unit: "none",
          description: "Running and waiting requests. Growth at constant throughput means saturation.",
        }),
      ],
    },
    {
      title: "Latency",
      panels: [
        signalPanel("latency_p50_ms", {
          title: "Latency, median",
          unit: "ms",
          description: "Half of the requests are faster.",
        }),
        signalPanel("latency_p95_ms", {
          title: "Latency, 95th percentile",
          unit: "ms",
          description: "One of 20 requests is slower.",
        }),
        signalPanel("latency_p99_ms", {
          title: "Latency, 99th percentile",
          unit: "ms",
          description: "One of 100 requests is slower; compare with max_latency_ms.",
        }),
        signalPanel("slow_requests_per_second", {
          title: "Requests by latency",
          unit: "s",
          kind: "heatmap",
          description: "Requests per second up to each bound of the histogram.",
        }),
      ],
    },
    {
      title: "Availability",
      panels: [
        signalPanel("availability", {
          title: "Availability",
          unit: "percentunit",
          description: "Ready replicas relative to desired ones.",
        }),
        signalPanel("ready_replicas", {
          title: "Ready replicas",
          unit: "none",
          description: "Replicas that serve requests.",
        }),
        signalPanel("restarts", {
          title: "Container restarts",
          unit: "none",
          description: "Restarts so far, by pod. A rising line is a crash loop.",
        }),
        signalPanel("oom_kills", {
          title: "Restarts after OOM kills",
          unit: "none",
          description: "Restarts of containers that exceeded their memory limit. Raise the limit.",
        }),
      ],
    },
    {
      title: "Resources",
      panels: [
        signalPanel("cpu_millicores", {
          title: "CPU (millicores)",
          unit: "none",
          description: "CPU of each pod, without pause containers.",
        }),
        signalPanel("cpu_throttled_ratio", {
          title: "CPU throttling",
          unit: "percentunit",
          description: "Share of throttled CPU periods. Above 25 % the CPU limit costs latency.",
        }),
        signalPanel("memory_bytes", {
          title: "Memory",
          unit: "bytes",
          description: "Working set of each pod; an OOM kill follows at the limit.",
        }),
      ],
    },
  ],
};
