import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { clusterAvailability, ClusterStatus } from "@oaas/models";
import { ownEntry } from "../own-entry.ts";
import type { CandidateCluster, ClusterVerdict, PlanInput, Reason } from "../plan-types.ts";
import { formatAge, formatShare } from "../explanation/format.ts";

/** One cluster while a plan is made: whether it may be used, how available it is, and the reasons so far. */
export interface Candidate {
  readonly cluster: CandidateCluster;
  /** Absent: nobody can tell. */
  readonly availability?: number;
  /** The wish allows it: it is on the list, or has the label. */
  readonly eligible: boolean;
  /** Wanted, and nothing forbids to count on it. */
  readonly usable: boolean;
  readonly reasonsFor: readonly Reason[];
  readonly reasonsAgainst: readonly Reason[];
}

/** Who chooses the clusters: the user by name, or the planner among those that a label or nothing restricts. */
export type SelectionMode = "named" | "environment" | "any";

/** All known clusters, by name, with what speaks for and against each. */
export interface Candidates {
  readonly mode: SelectionMode;
  readonly all: readonly Candidate[];
}

/** How the clusters of a wish are chosen. */
function selectionMode({ deployment }: PlanInput): SelectionMode {
  if (deployment.targetClusters.length > 0) return "named";
  return deployment.environmentKind === undefined ? "any" : "environment";
}

/** Judges every known cluster. Clusters are taken by name, so that the order they come in does not matter. */
export function evaluateClusters(input: PlanInput): Candidates {
  const mode = selectionMode(input);
  const clusters = input.clusters.toSorted((a, b) => compareNames(a.name, b.name));
  return { mode, all: clusters.map((cluster) => evaluateCluster(input, mode, cluster)) };
}

/** Names that are meant to be clusters and are none. */
export function findUnknownClusters({ clusters, deployment, whatIf }: PlanInput): Violation[] {
  const known = new Set<string>(clusters.map(({ name }) => name));
  const fix = known.size === 0 ? "register a cluster" : `use one of ${[...known].sort(compareNames).join(", ")}`;
  const unknown = (name: string, path: string): Violation[] =>
    known.has(name) ? [] : [{ path, message: `${name} is not a known cluster`, fix }];
  const inList = (names: readonly string[], ...path: string[]) =>
    names.flatMap((name, index) => unknown(name, pathOf(ROOT_PATH, ...path, index)));
  const inMap = (names: object, ...path: string[]) =>
    Object.keys(names).flatMap((name) => unknown(name, pathOf(ROOT_PATH, ...path, name)));
  return [
    ...inList(deployment.targetClusters, "target_clusters"),
    ...inMap(deployment.clusterTemplates, "env_templates"),
    ...inMap(deployment.odgm?.nodeIds ?? {}, "odgm", "env_node_ids"),
    ...inList(whatIf?.clustersDown ?? [], "what_if", "clusters_down"),
    ...inMap(whatIf?.clusterAvailability ?? {}, "what_if", "cluster_availability"),
  ];
}

function evaluateCluster(input: PlanInput, mode: SelectionMode, cluster: CandidateCluster): Candidate {
  const availability = availabilityOfCluster(input, cluster);
  const wish = selectionReasons(input, mode, cluster);
  const wanted = wish.against.length === 0;
  const health = healthReasons(input, cluster, availability);
  // Whom the user named is used as long as its availability is known at all; whom the planner takes must be well.
  const usable = wanted && availability !== undefined && (mode === "named" || health.forbids.length === 0);
  return {
    cluster,
    ...(availability === undefined ? {} : { availability }),
    eligible: wanted,
    usable,
    reasonsFor: [...wish.for, ...health.for],
    reasonsAgainst: [...wish.against, ...health.forbids, ...health.against],
  };
}

function availabilityOfCluster({ whatIf }: PlanInput, { name, reading }: CandidateCluster): number | undefined {
  if (whatIf?.clustersDown?.includes(name) === true) return undefined;
  const assumed = ownEntry(whatIf?.clusterAvailability, name);
  if (assumed !== undefined) return assumed;
  return reading === undefined ? undefined : clusterAvailability(reading);
}

interface Reasons {
  readonly for: readonly Reason[];
  readonly against: readonly Reason[];
}

/** What the user's own words say about a cluster. */
function selectionReasons(
  { deployment, settings }: PlanInput,
  mode: SelectionMode,
  cluster: CandidateCluster,
): Reasons {
  const { targetClusters, availableClusters, environmentKind } = deployment;
  if (mode === "named") {
    return targetClusters.includes(cluster.name)
      ? { for: [{ code: "named", text: "the deployment names it as a target" }], against: [] }
      : { for: [], against: [{ code: "not-named", text: "the deployment names other targets" }] };
  }
  const label = settings.environmentLabel;
  const kind = ownEntry(cluster.labels, label);
  const rules = [
    environmentKind === undefined
      ? undefined
      : {
          holds: kind === environmentKind,
          yes: { code: "environment", text: `its label ${label} is ${environmentKind}` },
          no: { code: "other-environment", text: `its label ${label} is ${kind ?? "not set"}, not ${environmentKind}` },
        },
    availableClusters.length === 0
      ? undefined
      : {
          holds: availableClusters.includes(cluster.name),
          yes: { code: "allowed", text: "it is among the available_envs" },
          no: { code: "not-allowed", text: "it is not among the available_envs" },
        },
  ].filter((rule) => rule !== undefined);
  const allowed = rules.length === 0 ? [{ code: "any", text: "any cluster is allowed" }] : [];
  return {
    for: [...allowed, ...rules.filter(({ holds }) => holds).map(({ yes }) => yes)],
    against: rules.filter(({ holds }) => !holds).map(({ no }) => no),
  };
}

interface HealthReasons extends Reasons {
  /** What keeps the planner from choosing it. */
  readonly forbids: readonly Reason[];
}

/** What is known about a cluster's health. */
function healthReasons(input: PlanInput, cluster: CandidateCluster, availability: number | undefined): HealthReasons {
  const { whatIf, settings } = input;
  if (whatIf?.clustersDown?.includes(cluster.name) === true) {
    return { for: [], against: [], forbids: [{ code: "assumed-down", text: "it is assumed to be down" }] };
  }
  if (availability === undefined) {
    const why = cluster.problem ?? (cluster.reading === undefined ? "it was never read" : "it reports no nodes");
    return { for: [], against: [], forbids: [{ code: "no-reading", text: `its availability is unknown: ${why}` }] };
  }
  if (ownEntry(whatIf?.clusterAvailability, cluster.name) !== undefined) {
    const text = `it is assumed to be up ${formatShare(availability)} of the time`;
    return { for: [{ code: "assumed", text }], against: [], forbids: zeroReasons(availability) };
  }
  const { reading, readingAgeMs: ageMs = 0 } = cluster;
  const basis = reading?.availability === undefined ? "ready nodes" : "measured";
  const problem = cluster.problem === undefined ? [] : [{ code: "unreachable", text: cluster.problem }];
  return {
    for: [
      { code: "reading", text: `up ${formatShare(availability)} of the time (${basis}, read ${formatAge(ageMs)} ago)` },
    ],
    against: [
      ...(reading?.status === ClusterStatus.degraded
        ? [{ code: "degraded", text: "it says that it is degraded" }]
        : []),
      ...(cluster.breaker === "half-open" ? [{ code: "half-open", text: "it is being tried after failures" }] : []),
      ...problem,
    ],
    forbids: [
      ...zeroReasons(availability),
      ...(reading?.status === ClusterStatus.unhealthy
        ? [{ code: "unhealthy", text: "it says that it is unhealthy" }]
        : []),
      ...(cluster.breaker === "open" ? [{ code: "breaker-open", text: "its circuit breaker is open" }] : []),
      ...(ageMs > settings.maxReadingAgeMs
        ? [{ code: "stale", text: `its last reading is ${formatAge(ageMs)} old` }]
        : []),
    ],
  };
}

function zeroReasons(availability: number): Reason[] {
  return availability > 0 ? [] : [{ code: "never-up", text: "it is never up" }];
}

/** What is said about a cluster at the end. */
export function verdict(
  { cluster, availability, reasonsFor, reasonsAgainst }: Candidate,
  chosen: boolean,
  more: { readonly for?: Reason; readonly against?: Reason } = {},
): ClusterVerdict {
  return {
    cluster: cluster.name,
    chosen,
    ...(availability === undefined ? {} : { availability }),
    ...(cluster.readingAgeMs === undefined ? {} : { readingAgeMs: cluster.readingAgeMs }),
    reasonsFor: more.for === undefined ? reasonsFor : [...reasonsFor, more.for],
    reasonsAgainst: more.against === undefined ? reasonsAgainst : [...reasonsAgainst, more.against],
  };
}

/** By code units, so that the order is the same everywhere. */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
