import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";

/** Configuration profiles of the class runtime manager. */
export type Profile = "dev" | "edge" | "full";

/** APIs that the cluster serves, from discovery. They can change at run time. */
export interface Capabilities {
  readonly knative: boolean;
  readonly horizontalPodAutoscaler: boolean;
  readonly podDisruptionBudget: boolean;
  readonly networkPolicy: boolean;
  readonly serviceMonitor: boolean;
  readonly podMonitor: boolean;
  /** ScaledObjects of KEDA. */
  readonly scaledObject: boolean;
  /** HTTPScaledObjects of KEDA's HTTP add-on. */
  readonly httpScaledObject: boolean;
  /** Pods are resized in place: the server serves `pods/resize`, as Kubernetes 1.33 and later do. */
  readonly podResize: boolean;
}

/** Features that the operator enabled. */
export interface Features {
  readonly odgm: boolean;
  readonly hpa: boolean;
  readonly knative: boolean;
  readonly prometheus: boolean;
}

/** What enforcement may change. off: nothing. basic: replicas. full: all dimensions. */
export type EnforcementLevel = "off" | "basic" | "full";

/** A Zenoh router in the namespace of the class, or in the namespace of routers. */
export interface Router {
  /** Name of its Service, with the namespace and the domain of the cluster when that is another namespace. */
  readonly service: string;
  readonly port: number;
}

/** Facts about the cluster that rendering depends on. Equal facts render equal children. */
export interface ClusterFacts {
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly features: Features;
  /** Location of the cluster, from `OPRC_ENV_*`. */
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
    /** Environment variables of every state store container. */
    readonly extraEnv?: Readonly<Record<string, string>>;
    /** Whether the operator declared that the image keeps objects on its volume. Default: false. */
    readonly keepsObjectsOnVolumes?: boolean;
    /** Whether the manager reports the shards of each pod as its readiness gate. Default: false. */
    readonly gatesReadiness?: boolean;
  };
  readonly routers: readonly Router[];
  /** Namespace of the manager; absent outside of the cluster. */
  readonly managerNamespace?: string;
  /** Namespace whose routers all classes use. */
  readonly routerNamespace?: string;
  readonly telemetry: { readonly enabled: boolean; readonly endpoint?: string };
  readonly monitors?: {
    readonly scrapeKind: "auto" | "service" | "pod";
    readonly matchLabels: Readonly<Record<string, string>>;
    /** Whether a Prometheus is queried, however it obtains its metrics. */
    readonly isQueried?: boolean;
  };
  /** Maximum of replicas that the class runtime manager chooses; replicas that users state are not limited. */
  readonly maxReplicas: number;
  /** Default: off. */
  readonly enforcement?: EnforcementLevel;
  /**
   * Image with `sh` and `nc` for the init container that waits for the state store; functions do not wait without it.
   */
  readonly waitImage?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
}

/** The facts that decide what scales the workloads of a cluster. */
export type ScalingFacts = Pick<ClusterFacts, "capabilities" | "features">;

/** Why the cluster has no Knative Services; undefined if it has. */
export function whyNoKnative({ features, capabilities }: ScalingFacts): string | undefined {
  if (!features.knative) return "Knative is disabled (OPRC_CRM_FEATURES_KNATIVE)";
  return capabilities.knative ? undefined : "the cluster does not serve serving.knative.dev/v1";
}

/** The EnvironmentConfig of a class. */
export interface Environment {
  readonly name: string;
  readonly spec: EnvironmentConfigSpec;
}

/** DNS suffix of Services. */
export function clusterDomainOf(cluster: Pick<ClusterFacts, "clusterDomain">): string {
  return cluster.clusterDomain ?? "cluster.local";
}
