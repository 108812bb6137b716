import type { Manifest } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";
import { COMPONENT_LABEL, OWNER_LABEL, ownerLabelValue } from "./labels.ts";
import { createManifest } from "./manifest.ts";
import { baseName, monitorNames } from "../plan/names.ts";

/**
 * The ServiceMonitor or PodMonitor of a class, when metrics are enabled and the cluster serves the kind. Knative
 * classes get one only when the scrape kind is set, since Knative exports its own metrics.
 */
export function renderMonitor(input: RenderInput, runsOnKnative: boolean): Manifest | undefined {
  const { cluster } = input;
  const scrapeKind = cluster.monitors?.scrapeKind ?? "auto";
  if (!cluster.features.prometheus || (scrapeKind === "auto" && runsOnKnative)) return undefined;
  const byPod = scrapeKind === "pod" || (scrapeKind === "auto" && !cluster.capabilities.serviceMonitor);
  if (byPod ? !cluster.capabilities.podMonitor : !cluster.capabilities.serviceMonitor) return undefined;
  const names = monitorNames(input.owner.name);
  const owner = ownerLabelValue(input.owner.name);
  return createManifest(
    input,
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: byPod ? "PodMonitor" : "ServiceMonitor",
      name: byPod ? names.pod : names.service,
      labels: {
        ...cluster.monitors?.matchLabels,
        app: baseName(input.owner.name),
        [OWNER_LABEL]: owner,
        [COMPONENT_LABEL]: "monitor",
      },
    },
    {
      spec: {
        selector: { matchLabels: { [OWNER_LABEL]: owner } },
        [byPod ? "podMetricsEndpoints" : "endpoints"]: [{ port: "http", path: "/metrics" }],
      },
    },
  );
}
