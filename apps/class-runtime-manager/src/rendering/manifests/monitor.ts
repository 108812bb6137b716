import type { ClusterFacts } from "../model/cluster-facts.ts";
import type { Manifest, MonitoringState } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";
import { baseName, monitorNames } from "../plan/names.ts";
import { COMPONENT_LABEL, HEADLESS_LABEL, OWNER_LABEL, ownerLabelValue } from "./labels.ts";
import { createManifest } from "./manifest.ts";
import { relabelings } from "./scrape-labels.ts";

type MonitorKind = "ServiceMonitor" | "PodMonitor";

/** The workloads of a class that serve metrics. */
export interface ScrapedWorkloads {
  /** Absent when no function has a Service. */
  readonly functions?: "pods" | "knative";
  readonly odgm: boolean;
}

/** Path of the metrics in every container. */
export const METRICS_PATH = "/metrics";

/** Where the pods of a component serve metrics, and the Services that lead to them. */
interface ScrapeTarget {
  readonly component: "function" | "odgm";
  /** Further labels of the Services to select; the others would scrape a pod twice. */
  readonly serviceLabels: Readonly<Record<string, string>>;
  /** Endpoints of a ServiceMonitor: a port of the Service, or a container port of the pods behind it. */
  readonly servicePorts: readonly ({ readonly port: string } | { readonly targetPort: string })[];
  /** Names of container ports. */
  readonly podPorts: readonly string[];
}

/** Knative names the port of the function container and the metrics port of its queue proxy. */
const KNATIVE_PORTS = { container: "user-port", queueProxy: "http-usermetric" };

const KNATIVE_FUNCTIONS: ScrapeTarget = {
  component: "function",
  // The endpoints of the public Service can be those of the activator.
  serviceLabels: { "networking.internal.knative.dev/serviceType": "Private" },
  servicePorts: [{ targetPort: KNATIVE_PORTS.container }, { port: KNATIVE_PORTS.queueProxy }],
  podPorts: [KNATIVE_PORTS.container, KNATIVE_PORTS.queueProxy],
};

const onHttpPort = (component: ScrapeTarget["component"]): ScrapeTarget => ({
  component,
  serviceLabels: {},
  servicePorts: [{ port: "http" }],
  podPorts: ["http"],
});

/** The monitors of a class, when metrics are enabled and the cluster serves the kind. */
export function renderMonitors(input: RenderInput, workloads: ScrapedWorkloads): readonly Manifest[] {
  if (!input.cluster.features.prometheus) return [];
  const kind = monitorKind(input.cluster);
  if (kind === undefined) return [];
  return scrapeTargets(input.cluster, workloads).map((target) => renderMonitor(input, kind, target));
}

/** Whether the metrics of a class are collected; undefined when nothing needs to be. */
export function monitoringState(input: RenderInput, workloads: ScrapedWorkloads): MonitoringState | undefined {
  const { cluster, spec } = input;
  if (!cluster.features.prometheus) {
    const { mode } = spec.enforcement ?? spec.nfr?.enforcement ?? {};
    return mode === "enforce" && cluster.monitors?.isQueried !== true ? { state: "disabled" } : undefined;
  }
  if (scrapeTargets(cluster, workloads).length === 0) return undefined;
  const kind = monitorKind(cluster);
  return kind === undefined ? { state: "missing-kinds", kinds: kindsOf(cluster) } : { state: "monitored", kind };
}

/** Whether Services carry scrape annotations, for a Prometheus without the operator. */
export function isScrapedByAnnotation(cluster: ClusterFacts): boolean {
  return cluster.features.prometheus && monitorKind(cluster) === undefined;
}

/** The annotations by which a Prometheus without the operator finds metrics. The port is that of the container. */
export function scrapeAnnotations(port: number): Readonly<Record<string, string>> {
  return { "prometheus.io/scrape": "true", "prometheus.io/port": String(port), "prometheus.io/path": METRICS_PATH };
}

/** Knative exports metrics itself, so that its workloads get a monitor only when the scrape kind is set. */
function scrapeTargets({ monitors }: ClusterFacts, { functions, odgm }: ScrapedWorkloads): readonly ScrapeTarget[] {
  const isExplicit = (monitors?.scrapeKind ?? "auto") !== "auto";
  return [
    ...(functions === "pods" ? [onHttpPort("function")] : []),
    ...(functions === "knative" && isExplicit ? [KNATIVE_FUNCTIONS] : []),
    ...(odgm ? [onHttpPort("odgm")] : []),
  ];
}

/** The kinds that the configuration allows, the preferred first. */
function kindsOf({ monitors }: ClusterFacts): readonly MonitorKind[] {
  const scrapeKind = monitors?.scrapeKind ?? "auto";
  if (scrapeKind === "service") return ["ServiceMonitor"];
  return scrapeKind === "pod" ? ["PodMonitor"] : ["ServiceMonitor", "PodMonitor"];
}

function monitorKind(cluster: ClusterFacts): MonitorKind | undefined {
  const { serviceMonitor, podMonitor } = cluster.capabilities;
  return kindsOf(cluster).find((kind) => (kind === "ServiceMonitor" ? serviceMonitor : podMonitor));
}

function renderMonitor(input: RenderInput, kind: MonitorKind, target: ScrapeTarget): Manifest {
  const { component } = target;
  const owner = ownerLabelValue(input.owner.name);
  const names = monitorNames(input.owner.name, component);
  return createManifest(
    input,
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind,
      name: kind === "PodMonitor" ? names.pod : names.service,
      labels: {
        ...input.cluster.monitors?.matchLabels,
        app: baseName(input.owner.name),
        [OWNER_LABEL]: owner,
        [COMPONENT_LABEL]: "monitor",
      },
    },
    { spec: monitorSpec(kind, target, { [OWNER_LABEL]: owner, [COMPONENT_LABEL]: component }) },
  );
}

function monitorSpec(
  kind: MonitorKind,
  { serviceLabels, servicePorts, podPorts }: ScrapeTarget,
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const endpoint = { path: METRICS_PATH, relabelings: relabelings() };
  if (kind === "PodMonitor") {
    return {
      selector: { matchLabels: labels },
      podMetricsEndpoints: podPorts.map((port) => ({ port, ...endpoint })),
    };
  }
  return {
    selector: {
      matchLabels: { ...labels, ...serviceLabels },
      matchExpressions: [{ key: HEADLESS_LABEL, operator: "DoesNotExist" }],
    },
    endpoints: servicePorts.map((port) => ({ ...port, ...endpoint })),
  };
}
