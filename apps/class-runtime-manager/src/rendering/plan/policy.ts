import type { BuiltinTemplate } from "@oaas/models";

/** Requests and limits of one container. */
export interface ResourceAmounts {
  readonly cpu_request: string;
  readonly memory_request: string;
  readonly cpu_limit: string;
  readonly memory_limit: string;
}

/** How pods are spread: not at all, when possible, or evenly over nodes even if a pod has to wait. */
export type Spread = "none" | "preferred" | "even";

/** The settings that distinguish templates. Data only: all templates share the renderers. */
export interface Policy {
  readonly id: BuiltinTemplate | (string & {});
  /** Replicas of a function that states none. */
  readonly replicas: number;
  /** Nodes of a state store without a stated replica count. */
  readonly odgmReplicas: number;
  readonly resources: ResourceAmounts;
  readonly odgmResources: ResourceAmounts;
  /** Probes of containers. */
  readonly probes: { readonly liveness: boolean; readonly startup: boolean };
  readonly spread: Spread;
  readonly odgmSpread: Spread;
  readonly disruptionBudget: boolean;
  /** Rolling update of a Deployment; absent for the default of Kubernetes. */
  readonly rollingUpdate?: { readonly maxSurge: number | string; readonly maxUnavailable: number | string };
  readonly minReadySeconds?: number;
  readonly terminationGraceSeconds: number;
  /** Part of it in which a function still serves, until no proxy sends it new connections; 0 for none. */
  readonly drainSeconds: number;
  readonly scaleDownWindowSeconds: number;
  /** How long pods stay bound to a lost node; absent for the default of Kubernetes (300). */
  readonly nodeLossTolerationSeconds?: number;
  readonly defaultPort: number;
}

const ODGM_RESOURCES: ResourceAmounts = {
  cpu_request: "200m",
  memory_request: "512Mi",
  cpu_limit: "1",
  memory_limit: "1Gi",
};

/** Default settings of templates, from the design documents. */
export const STANDARD_POLICY: Omit<Policy, "id"> = {
  replicas: 1,
  odgmReplicas: 1,
  resources: { cpu_request: "100m", memory_request: "256Mi", cpu_limit: "500m", memory_limit: "512Mi" },
  odgmResources: ODGM_RESOURCES,
  probes: { liveness: true, startup: false },
  spread: "none",
  odgmSpread: "preferred",
  disruptionBudget: false,
  terminationGraceSeconds: 30,
  drainSeconds: 5,
  scaleDownWindowSeconds: 300,
  defaultPort: 80,
};
