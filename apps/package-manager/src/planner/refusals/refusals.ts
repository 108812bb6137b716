import type { ClassDeployment, Package } from "@oaas/models";
import type { Candidates } from "../placement/candidates.ts";
import type { RequestedFunction } from "../sizing/functions.ts";
import type { PlacementTask } from "../placement/placement.ts";
import type { ClusterVerdict, PlanInput, PlannerSettings, PlanRefusal, Remedy } from "../plan-types.ts";
import { remediesFor } from "./remedies.ts";
import { CLASS_SUBJECT, findLargestShortfall, subjectName, type Sizing } from "../sizing/replicas.ts";
import { pluralize, formatShare } from "../explanation/format.ts";

/** What of a wish is switched off, and so cannot be deployed; undefined when nothing is. */
export function findDisabledPart(from: Package, { classKey, functions }: ClassDeployment): string | undefined {
  if (from.disabled) return `package ${from.name}`;
  const definition = from.classes.find(({ key }) => key === classKey);
  if (definition?.disabled) return `class ${definition.key}`;
  const used = functions.length > 0 ? functions : (definition?.bindings ?? []);
  const keys = new Set(used.map(({ functionKey }) => functionKey));
  const off = from.functions.find((each) => each.disabled && keys.has(each.key));
  return off && `function ${off.key}`;
}

/** What is switched off cannot be deployed. */
export function refuseDisabled(
  { package: from, deployment }: PlanInput,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const subject = findDisabledPart(from, deployment);
  if (subject === undefined) return undefined;
  return { kind: "disabled", subject, clusters, message: disabledMessage(subject) };
}

export function disabledMessage(subject: string): string {
  return `${subject} is disabled and cannot be deployed; enable it first`;
}

/** Nowhere to go: no cluster is known, or none is what the wish asks for. */
export function refuseNoCluster(
  { deployment, settings }: PlanInput,
  candidates: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  if (candidates.all.some(({ eligible: wanted }) => wanted)) return undefined;
  const message =
    candidates.all.length === 0
      ? "no cluster is known; register one"
      : `no cluster is allowed: ${formatReasonsAgainst(clusters)}; ` +
        (deployment.environmentKind === undefined
          ? "name clusters that exist in available_envs"
          : `give a cluster the label ${settings.environmentLabel}: ${deployment.environmentKind}, or name target_clusters`);
  return { kind: "no-cluster", subject: "clusters", clusters, message };
}

/**
 * Nobody can tell how available the clusters are. A named one without any reading is refused, because a promise about it
 * would be a guess; with best effort it is left out as long as another one is left.
 */
export function refuseUnusable(
  { deployment, whatIf }: PlanInput,
  { mode, all }: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const out = all.filter(({ eligible: wanted, usable }) => wanted && !usable).map(({ cluster }) => cluster.name);
  const some = all.some(({ usable }) => usable);
  if (some && (mode !== "named" || deployment.allowBestEffort || out.length === 0)) return undefined;
  const affected = clusters.filter(({ cluster }) => out.includes(cluster));
  const assumed = out.every((name) => whatIf?.clustersDown?.includes(name) === true);
  const wait = assumed ? "assume fewer clusters down" : "try again when they can be read";
  const remedy =
    mode === "named" && some ? `${wait}, leave them out of target_clusters, or set allow_best_effort` : wait;
  const what = mode === "named" ? "named clusters cannot be planned with" : "no cluster can be used";
  const message = `${what}: ${formatReasonsAgainst(affected)}; ${remedy}`;
  return { kind: "no-usable-cluster", unusable: out, assumed, clusters, message };
}

function formatReasonsAgainst(clusters: readonly ClusterVerdict[]): string {
  return clusters
    .map(({ cluster, reasonsAgainst }) => `${cluster} (${reasonsAgainst.map(({ text }) => text).join(", ")})`)
    .join(", ");
}

/** The target is beyond what the clusters can do: how near the best comes, and what would help. */
export function refuseUnreachableTarget(
  task: PlacementTask,
  sizing: Sizing,
  clusters: readonly ClusterVerdict[],
): PlanRefusal {
  const missed = findLargestShortfall(sizing, task.demands) ?? { demand: task.demands[0] };
  const { demand, best } = missed;
  const remedies = remediesFor(task, missed);
  const { maxReplicas, algorithm } = task.input.settings;
  const whose = demand.subject === CLASS_SUBJECT ? "" : ` of ${demand.subject}`;
  const nearest =
    best === undefined
      ? `STRONG consistency needs an odd count of at least ${Math.max(3, demand.atLeast)}, and at most ${maxReplicas} are planned (PLANNER_MAX_REPLICAS)`
      : `the best is ${formatShare(best.availability)} with ${pluralize(best.replicas, "replica")}`;
  const usable = task.candidates.all.filter((candidate) => candidate.usable).length;
  return {
    kind: "out-of-reach",
    subject: subjectName(demand),
    target: demand.target,
    ...(best === undefined ? {} : { best: { availability: best.availability, replicas: best.replicas } }),
    remedies,
    clusters,
    message:
      `an availability${whose} of ${formatShare(demand.target)} is out of reach by ${algorithm} over ` +
      `${pluralize(usable, "cluster")}: ${nearest}. ${formatRemedies(remedies)}.`,
  };
}

function formatRemedies(remedies: readonly Remedy[]): string {
  if (remedies.length === 0) return "No single change would make it reachable";
  return `It would be reached by: ${remedies.map(({ text }) => text).join("; or ")}`;
}

/** More replicas would be needed than may be planned. */
export function refuseThroughput(
  { spec }: RequestedFunction,
  neededReplicas: number,
  { maxReplicas, rpsPerReplica }: PlannerSettings,
  clusters: readonly ClusterVerdict[],
): PlanRefusal {
  const subject = spec.functionKey;
  const rps = spec.nfr.minThroughputRps ?? 0;
  return {
    kind: "throughput-out-of-reach",
    subject,
    neededReplicas,
    maxReplicas,
    clusters,
    message:
      `${rps} requests per second of ${subject} need ${neededReplicas} replicas at ${rpsPerReplica} each, ` +
      `above the most that are planned (PLANNER_MAX_REPLICAS, ${maxReplicas}). It would be reached by: ` +
      `min_throughput_rps of at most ${maxReplicas * rpsPerReplica}; or PLANNER_MAX_REPLICAS of at least ${neededReplicas}; ` +
      "or allow_best_effort: true.",
  };
}
