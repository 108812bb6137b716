import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { AvailabilityEstimate, ClusterName } from "@oaas/models";
import {
  assessHealth,
  type BlockingProblem,
  type HealthAssessment,
  type HealthWarning,
} from "../../clusters/cluster-health.ts";
import { estimateText } from "../explanation/estimate-text.ts";
import { formatAge, formatShare } from "../explanation/format.ts";
import { memoryStore, missingOffers } from "./reported-offer.ts";
import {
  ownEntry,
  type CandidateCluster,
  type ClusterVerdict,
  type PlanInput,
  type PlannedNamespace,
  type Reason,
} from "../plan-types.ts";
import { resolveNamespace } from "./namespaces.ts";

/** One cluster during planning: whether it is usable, how available it is, and the reasons collected so far. */
export interface Candidate {
  readonly cluster: CandidateCluster;
  /** Absent when it is unknown. */
  readonly availability?: number;
  /** How the availability was computed; absent when it is unknown or assumed. */
  readonly estimate?: AvailabilityEstimate;
  /** The deployment allows the cluster: by name, by label, or because it allows any. */
  readonly eligible: boolean;
  /** Eligible, and healthy enough to place replicas in. */
  readonly usable: boolean;
  /** The namespace of its unit. */
  readonly namespace?: PlannedNamespace;
  /** Why the cluster does not accept the namespace. */
  readonly namespaceProblem?: string;
  /** Where its unit is, if the deployment states another namespace. */
  readonly move?: string;
  readonly reasonsFor: readonly Reason[];
  readonly reasonsAgainst: readonly Reason[];
}

/** How clusters are selected: the user names them, or the planner selects by environment label or among all. */
export type SelectionMode = "named" | "environment" | "any";

/** All known clusters, sorted by name. */
export interface Candidates {
  readonly mode: SelectionMode;
  readonly all: readonly Candidate[];
}

function selectionMode({ deployment }: PlanInput): SelectionMode {
  if (deployment.targetClusters.length > 0) return "named";
  return deployment.environmentKind === undefined ? "any" : "environment";
}

/** Evaluates every known cluster. The result does not depend on the input order. */
export function evaluateClusters(input: PlanInput, needs: ClusterNeeds): Candidates {
  const mode = selectionMode(input);
  const clusters = input.clusters.toSorted((a, b) => compareNames(a.name, b.name));
  return { mode, all: clusters.map((cluster) => evaluateCluster(input, mode, cluster, needs)) };
}

/** Reports every name in the request that is not a known cluster. */
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

/** What the class needs from a cluster. */
export interface ClusterNeeds {
  /** Whether it has a state store. */
  readonly needsStore: boolean;
  /** Whether that store must keep objects on volumes. */
  readonly isPersistent: boolean;
  /** Clusters that cannot run what was planned for them, with the reason. */
  readonly unsuited: ReadonlyMap<ClusterName, readonly Reason[]>;
}

function evaluateCluster(
  input: PlanInput,
  mode: SelectionMode,
  cluster: CandidateCluster,
  { needsStore, isPersistent, unsuited }: ClusterNeeds,
): Candidate {
  const selection = selectionReasons(input, mode, cluster);
  const health = evaluateHealth(input, cluster);
  const { availability, estimate } = health;
  const eligible = selection.against.length === 0;
  const inMemory = needsStore && isPersistent ? memoryStore(cluster) : undefined;
  const closed = [
    ...cordonReasons(input, cluster),
    ...freezeReasons(input, cluster),
    ...(inMemory === undefined ? [] : [inMemory]),
  ];
  const missing = [...missingOffers(input, cluster, needsStore), ...(unsuited.get(cluster.name) ?? [])];
  const { namespace, against, move } = resolveNamespace(input, cluster);
  const [problem] = against;
  // A cluster that the user named is used as long as its availability is known.
  const usable =
    eligible &&
    closed.length === 0 &&
    problem === undefined &&
    availability !== undefined &&
    (mode === "named" || (health.blocking.length === 0 && (missing.length === 0 || runsIn(input, cluster))));
  return {
    cluster,
    ...(availability === undefined ? {} : { availability }),
    ...(estimate === undefined ? {} : { estimate }),
    eligible,
    usable,
    namespace,
    ...(problem === undefined ? {} : { namespaceProblem: problem.text }),
    ...(move === undefined ? {} : { move }),
    reasonsFor: [...selection.for, ...health.for],
    reasonsAgainst: [...selection.against, ...closed, ...against, ...missing, ...health.blocking, ...health.warnings],
  };
}

/** A unit that runs in a cluster is not moved because of what the cluster reports about itself. */
function runsIn({ previous }: PlanInput, { name }: CandidateCluster): boolean {
  return previous?.units.some(({ cluster }) => cluster === name) === true;
}

/** A cordon keeps new units out; a unit that is there stays, unless the cluster is drained. */
function cordonReasons(input: PlanInput, candidate: CandidateCluster): Reason[] {
  const { cordon } = candidate;
  if (cordon === undefined) return [];
  const { drain } = cordon;
  if (drain === undefined && runsIn(input, candidate)) return [];
  const why = cordon.reason === undefined ? "" : `: ${cordon.reason}`;
  return [{ code: "cordoned", text: `${drain === undefined ? "cordoned" : "being drained"} by ${cordon.by}${why}` }];
}

/** A freeze window keeps new units out; a unit that is there stays. */
function freezeReasons(input: PlanInput, candidate: CandidateCluster): Reason[] {
  const { frozen } = candidate;
  if (frozen === undefined || runsIn(input, candidate)) return [];
  const why = frozen.reason === undefined ? "" : `: ${frozen.reason}`;
  return [{ code: "frozen", text: `frozen by window "${frozen.window}" until ${frozen.until}${why}` }];
}

interface SelectionReasons {
  readonly for: readonly Reason[];
  readonly against: readonly Reason[];
}

/** Whether the deployment allows the cluster. */
function selectionReasons(
  { deployment, settings }: PlanInput,
  mode: SelectionMode,
  cluster: CandidateCluster,
): SelectionReasons {
  const { targetClusters, availableClusters, environmentKind } = deployment;
  if (mode === "named") {
    return targetClusters.includes(cluster.name)
      ? { for: [{ code: "named", text: "listed in target_clusters" }], against: [] }
      : { for: [], against: [{ code: "not-named", text: "not listed in target_clusters" }] };
  }
  const label = settings.environmentLabel;
  const { labels, reading } = cluster;
  // Without a label in the registration, the environments that the cluster reports decide.
  const isReported = environmentKind !== undefined && reading?.offer?.environments.includes(environmentKind) === true;
  const kind = ownEntry(labels, label) ?? (isReported ? environmentKind : undefined);
  const rules = [
    environmentKind === undefined
      ? undefined
      : {
          holds: kind === environmentKind,
          yes: { code: "environment", text: `label ${label} is ${environmentKind}` },
          no: { code: "other-environment", text: `label ${label} is ${kind ?? "not set"}, not ${environmentKind}` },
        },
    availableClusters.length === 0
      ? undefined
      : {
          holds: availableClusters.includes(cluster.name),
          yes: { code: "allowed", text: "listed in available_envs" },
          no: { code: "not-allowed", text: "not listed in available_envs" },
        },
  ].filter((rule) => rule !== undefined);
  const allowed = rules.length === 0 ? [{ code: "any", text: "any cluster is allowed" }] : [];
  return {
    for: [...allowed, ...rules.filter(({ holds }) => holds).map(({ yes }) => yes)],
    against: rules.filter(({ holds }) => !holds).map(({ no }) => no),
  };
}

interface HealthReasons {
  readonly availability?: number;
  readonly estimate?: AvailabilityEstimate;
  readonly for: readonly Reason[];
  /** Keep the planner from selecting the cluster. */
  readonly blocking: readonly Reason[];
  readonly warnings: readonly Reason[];
}

function evaluateHealth({ whatIf, settings }: PlanInput, cluster: CandidateCluster): HealthReasons {
  if (whatIf?.clustersDown?.includes(cluster.name) === true) {
    return { for: [], blocking: [{ code: "assumed-down", text: "assumed to be down" }], warnings: [] };
  }
  const assumed = ownEntry(whatIf?.clusterAvailability, cluster.name);
  if (assumed !== undefined) {
    return {
      availability: assumed,
      for: [{ code: "assumed", text: `assumed to be up ${formatShare(assumed)} of the time` }],
      blocking: assumed > 0 ? [] : [{ code: "never-up", text: PROBLEM_TEXT["never-up"](cluster) }],
      warnings: [],
    };
  }
  const assessment = assessHealth(cluster, settings.maxReadingAgeMs);
  return {
    ...(assessment.estimate === undefined
      ? {}
      : { availability: assessment.estimate.value, estimate: assessment.estimate }),
    for: readingReasons(cluster, assessment),
    blocking: assessment.blocking.map((code) => ({ code, text: PROBLEM_TEXT[code](cluster) })),
    warnings: assessment.warnings.map((code) => ({ code, text: PROBLEM_TEXT[code](cluster) })),
  };
}

function readingReasons({ reading, readingAgeMs = 0 }: CandidateCluster, { estimate }: HealthAssessment): Reason[] {
  if (estimate === undefined) return [];
  const basis = estimateText(estimate, reading?.measurement);
  const age = formatAge(readingAgeMs);
  return [{ code: "reading", text: `up ${formatShare(estimate.value)} of the time (${basis}, read ${age} ago)` }];
}

const PROBLEM_TEXT: Readonly<Record<BlockingProblem | HealthWarning, (cluster: CandidateCluster) => string>> = {
  "no-reading": ({ problem, reading }) =>
    `availability unknown: ${problem ?? (reading === undefined ? "no health check has succeeded" : "the cluster reports no nodes")}`,
  "never-up": () => "its availability is 0",
  unhealthy: () => "its status is unhealthy",
  "breaker-open": () => "its circuit breaker is open",
  stale: ({ readingAgeMs = 0 }) => `its last health reading is ${formatAge(readingAgeMs)} old`,
  degraded: () => "its status is degraded",
  "half-open": () => "its circuit breaker is half-open",
  unreachable: ({ problem = "" }) => problem,
};

/** The final verdict on a cluster, with the reasons that placement adds. */
export function verdict(
  { cluster, availability, estimate, reasonsFor, reasonsAgainst }: Candidate,
  chosen: boolean,
  more: { readonly for?: Reason; readonly against?: Reason } = {},
): ClusterVerdict {
  return {
    cluster: cluster.name,
    chosen,
    ...(availability === undefined ? {} : { availability }),
    ...(estimate === undefined ? {} : { estimate }),
    ...(cluster.readingAgeMs === undefined ? {} : { readingAgeMs: cluster.readingAgeMs }),
    reasonsFor: more.for === undefined ? reasonsFor : [...reasonsFor, more.for],
    reasonsAgainst: more.against === undefined ? reasonsAgainst : [...reasonsAgainst, more.against],
  };
}

/** Compares by code unit, so that the order is the same in every locale. */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
