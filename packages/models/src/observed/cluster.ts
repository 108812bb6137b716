import type { ClusterName } from "../fields/ids.ts";

/** Health of a cluster as PM observes it. */
export const ClusterStatus = {
  healthy: "healthy",
  degraded: "degraded",
  unhealthy: "unhealthy",
  unknown: "unknown",
} as const;
export type ClusterStatus = (typeof ClusterStatus)[keyof typeof ClusterStatus];

/** The source of an availability: a measurement over time, the present share of ready nodes, or a configured value. */
export const AvailabilitySource = {
  measured: "measured",
  readyNodes: "ready_nodes",
  configured: "configured",
} as const;
export type AvailabilitySource = (typeof AvailabilitySource)[keyof typeof AvailabilitySource];

/** The availability of the API and the nodes of a cluster over a window, measured by its manager. */
export interface AvailabilityMeasurement {
  /** The share of time that the API is up, times the share of ready nodes while it is up. */
  readonly value: number;
  readonly apiAvailability: number;
  /** Absent if the nodes are not known. */
  readonly nodeAvailability?: number;
  readonly windowHours: number;
  /** After this time an observation counts half. */
  readonly halfLifeHours: number;
  /** Number of observations. */
  readonly samples: number;
  readonly observedHours: number;
  /** The observed time, each moment with its weight: the size of the evidence. */
  readonly evidenceHours: number;
  /** RFC 3339: start of the oldest day with an observation. */
  readonly since?: string;
}

/** One health reading of a cluster. */
export interface ClusterHealth {
  readonly cluster: ClusterName;
  readonly status: ClusterStatus;
  readonly crmVersion?: string;
  /** RFC 3339; undefined if the cluster was never reached. */
  readonly lastSeen?: string;
  readonly nodeCount?: number;
  readonly readyNodes?: number;
  /** Reported availability, 0 to 1. */
  readonly availability?: number;
  /** Where the availability comes from; absent if the cluster does not report it. */
  readonly availabilitySource?: AvailabilitySource;
  /** Templates that can scale functions to zero; absent if the cluster does not report them. */
  readonly zeroScaleTemplates?: readonly string[];
  /** Absent if the cluster does not measure it. */
  readonly measurement?: AvailabilityMeasurement;
  /** Absent if the cluster does not report what it offers, as managers of earlier releases. */
  readonly offer?: ClusterOffer;
  /** Clusters with the same data plane network replicate objects to each other; absent: a network of its own. */
  readonly dataPlaneNetwork?: string;
  /** Whether the state store keeps objects on volumes. */
  readonly persistentState?: boolean;
  /** Whether the manager can be given the namespace of a unit; absent if it cannot. */
  readonly acceptsNamespace?: boolean;
  /** Namespaces that the manager serves; empty or absent: all. */
  readonly namespaces?: readonly string[];
  /** Namespace of units without one; absent if the manager reports none. */
  readonly defaultNamespace?: string;
  /** Namespaces that the manager rejects although it serves all. */
  readonly rejectedNamespaces?: readonly string[];
}

/** What a cluster offers to classes. */
export interface ClusterOffer {
  /** Usable features, such as odgm and knative. */
  readonly capabilities: readonly string[];
  /** Valid values of a template. */
  readonly templates: readonly string[];
  /** Names of its EnvironmentConfigs. */
  readonly environments: readonly string[];
  /** Such as region and zone. */
  readonly labels: Readonly<Record<string, string>>;
  /** The nodes that take new pods; absent if they are not known. */
  readonly shapes?: readonly NodeShape[];
}

/** Nodes of one size, and what is free on them. */
export interface NodeShape {
  readonly nodes: number;
  /** On all nodes together. */
  readonly freeCpuMillicores: number;
  readonly freeMemoryBytes: number;
  readonly freePods: number;
  /** On the node that has the most. */
  readonly largestFreeCpuMillicores: number;
  readonly largestFreeMemoryBytes: number;
  /** Extended resources, such as nvidia.com/gpu; one that is not listed is not there. Absent if they are not known. */
  readonly extended?: Readonly<Record<string, { readonly free: number; readonly largestFree: number }>>;
}

/** Returns the availability of a cluster: reported, else the share of ready nodes, else undefined. */
export function clusterAvailability(
  health: Pick<ClusterHealth, "availability" | "nodeCount" | "readyNodes">,
): number | undefined {
  if (health.availability !== undefined) return clamped(health.availability);
  if (health.readyNodes === undefined || !health.nodeCount) return undefined;
  return clamped(health.readyNodes / health.nodeCount);
}

function clamped(share: number): number | undefined {
  return Number.isNaN(share) ? undefined : Math.min(1, Math.max(0, share));
}
