import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describeWith, eventually, startPrometheus } from "@oaas/testkit";
import { afterAll, beforeAll, test } from "vitest";
import { parse } from "yaml";
import type { Manifest } from "../src/rendering/model/rendered.ts";
import { inputOf, type PartialInput } from "../src/rendering/testing/inputs.ts";
import { BUILTIN_TEMPLATES } from "../src/templates/builtin/registry.ts";
import { chooseAndRender } from "../src/templates/selection/choose-and-render.ts";
import { endpointTargets, podTargets, type DiscoveredTarget } from "./support/discovered-targets.ts";

const NAMESPACE = "shop";
const GUIDE = new URL("../../../docs/guides/collect-metrics.md", import.meta.url);

/** The children of a class with two functions of two pods each, and a state store of one pod. */
function childrenOf(cluster: PartialInput["cluster"]): readonly Manifest[] {
  const functions = ["Order.place", "Order.cancel"].map((function_key) => ({
    function_key,
    provision_config: { container_image: "example.test/fn:1", port: 8080, min_scale: 2 },
  }));
  const spec = { package_class_key: "shop.Order", functions, state_spec: {}, selected_template: "statefulset" };
  const input = inputOf({ name: "order", namespace: NAMESPACE, spec, cluster: { ...cluster } });
  const rendered = chooseAndRender(input, BUILTIN_TEMPLATES);
  if (!rendered.ok) throw new Error(rendered.error.message);
  return rendered.value.rendered.children;
}

interface Job {
  readonly job_name: string;
  readonly relabel_configs: readonly object[];
}

interface Endpoint {
  readonly port: string;
  readonly path: string;
  readonly relabelings: readonly { readonly sourceLabels: readonly string[]; readonly targetLabel: string }[];
}

interface MonitorSpec {
  readonly selector: {
    readonly matchLabels: Readonly<Record<string, string>>;
    readonly matchExpressions?: readonly { readonly key: string }[];
  };
  readonly endpoints?: readonly Endpoint[];
  readonly podMetricsEndpoints?: readonly Endpoint[];
}

/** The job that the Prometheus operator generates for a monitor, as far as selection and labels are concerned. */
function operatorJob({ metadata, spec }: Manifest): Job {
  const { selector, endpoints, podMetricsEndpoints } = spec as MonitorSpec;
  const role = endpoints === undefined ? "pod" : "service";
  const [endpoint] = endpoints ?? podMetricsEndpoints ?? [];
  const port = role === "pod" ? "__meta_kubernetes_pod_container_port_name" : "__meta_kubernetes_endpoint_port_name";
  const label = (suffix: string, key: string) =>
    `__meta_kubernetes_${role}_label${suffix}_${key.replaceAll(/[^a-zA-Z0-9_]/g, "_")}`;
  return {
    job_name: metadata.name ?? "",
    relabel_configs: [
      ...Object.entries(selector.matchLabels).map(([key, regex]) => ({
        source_labels: [label("", key)],
        action: "keep",
        regex,
      })),
      ...(selector.matchExpressions ?? []).map(({ key }) => ({
        source_labels: [label("present", key)],
        action: "drop",
        regex: "true",
      })),
      { source_labels: [port], action: "keep", regex: endpoint?.port },
      { source_labels: ["__meta_kubernetes_namespace"], target_label: "namespace" },
      { source_labels: ["__meta_kubernetes_service_name"], target_label: "service" },
      { source_labels: ["__meta_kubernetes_pod_name"], target_label: "pod" },
      ...(endpoint?.relabelings ?? []).map(({ sourceLabels, targetLabel }) => ({
        source_labels: sourceLabels,
        target_label: targetLabel,
      })),
    ],
  };
}

describeWith(["prometheus"], "scrape targets", () => {
  let metrics: Server;

  beforeAll(async () => {
    // A metric with a label of its own must not hide the function it belongs to.
    metrics = createServer((_, response) => response.end('requests_total{function="own"} 1\n'));
    await new Promise<void>((resolve) => void metrics.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    metrics.close();
  });

  /** The labels of all series. Each pod is replaced by our own server after its address became the label `instance`. */
  async function scrape(jobs: readonly Job[], targets: readonly DiscoveredTarget[]) {
    const address = `127.0.0.1:${(metrics.address() as AddressInfo).port}`;
    const scrape_configs = jobs.map(({ job_name, relabel_configs }) => ({
      job_name,
      scrape_interval: "1s",
      static_configs: targets.map(({ __address__, ...labels }) => ({ targets: [__address__], labels })),
      relabel_configs: [
        ...relabel_configs,
        { source_labels: ["__address__"], target_label: "instance" },
        { target_label: "__address__", replacement: address },
      ],
    }));
    await using prometheus = await startPrometheus({ config: { scrape_configs } });
    const scraped = await eventually(
      async () => {
        const [active, series] = [await activeTargets(prometheus.url), await prometheus.query("requests_total")];
        if (active === 0 || series.length < active) throw new Error(`${series.length} of ${active} series`);
        return series;
      },
      { timeoutMs: 20_000, what: "all targets to be scraped" },
    );
    return scraped
      .map(({ labels: { __name__: _name, job: _job, service: _service, ...labels } }) => labels)
      .toSorted((a, b) => ((a["pod"] ?? "") < (b["pod"] ?? "") ? -1 : 1));
  }

  const expected = (instance: string, pod: string, fn?: string) => ({
    instance,
    namespace: NAMESPACE,
    pod,
    oaas_owner: "order",
    deployment_id: "order",
    class: "shop.Order",
    ...(fn === undefined ? { function: "own" } : { function: fn, exported_function: "own" }),
  });
  const EVERY_POD_ONCE = [
    expected("10.0.0.0:8080", "order-fn-0-0", "Order.place"),
    expected("10.0.0.1:8080", "order-fn-0-1", "Order.place"),
    expected("10.0.1.0:8080", "order-fn-1-0", "Order.cancel"),
    expected("10.0.1.1:8080", "order-fn-1-1", "Order.cancel"),
    expected("10.0.2.0:8080", "order-odgm-0"),
  ];

  test.concurrent("the job of the guide finds every pod once, with the labels of its class", async ({ expect }) => {
    const [, text = ""] = /```yaml scrape-config\n([\s\S]*?)```/.exec(readFileSync(GUIDE, "utf8")) ?? [];
    const { scrape_configs: jobs } = parse(text) as { scrape_configs: readonly Job[] };
    const capabilities = { serviceMonitor: false, podMonitor: false };
    const targets = endpointTargets(childrenOf({ features: { prometheus: true }, capabilities }), NAMESPACE);
    // Knative copies the annotations and labels of a revision to both of its Services.
    const knative = targets.find((one) => one["__meta_kubernetes_pod_name"] === "order-fn-0-0");
    const ofKnative = (type: string) => ({
      ...knative,
      __address__: "10.0.9.9:8012",
      __meta_kubernetes_pod_name: "kn",
      __meta_kubernetes_pod_ip: "10.0.9.9",
      __meta_kubernetes_service_label_networking_internal_knative_dev_serviceType: type,
    });
    const found = await scrape(jobs, [...targets, ofKnative("Private"), ofKnative("Public")] as DiscoveredTarget[]);
    expect(found).toEqual([expected("10.0.9.9:8080", "kn", "Order.place"), ...EVERY_POD_ONCE]);
  });

  test.concurrent.for([
    { scrapeKind: "service", discover: endpointTargets },
    { scrapeKind: "pod", discover: podTargets },
  ] as const)("monitors of kind $scrapeKind find every pod once", async ({ scrapeKind, discover }, { expect }) => {
    const children = childrenOf({ features: { prometheus: true }, monitors: { scrapeKind, matchLabels: {} } });
    const monitors = children.filter(({ kind }) => kind.endsWith("Monitor"));
    expect(await scrape(monitors.map(operatorJob), discover(children, NAMESPACE))).toEqual(EVERY_POD_ONCE);
  });
});

async function activeTargets(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/targets?state=active`);
  const { data } = (await answer.json()) as { data: { activeTargets: readonly unknown[] } };
  return data.activeTargets.length;
}
