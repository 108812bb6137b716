import { violationText, type Violation } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, Package } from "@oaas/models";
import type { Candidates } from "../placement/candidates.ts";
import { moveViolation, namespaceViolation } from "../placement/namespaces.ts";
import type { RequestedFunction } from "../sizing/functions.ts";
import type { PlacementTask } from "../placement/placement.ts";
import type { ClusterVerdict, PlanInput, PlannerSettings, PlanRefusal, Remedy } from "../plan-types.ts";
import { remediesFor } from "./remedies.ts";
import { CLASS_SUBJECT, findLargestShortfall, subjectName, type Sizing } from "../sizing/replicas.ts";
import { pluralize, formatShare } from "../explanation/format.ts";

/** The disabled package, class or function that a deployment uses; undefined if there is none. */
export function findDisabledPart(from: Package, { classKey, functions }: ClassDeployment): string | undefined {
  if (from.disabled) return `package ${from.name}`;
  const definition = from.classes.find(({ key }) => key === classKey);
  if (definition?.disabled) return `class ${definition.key}`;
  const used = functions.length > 0 ? functions : (definition?.bindings ?? []);
  const keys = new Set(used.map(({ functionKey }) => functionKey));
  const disabled = from.functions.find((each) => each.disabled && keys.has(each.key));
  return disabled && `function ${disabled.key}`;
}

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

/** Refuses if no cluster is registered, or none is eligible. */
export function refuseNoCluster(
  { deployment, settings }: PlanInput,
  candidates: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  if (candidates.all.some(({ eligible }) => eligible)) return undefined;
  const message =
    candidates.all.length === 0
      ? "no cluster is registered; register one"
      : `no cluster is eligible: ${formatReasonsAgainst(clusters)}; ` +
        (deployment.environmentKind === undefined
          ? "list registered clusters in available_envs"
          : `add the label ${settings.environmentLabel}: ${deployment.environmentKind} to a cluster, or set target_clusters`);
  return { kind: "no-cluster", subject: "clusters", clusters, message };
}

/**
 * Refuses a move to another namespace, and a namespace that named clusters, or all eligible ones, do not accept: waiting
 * does not help.
 */
export function refuseNamespace(
  input: PlanInput,
  { mode, all }: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const eligible = all.filter((candidate) => candidate.eligible);
  const move = moveViolation(
    input,
    eligible.flatMap((candidate) => candidate.move ?? []),
  );
  if (move !== undefined) return refuseInvalid([move], clusters);
  const refusing = eligible.flatMap(({ cluster, namespaceProblem: text }) =>
    text === undefined ? [] : [{ cluster, text }],
  );
  const isNeeded = mode === "named" && !input.deployment.allowBestEffort;
  if (refusing.length === 0 || (!isNeeded && refusing.length < eligible.length)) return undefined;
  return refuseInvalid([namespaceViolation(input, refusing)], clusters);
}

/** Refuses an invalid request with all its violations. */
export function refuseInvalid(violations: readonly Violation[], clusters: readonly ClusterVerdict[]): PlanRefusal {
  return { kind: "invalid", violations, clusters, message: violations.map(violationText).join("; ") };
}

/**
 * Refuses if no eligible cluster is usable. A named cluster without any reading is refused as well, because its
 * availability is unknown; with best effort it is skipped if another cluster is usable.
 */
export function refuseUnusable(
  { deployment, whatIf }: PlanInput,
  { mode, all }: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const blocked = all.filter(({ eligible, usable }) => eligible && !usable);
  const unusable = blocked.map(({ cluster }) => cluster.name);
  const anyUsable = all.some(({ usable }) => usable);
  if (anyUsable && (mode !== "named" || deployment.allowBestEffort || unusable.length === 0)) return undefined;
  const affected = clusters.filter(({ cluster }) => unusable.includes(cluster));
  const isDown = (name: ClusterName): boolean => whatIf?.clustersDown?.includes(name) === true;
  const blockedBy = (codes: ReadonlySet<string>): readonly ClusterName[] =>
    blocked.flatMap(({ cluster, reasonsAgainst }) =>
      reasonsAgainst.some(({ code }) => codes.has(code)) ? [cluster.name] : [],
    );
  const cordoned = blockedBy(CORDONED);
  const frozen = blockedBy(FROZEN);
  const unsuited = blockedBy(UNSUITED);
  const refusing = blocked.filter(({ namespaceProblem }) => namespaceProblem !== undefined);
  const isHeld = (name: ClusterName): boolean => [...cordoned, ...frozen, ...unsuited].includes(name);
  const assumed = unusable.every((name) => isDown(name) || isHeld(name));
  const retry = [
    ...(unusable.some((name) => isDown(name)) ? ["assume fewer clusters down"] : []),
    ...(cordoned.length > 0 ? ["uncordon them"] : []),
    ...(frozen.length > 0 ? ["wait until the freeze window ends"] : []),
    ...(unsuited.length > 0 ? ["make the stated change to a cluster or to the deployment"] : []),
    ...(refusing.length > 0 ? ["use another namespace, or change the clusters' allowed_namespaces"] : []),
    ...(assumed ? [] : ["retry when their health checks succeed"]),
  ].join(", or ");
  const remedy =
    mode === "named" && anyUsable ? `${retry}, remove them from target_clusters, or set allow_best_effort` : retry;
  const what = mode === "named" ? "clusters in target_clusters are not usable" : "no cluster is usable";
  const message = `${what}: ${formatReasonsAgainst(affected)}; ${remedy}`;
  return { kind: "no-usable-cluster", unusable, assumed, clusters, message };
}

const CORDONED: ReadonlySet<string> = new Set(["cordoned"]);
const FROZEN: ReadonlySet<string> = new Set(["frozen"]);
/** Reasons that a cluster reports about itself, each with its remedy. */
const UNSUITED: ReadonlySet<string> = new Set([
  "no-state-store",
  "no-template",
  "no-capability",
  "no-capacity",
  "no-scale-to-zero",
]);

function formatReasonsAgainst(clusters: readonly ClusterVerdict[]): string {
  return clusters
    .map(({ cluster, reasonsAgainst }) => `${cluster} (${reasonsAgainst.map(({ text }) => text).join(", ")})`)
    .join(", ");
}

/** Refuses an unreachable target, with the closest result and the changes that would help. */
export function refuseUnreachableTarget(
  task: PlacementTask,
  sizing: Sizing,
  clusters: readonly ClusterVerdict[],
): PlanRefusal {
  const missed = findLargestShortfall(sizing, task.demands) ?? { demand: task.demands[0] };
  const { demand, best } = missed;
  const remedies = remediesFor(task, sizing, missed);
  const { maxReplicas, algorithm } = task.input.settings;
  const whose = demand.subject === CLASS_SUBJECT ? "" : ` of ${demand.subject}`;
  const closest =
    best === undefined
      ? `STRONG consistency needs an odd count of at least ${Math.max(3, demand.atLeast)}, more than PLANNER_MAX_REPLICAS (${maxReplicas})`
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
      `availability ${formatShare(demand.target)}${whose} is out of reach (${algorithm} over ` +
      `${pluralize(usable, "cluster")}): ${closest}. ${formatRemedies(remedies)}.`,
  };
}

function formatRemedies(remedies: readonly Remedy[]): string {
  if (remedies.length === 0) return "No single change makes it reachable";
  return `To fix it: ${remedies.map(({ text }) => text).join("; or ")}`;
}

/** Refuses a throughput that needs more replicas than the cap. */
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
      `more than PLANNER_MAX_REPLICAS (${maxReplicas}). To fix it: ` +
      `lower min_throughput_rps to at most ${maxReplicas * rpsPerReplica}; or raise PLANNER_MAX_REPLICAS to at least ` +
      `${neededReplicas}; or set allow_best_effort: true.`,
  };
}
