import type { KubeObject, Stored } from "@oaas/kube-core";
import { resourceType, type InformerPool, type InformerView } from "@oaas/kube-runtime";
import type { ClusterFacts, Router } from "../../templates/index.ts";
import { waitImageOf, type CrmConfig } from "../../config.ts";
import type { ChildCache } from "../children/child-cache.ts";

/** The facts that come from the configuration; the others are read from the cluster. */
export type ConfiguredFacts = Omit<ClusterFacts, "capabilities" | "routers">;

/** Takes the facts of the configuration. */
export function configuredFacts(config: CrmConfig): ConfiguredFacts {
  const { features, place, templates, otel, prometheus, limits, k8s, enforcement } = config;
  const waitImage = waitImageOf(templates);
  return {
    profile: config.profile,
    features: { odgm: features.odgm, hpa: features.hpa, knative: features.knative, prometheus: features.prometheus },
    flags: {
      isEdge: place.isEdge,
      isDatacenter: place.isDatacenter,
      ...(place.region === undefined ? {} : { region: place.region }),
      ...(place.zone === undefined ? {} : { zone: place.zone }),
      ...(place.hwClass === undefined ? {} : { hwClass: place.hwClass }),
    },
    odgm: {
      ...(templates.odgmImage === undefined ? {} : { image: templates.odgmImage }),
      ...(templates.odgmPullPolicy === undefined ? {} : { pullPolicy: templates.odgmPullPolicy }),
      extraEnv: templates.odgmExtraEnv,
    },
    telemetry: { enabled: otel.enabled, endpoint: otel.endpoint },
    monitors: {
      scrapeKind: prometheus.scrapeKind,
      matchLabels: prometheus.matchLabels,
      isQueried: prometheus.url !== undefined,
    },
    maxReplicas: limits.maxReplicas,
    enforcement: features.nfrEnforcement ? enforcement.level : "off",
    ...(waitImage === undefined ? {} : { waitImage }),
    ...(k8s.clusterDomain === undefined ? {} : { clusterDomain: k8s.clusterDomain }),
  };
}

interface Service extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

const SERVICES = resourceType<Service>({
  group: "",
  version: "v1",
  kind: "Service",
  resource: "services",
  namespaced: true,
});

/** Default Zenoh port of a router Service without ports. */
const ZENOH_PORT = 17_447;

/** Reads the current facts of the cluster: capabilities and routers change at run time. */
export class FactsReader {
  readonly routers: InformerView<Service>;
  readonly #configured: ConfiguredFacts;
  readonly #children: ChildCache;

  constructor(
    configured: ConfiguredFacts,
    children: ChildCache,
    pool: InformerPool,
    namespaces: readonly string[] | undefined,
  ) {
    this.#configured = configured;
    this.#children = children;
    const selection = { labelSelector: "app=router,platform=oaas" };
    this.routers = pool.view(SERVICES, namespaces, selection, { isOptional: true });
  }

  read(namespace: string): ClusterFacts {
    const isServed = (group: string, version: string, kind: string): boolean =>
      this.#children.isServed({ group, version, kind });
    return {
      ...this.#configured,
      routers: [...this.routers.cache.list(namespace)]
        .map(routerOf)
        .toSorted((a, b) => a.service.localeCompare(b.service)),
      capabilities: {
        knative: isServed("serving.knative.dev", "v1", "Service"),
        horizontalPodAutoscaler: isServed("autoscaling", "v2", "HorizontalPodAutoscaler"),
        podDisruptionBudget: isServed("policy", "v1", "PodDisruptionBudget"),
        networkPolicy: isServed("networking.k8s.io", "v1", "NetworkPolicy"),
        serviceMonitor: isServed("monitoring.coreos.com", "v1", "ServiceMonitor"),
        podMonitor: isServed("monitoring.coreos.com", "v1", "PodMonitor"),
        scaledObject: isServed("keda.sh", "v1alpha1", "ScaledObject"),
        httpScaledObject: isServed("http.keda.sh", "v1alpha1", "HTTPScaledObject"),
        podResize: this.#children.servesPodResize,
      },
    };
  }
}

function routerOf({ metadata, spec }: Stored<Service>): Router {
  const ports = spec?.ports ?? [];
  return { service: metadata.name, port: (ports.find(({ name }) => name === "zenoh") ?? ports[0])?.port ?? ZENOH_PORT };
}
