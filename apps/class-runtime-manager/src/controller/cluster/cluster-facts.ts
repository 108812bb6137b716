import type { KubeObject, Stored } from "@oaas/kube-core";
import { resourceType, type InformerPool, type InformerView } from "@oaas/kube-runtime";
import { clusterDomainOf, type ClusterFacts, type Router } from "../../templates/index.ts";
import { waitImageOf, type CrmConfig } from "../../config.ts";
import type { ChildCache } from "../children/child-cache.ts";

/** The facts that come from the configuration; the others are read from the cluster. */
export type ConfiguredFacts = Omit<ClusterFacts, "capabilities" | "routers">;

/** Takes the facts of the configuration, and the namespace of the manager's pod. */
export function configuredFacts(config: CrmConfig, podNamespace?: string): ConfiguredFacts {
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
      keepsObjectsOnVolumes: config.odgmPersistence,
      gatesReadiness: config.odgmHealth.enabled,
    },
    telemetry: { enabled: otel.enabled, endpoint: otel.endpoint },
    monitors: {
      scrapeKind: prometheus.scrapeKind,
      matchLabels: prometheus.matchLabels,
      isQueried: prometheus.url !== undefined,
    },
    ...(podNamespace === undefined ? {} : { managerNamespace: podNamespace }),
    ...(k8s.routerNamespace === undefined ? {} : { routerNamespace: k8s.routerNamespace }),
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

/** The Services of routers. */
export interface RouterServices {
  readonly view: InformerView<KubeObject>;
  /** The namespace whose routers all classes use; absent when classes use those in their own namespace only. */
  readonly sharedNamespace: string | undefined;
}

/** Reads the current facts of the cluster: capabilities and routers change at run time. */
export class FactsReader {
  readonly routers: RouterServices;
  readonly #services: InformerView<Service>;
  readonly #configured: ConfiguredFacts;
  readonly #children: ChildCache;

  constructor(
    configured: ConfiguredFacts,
    children: ChildCache,
    pool: InformerPool,
    namespaces: readonly string[] | undefined,
    routerNamespace: string | undefined,
  ) {
    this.#configured = configured;
    this.#children = children;
    const selection = { labelSelector: "app=router,platform=oaas" };
    const watched = namespaces && [...new Set([...namespaces, ...optional(routerNamespace)])];
    this.#services = pool.view(SERVICES, watched, selection, { isOptional: true });
    this.routers = { view: this.#services, sharedNamespace: routerNamespace };
  }

  read(namespace: string): ClusterFacts {
    const isServed = (group: string, version: string, kind: string): boolean =>
      this.#children.isServed({ group, version, kind });
    return {
      ...this.#configured,
      routers: this.#routersFor(namespace),
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

  /** The routers in the namespace of a class and in the namespace of routers. */
  #routersFor(namespace: string): Router[] {
    const { sharedNamespace } = this.routers;
    return [...new Set([namespace, ...optional(sharedNamespace)])]
      .flatMap((place) => [...this.#services.cache.list(place)])
      .map((service) => routerOf(service, namespace, clusterDomainOf(this.#configured)))
      .toSorted((a, b) => a.service.localeCompare(b.service));
  }
}

function optional<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

/** The address of a router for the pods of a namespace. */
function routerOf({ metadata, spec }: Stored<Service>, namespace: string, clusterDomain: string): Router {
  const ports = spec?.ports ?? [];
  const { name, namespace: place } = metadata;
  return {
    service: place === namespace ? name : `${name}.${place}.svc.${clusterDomain}`,
    port: (ports.find((port) => port.name === "zenoh") ?? ports[0])?.port ?? ZENOH_PORT,
  };
}
