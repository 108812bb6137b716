import { pathOf, ROOT_PATH, violationText, type Violation } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, Package } from "@oaas/models";
import type { Candidates } from "../placement/candidates.ts";
import { moveViolation, namespaceViolation } from "../placement/namespaces.ts";
import type { RequestedFunction } from "../sizing/functions.ts";
import { byNetwork, CONNECT_FIX, listText, unconnectedText } from "../placement/networks.ts";
import type { PlacementTask } from "../placement/placement.ts";
import { MEMORY_STORE } from "../placement/reported-offer.ts";
import {
  isSufficientApart,
  unconnectedClusters,
  type ClassPlacement,
  type UnconnectedClusters,
} from "../placement/state-placement.ts";
import type { ClusterVerdict, PlanInput, PlannerSettings, PlanRefusal, Remedy } from "../plan-types.ts";
import { remediesFor } from "./remedies.ts";
import { CLASS_SUBJECT, findLargestShortfall, subjectName } from "../sizing/replicas.ts";
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

/**
 * Refuses a persistent class where the state stores keep objects in memory: in a named cluster, or in all clusters that
 * could have it. Waiting does not help.
 */
export function refuseMemoryStores(
  { deployment: { classKey } }: PlanInput,
  { mode, all }: Candidates,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const inMemory = all.filter(
    ({ eligible, reasonsAgainst }) => eligible && reasonsAgainst.some(({ code }) => code === MEMORY_STORE),
  );
  if (inMemory.length === 0 || (mode !== "named" && all.some(({ usable }) => usable))) return undefined;
  const names = listText(inMemory.map(({ cluster }) => cluster.name));
  return refuseInvalid(
    [
      {
        path: pathOf(ROOT_PATH, mode === "named" ? "target_clusters" : "class_key"),
        message: `class ${classKey} is persistent: true, and the state store of ${names} is not: this state store keeps objects in memory`,
        fix: `set persistent: false in the state_spec of the class, or use a state store that writes to volumes and set OPRC_CRM_ODGM_PERSISTENCE=true in ${names}`,
      },
    ],
    clusters,
  );
}

/** Refuses named clusters that cannot all have copies: functions in the others could not reach the objects. */
export function refuseNamedClusters(
  { candidates, hasState, copies, input }: PlacementTask,
  clusters: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  if (!hasState || candidates.mode !== "named") return undefined;
  const path = pathOf(ROOT_PATH, "target_clusters");
  const usable = candidates.all.filter((candidate) => candidate.usable).map(({ cluster }) => cluster.name);
  if (copies.isSingle && usable.length > 1) {
    const type = input.deployment.odgm?.shardType;
    const message = `the shard type ${type} does not replicate, so that objects have one copy in one cluster, not in ${listText(usable)}`;
    return refuseInvalid([{ path, message, fix: "name one cluster, or set odgm.shard_type to raft" }], clusters);
  }
  const apart = unconnectedClusters(candidates);
  if (apart.length === 0) return undefined;
  const message = `${unconnectedText(apart)}: copies of one object are in clusters of one network only, and functions in the others could not reach it`;
  const networks = [...byNetwork(candidates.all.filter((candidate) => candidate.usable)).values()];
  const lists = networks.slice(0, MAX_LISTS).map((group) => `[${group.map(({ cluster }) => cluster.name).join(", ")}]`);
  const fix = `set target_clusters to the clusters of one network, e.g. ${lists.join(" or ")}; or ${CONNECT_FIX}`;
  return refuseInvalid([{ path, message, fix }], clusters);
}

/** Networks that a fix names. */
const MAX_LISTS = 4;

/** Refuses a target that clusters would reach only together, although they share no data plane network. */
export function refuseUnconnected(
  { input }: PlacementTask,
  { clusters: names, apart, demand, best, lowerTargets }: UnconnectedClusters,
  clusters: readonly ClusterVerdict[],
): PlanRefusal {
  const reached = `${formatShare(best.availability)} with ${pluralize(best.replicas, "copy", "copies")}`;
  const subject = subjectName(demand);
  const whose = demand.subject === CLASS_SUBJECT ? "" : ` of ${subject}`;
  const lower = lowerTargets.map((each) => `${formatShare(each.availability)} for ${each.subject}`).join(" and ");
  const remedies: Remedy[] = [
    ...(lowerTargets.length === 0
      ? []
      : [{ kind: "lower-target" as const, targets: lowerTargets, text: `lower the target to at most ${lower}` }]),
    { kind: "connect-clusters", clusters: names, text: `connect ${listText(names)}: ${CONNECT_FIX}` },
    { kind: "allow-best-effort", text: `set allow_best_effort: true to accept ${reached}` },
  ];
  return {
    kind: "out-of-reach",
    subject,
    target: demand.target,
    best: { availability: best.availability, replicas: best.replicas },
    remedies,
    clusters,
    message:
      `availability ${formatShare(demand.target)}${whose} is out of reach (${input.settings.algorithm}), because ` +
      `${unconnectedText(apart)}, and all copies of an object are in clusters of one network: the best is ${reached} in ` +
      `${listText(best.clusters)}. ${formatRemedies(remedies)}.`,
  };
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
  { task, error: sizing, whole }: ClassPlacement & { readonly ok: false },
  clusters: readonly ClusterVerdict[],
): PlanRefusal {
  const missed = findLargestShortfall(sizing, task.demands) ?? { demand: task.demands[0] };
  const { demand, best } = missed;
  const all = remediesFor(task, sizing, missed);
  const remedies = whole === undefined ? all : all.filter((remedy) => isSufficientApart(whole, remedy));
  const { maxReplicas, algorithm } = task.input.settings;
  const whose = demand.subject === CLASS_SUBJECT ? "" : ` of ${demand.subject}`;
  const closest =
    best === undefined
      ? `${demand.strong ? "STRONG consistency needs an odd count of" : "the copies of objects are"} at least ${Math.max(demand.strong ? 3 : 1, demand.atLeast)}, more than PLANNER_MAX_REPLICAS (${maxReplicas})`
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
