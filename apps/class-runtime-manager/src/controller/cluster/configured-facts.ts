import type { CrmConfig } from "../../config.ts";
import type { ConfiguredFacts } from "./cluster-facts.ts";

/** The facts that an operator settles by configuration. */
export function configuredFacts(config: CrmConfig): ConfiguredFacts {
  const { features, place, templates, otel, prometheus, limits, k8s } = config;
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
    monitors: { scrapeKind: prometheus.scrapeKind, matchLabels: prometheus.matchLabels },
    maxReplicas: limits.maxReplicas,
    ...(templates.waitImage === undefined ? {} : { waitImage: templates.waitImage }),
    ...(k8s.clusterDomain === undefined ? {} : { clusterDomain: k8s.clusterDomain }),
  };
}
