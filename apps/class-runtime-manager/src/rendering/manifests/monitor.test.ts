import { describe, expect, test } from "vitest";
import { inputOf, type PartialInput } from "../testing/inputs.ts";
import { monitoringState, renderMonitors, type ScrapedWorkloads } from "./monitor.ts";

type Monitors = NonNullable<PartialInput["cluster"]>["monitors"];

const ON = { features: { prometheus: true } };
const FUNCTION = { function_key: "Order.place", provision_config: { container_image: "registry.local/f:1" } };
const scrape = (scrapeKind: NonNullable<Monitors>["scrapeKind"], matchLabels = {}) => ({
  monitors: { scrapeKind, matchLabels },
});
const NO_KINDS = { serviceMonitor: false, podMonitor: false };

function monitorsOf(cluster: PartialInput["cluster"], workloads: ScrapedWorkloads) {
  return renderMonitors(inputOf({ spec: { functions: [FUNCTION] }, cluster: cluster ?? {} }), workloads);
}

describe("monitors", () => {
  test.each<{
    case: string;
    cluster: NonNullable<PartialInput["cluster"]>;
    workloads: ScrapedWorkloads;
    want: readonly string[];
  }>([
    { case: "none while metrics are off", cluster: {}, workloads: { functions: "pods", odgm: true }, want: [] },
    {
      case: "one for functions and one for the state store",
      cluster: ON,
      workloads: { functions: "pods", odgm: true },
      want: ["ServiceMonitor order-svcmon", "ServiceMonitor order-odgm-svcmon"],
    },
    {
      case: "PodMonitors when only that kind is served",
      cluster: { ...ON, capabilities: { serviceMonitor: false } },
      workloads: { functions: "pods", odgm: true },
      want: ["PodMonitor order-podmon", "PodMonitor order-odgm-podmon"],
    },
    {
      case: "PodMonitors when configured",
      cluster: { ...ON, ...scrape("pod") },
      workloads: { functions: "pods", odgm: false },
      want: ["PodMonitor order-podmon"],
    },
    {
      case: "none when the configured kind is not served",
      cluster: { ...ON, ...scrape("service"), capabilities: { serviceMonitor: false } },
      workloads: { functions: "pods", odgm: true },
      want: [],
    },
    {
      case: "none for Knative by default, only for its state store",
      cluster: ON,
      workloads: { functions: "knative", odgm: true },
      want: ["ServiceMonitor order-odgm-svcmon"],
    },
    {
      case: "a ServiceMonitor for Knative when configured",
      cluster: { ...ON, ...scrape("service") },
      workloads: { functions: "knative", odgm: false },
      want: ["ServiceMonitor order-svcmon"],
    },
    {
      case: "a PodMonitor for Knative when configured",
      cluster: { ...ON, ...scrape("pod") },
      workloads: { functions: "knative", odgm: false },
      want: ["PodMonitor order-podmon"],
    },
    { case: "none without workloads that serve metrics", cluster: ON, workloads: { odgm: false }, want: [] },
  ])("$case", ({ cluster, workloads, want }) => {
    const found = monitorsOf(cluster, workloads).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(found).toEqual(want);
  });

  test("copies owner, deployment, class and function to every series", () => {
    for (const kind of ["service", "pod"] as const) {
      for (const functions of ["pods", "knative"] as const) {
        for (const { spec } of monitorsOf({ ...ON, ...scrape(kind) }, { functions, odgm: true })) {
          const { endpoints, podMetricsEndpoints } = spec as Record<string, readonly { relabelings: unknown }[]>;
          for (const endpoint of endpoints ?? podMetricsEndpoints ?? []) {
            expect(endpoint.relabelings).toEqual(
              [
                ["oaas_io_owner", "oaas_owner"],
                ["oaas_io_deployment_id", "deployment_id"],
                ["oaas_io_class", "class"],
                ["oaas_io_function", "function"],
              ].map(([from, targetLabel]) => ({
                action: "replace",
                sourceLabels: [`__meta_kubernetes_pod_label_${from}`],
                targetLabel,
              })),
            );
          }
        }
      }
    }
  });

  test("selects no headless Service, so that a StatefulSet is scraped once", () => {
    const [monitor] = monitorsOf(ON, { functions: "pods", odgm: false });
    expect(monitor?.["spec"]).toMatchObject({
      selector: {
        matchLabels: { "oaas.io/owner": "order", "oaas.io/component": "function" },
        matchExpressions: [{ key: "oaas.io/headless", operator: "DoesNotExist" }],
      },
    });
  });

  test("scrapes Knative pods on the function and on the queue proxy, not through the activator", () => {
    const [service] = monitorsOf({ ...ON, ...scrape("service") }, { functions: "knative", odgm: false });
    expect(service?.["spec"]).toMatchObject({
      selector: { matchLabels: { "networking.internal.knative.dev/serviceType": "Private" } },
      endpoints: [{ targetPort: "user-port" }, { port: "http-usermetric" }],
    });
    const [pod] = monitorsOf({ ...ON, ...scrape("pod") }, { functions: "knative", odgm: false });
    expect(pod?.["spec"]).toMatchObject({ podMetricsEndpoints: [{ port: "user-port" }, { port: "http-usermetric" }] });
  });

  test("has the labels that the Prometheus operator selects monitors by", () => {
    const cluster = { ...ON, ...scrape("auto", { release: "prometheus" }) };
    const [monitor] = monitorsOf(cluster, { functions: "pods", odgm: false });
    expect(monitor?.metadata.labels).toMatchObject({ release: "prometheus", "oaas.io/owner": "order" });
  });
});

describe("state of monitoring", () => {
  const pods: ScrapedWorkloads = { functions: "pods", odgm: false };
  const enforced = { enforcement: { mode: "enforce" as const } };

  test.each<{ case: string; given: Partial<PartialInput>; workloads?: ScrapedWorkloads; want: unknown }>([
    { case: "off", given: {}, want: undefined },
    {
      case: "off, but the class enforces",
      given: { spec: { functions: [FUNCTION], ...enforced } },
      want: { state: "disabled" },
    },
    {
      case: "off, but the class enforces, in the deprecated field",
      given: { spec: { functions: [FUNCTION], nfr: enforced } },
      want: { state: "disabled" },
    },
    {
      case: "off, but Prometheus has the metrics from elsewhere",
      given: {
        spec: { functions: [FUNCTION], ...enforced },
        cluster: { monitors: { scrapeKind: "auto", matchLabels: {}, isQueried: true } },
      },
      want: undefined,
    },
    { case: "on", given: { cluster: ON }, want: { state: "monitored", kind: "ServiceMonitor" } },
    {
      case: "on without the operator",
      given: { cluster: { ...ON, capabilities: NO_KINDS } },
      want: { state: "missing-kinds", kinds: ["ServiceMonitor", "PodMonitor"] },
    },
    {
      case: "on without the configured kind",
      given: { cluster: { ...ON, ...scrape("pod"), capabilities: { podMonitor: false } } },
      want: { state: "missing-kinds", kinds: ["PodMonitor"] },
    },
    {
      case: "on, and Knative exports the metrics",
      given: { cluster: { ...ON, capabilities: NO_KINDS } },
      workloads: { functions: "knative", odgm: false },
      want: undefined,
    },
  ])("$case", ({ given, workloads = pods, want }) => {
    expect(monitoringState(inputOf({ spec: { functions: [FUNCTION] }, ...given }), workloads)).toEqual(want);
  });
});
