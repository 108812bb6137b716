import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";

/** The presets of CRM. */
export type Profile = "dev" | "edge" | "full";

/** What the cluster's API can do, as discovery last saw it. It may change while CRM runs. */
export interface Capabilities {
  readonly knative: boolean;
  readonly horizontalPodAutoscaler: boolean;
  readonly podDisruptionBudget: boolean;
  readonly networkPolicy: boolean;
  readonly serviceMonitor: boolean;
  readonly podMonitor: boolean;
}

/** What the operator of CRM switched on. */
export interface Features {
  readonly odgm: boolean;
  readonly hpa: boolean;
  readonly knative: boolean;
  readonly prometheus: boolean;
}

/** A Zenoh router found in the namespace. */
export interface Router {
  readonly service: string;
  readonly port: number;
}

/** Everything about the cluster that a rendered class may depend on. Two equal facts render the same children. */
export interface ClusterFacts {
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly features: Features;
  /** `OPRC_ENV_*`: what kind of place this is. */
  readonly flags: {
    readonly isEdge: boolean;
    readonly isDatacenter: boolean;
    readonly region?: string;
    readonly zone?: string;
    readonly hwClass?: string;
  };
  readonly odgm: {
    readonly image?: string;
    readonly pullPolicy?: string;
    /** Put into every container of the data grid. */
    readonly extraEnv?: Readonly<Record<string, string>>;
  };
  readonly routers: readonly Router[];
  readonly telemetry: { readonly enabled: boolean; readonly endpoint?: string };
  readonly monitors?: {
    readonly scrapeKind: "auto" | "service" | "pod";
    readonly matchLabels: Readonly<Record<string, string>>;
  };
  /** Cap of replicas that CRM chooses itself; what a user states is never cut by it. */
  readonly maxReplicas: number;
  /** Image with `sh` and `nc` for the container that waits for the data grid; without it functions do not wait. */
  readonly waitImage?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
}

/** An EnvironmentConfig the class belongs to. */
export interface Environment {
  readonly name: string;
  readonly spec: EnvironmentConfigSpec;
}

/** The domain that names of Services end in. */
export function clusterDomainOf(cluster: ClusterFacts): string {
  return cluster.clusterDomain ?? "cluster.local";
}
