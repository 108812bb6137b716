import { createManifest } from "../../rendering/manifests/manifest.ts";
import { HEADLESS_LABEL, type Labels } from "../../rendering/manifests/labels.ts";
import { isScrapedByAnnotation, scrapeAnnotations } from "../../rendering/manifests/monitor.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { ODGM_HTTP_PORT, ODGM_PORT, ZENOH_PORT, type OdgmPlan } from "../plan/odgm-plan.ts";
import { configData, type NodeGroup } from "./env.ts";

/** The Service of the state store: the port for functions, the legacy port, and the port for nodes. */
export function renderOdgmService({ classPlan, names }: OdgmPlan, labels: Labels, selector: Labels): Manifest {
  return createManifest(
    classPlan.input,
    {
      apiVersion: "v1",
      kind: "Service",
      name: names.service,
      labels,
      annotations: isScrapedByAnnotation(classPlan.input.cluster) ? scrapeAnnotations(ODGM_PORT) : undefined,
    },
    {
      spec: {
        type: "ClusterIP",
        selector,
        ports: [
          { name: "http", port: ODGM_HTTP_PORT, targetPort: ODGM_PORT, protocol: "TCP" },
          { name: "grpc", port: ODGM_PORT, targetPort: ODGM_PORT, protocol: "TCP" },
          { name: "zenoh", port: ZENOH_PORT, targetPort: ZENOH_PORT, protocol: "TCP" },
        ],
      },
    },
  );
}

/** The headless Service of several nodes. It publishes nodes that are not ready, since they become ready together. */
export function renderOdgmPodsService({ classPlan, names }: OdgmPlan, labels: Labels, selector: Labels): Manifest {
  return createManifest(
    classPlan.input,
    { apiVersion: "v1", kind: "Service", name: names.pods, labels: { ...labels, [HEADLESS_LABEL]: "true" } },
    {
      spec: {
        clusterIP: "None",
        publishNotReadyAddresses: true,
        selector,
        ports: [
          { name: "grpc", port: ODGM_PORT, targetPort: ODGM_PORT, protocol: "TCP" },
          { name: "zenoh", port: ZENOH_PORT, targetPort: ZENOH_PORT, protocol: "TCP" },
        ],
      },
    },
  );
}

/** The layout of the state store, and the settings that its nodes read when they start. */
export function renderOdgmConfigMap(plan: OdgmPlan, groups: readonly NodeGroup[], labels: Labels): Manifest {
  return createManifest(
    plan.classPlan.input,
    { apiVersion: "v1", kind: "ConfigMap", name: plan.names.config, labels },
    { data: configData(plan, groups) },
  );
}
