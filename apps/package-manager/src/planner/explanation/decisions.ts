import type { Candidates } from "../placement/candidates.ts";
import { availabilitiesOf, sizingRules, type Placement, type PlacementTask } from "../placement/placement.ts";
import type { Decision, PlannedFunction, PlannedOdgm, PlannedUnit } from "../plan-types.ts";
import { HIGHEST_TARGET } from "../sizing/quorum.ts";
import { allowsReplicaCount, CLASS_SUBJECT, sizeReplicas, type Demand } from "../sizing/replicas.ts";
import { pluralize, truncateShare, formatShare } from "./format.ts";

/** A finished plan, as far as its decisions speak of it. */
interface PlannedDeployment {
  readonly task: PlacementTask;
  readonly placement: Placement;
  readonly units: readonly PlannedUnit[];
  readonly odgm?: PlannedOdgm;
}

/** What was decided, in the order in which it was: each with its rule, its inputs and what would change it. */
export function decisionsOf(decided: PlannedDeployment): readonly Decision[] {
  const decisions = [
    targetDecision(decided),
    choiceDecision(decided),
    replicaDecision(decided),
    weakerDecision(decided),
    keptDecision(decided),
    bestEffortDecision(decided),
    odgmDecision(decided),
    ...scaleDecisions(decided),
  ];
  return decisions.filter((decision) => decision !== undefined);
}

function targetDecision({ task: { input, basis } }: PlannedDeployment): Decision {
  const { deployment, settings, whatIf } = input;
  const stated = deployment.nfr.availability;
  return {
    rule: "target availability: assumed, else stated, else the default",
    inputs: {
      ...(whatIf?.availability === undefined ? {} : { assumed: whatIf.availability }),
      ...(stated === undefined ? {} : { stated }),
      default: settings.defaultAvailability,
    },
    outcome:
      basis.target > HIGHEST_TARGET
        ? `${formatShare(HIGHEST_TARGET)}, as nothing is up for certain`
        : formatShare(basis.target),
    wouldChange: "nfr_requirements.availability",
  };
}

const CHOICE_RULES = {
  named: "clusters: all that the deployment names",
  environment: "clusters: the most available of those with the label of target_env",
  any: "clusters: the most available of all that are allowed",
} as const satisfies Record<Candidates["mode"], string>;

const CHOICE_CHANGES = {
  named: "target_clusters",
  environment: "target_clusters, target_env, or other readings",
  any: "target_clusters, available_envs, or other readings",
} as const satisfies Record<Candidates["mode"], string>;

function choiceDecision({ task, placement, units }: PlannedDeployment): Decision {
  const { mode, all } = task.candidates;
  return {
    rule: CHOICE_RULES[mode],
    inputs: {
      known: all.length,
      wanted: all.filter(({ eligible: wanted }) => wanted).length,
      usable: all.filter(({ usable }) => usable).length,
      left_out: placement.sizing.excluded,
    },
    outcome: units.map(({ cluster }) => cluster).join(", "),
    wouldChange: CHOICE_CHANGES[mode],
  };
}

function replicaDecision({ task, placement }: PlannedDeployment): Decision {
  const { settings } = task.input;
  const { strong, atLeast, algorithm, target } = task.basis;
  const together = algorithm === "quorum" ? "a majority" : "any one";
  const limits = [
    ...(strong ? ["2f+1 with f = max(1, n/2 rounded down) for STRONG"] : []),
    ...(atLeast > 1 ? [`at least the ${atLeast} of odgm.replica_count`] : []),
  ];
  return {
    rule:
      `replicas: the fewest of which ${together} is up for the target, counted worst cluster first and round again` +
      (limits.length === 0 ? "" : `; ${limits.join("; ")}`),
    inputs: {
      target,
      availabilities: placement.sizing.worstFirst,
      cap: settings.maxReplicas,
      consistency: strong ? "STRONG" : "any",
    },
    outcome: `${pluralize(placement.replicas, "replica")}, which reach ${formatShare(placement.achieved)}`,
    ...fewer(task, placement),
  };
}

/** What would lead to fewer replicas by itself, each tried; where nothing would, all of it together. */
function fewer(task: PlacementTask, { sizing, replicas, kept }: Placement): { readonly wouldChange?: string } {
  // What is kept is not what the rule gives; the decision to keep it says what would change it.
  if (kept !== undefined || replicas === 1) return {};
  const [demand, ...others] = task.demands;
  const clusters = availabilitiesOf(task);
  const replicasFor = (changed: Demand): number => {
    const [size] = sizeReplicas(clusters, { ...sizingRules(task), demands: [changed, ...others] }).sizes;
    return size?.reached === true ? size.replicas : Number.POSITIVE_INFINITY;
  };
  const reached = sizing.curve.slice(0, replicas - 1).filter((_, index) => allowsReplicaCount(demand, index + 1));
  const target = truncateShare(Math.max(0, ...reached), 9);
  const count = replicasFor({ ...demand, target });
  if (count < replicas) return { wouldChange: `a target of at most ${formatShare(target)}, which ${count} would meet` };

  const rules = [
    { text: "a weaker consistency", limits: demand.strong, without: { ...demand, strong: false } },
    { text: "a lower odgm.replica_count", limits: demand.atLeast > 1, without: { ...demand, atLeast: 1 } },
  ].filter(({ limits }) => limits);
  const enough = rules.filter(({ without }) => replicasFor(without) < replicas).map(({ text }) => text);
  if (enough.length > 0) return { wouldChange: enough.join(", or ") };
  return { wouldChange: ["a lower target", ...rules.map(({ text }) => text)].join(" together with ") };
}

/** Even counts are weaker than the odd one below them; whoever gets one must hear it. */
function weakerDecision({ placement }: PlannedDeployment): Decision | undefined {
  const { sizing, replicas, achieved } = placement;
  const stronger = sizing.curve.slice(0, replicas - 1).findIndex((availability) => availability > achieved);
  const availability = sizing.curve[stronger];
  if (availability === undefined) return undefined;
  return {
    rule: "a larger count with a lower availability is told",
    inputs: { replicas, achieved: truncateShare(achieved, 9) },
    outcome: `${pluralize(stronger + 1, "replica")} would reach more (${formatShare(availability)})`,
    wouldChange: "a lower odgm.replica_count, or a weaker consistency",
  };
}

function keptDecision({ task, placement }: PlannedDeployment): Decision | undefined {
  if (placement.kept === undefined) return undefined;
  return {
    rule: "hysteresis: what runs is moved only for a gain above the margin",
    inputs: { margin: task.input.settings.hysteresisMargin, running: placement.replicas },
    outcome: `kept, because ${placement.kept}`,
    wouldChange: "a larger gain, another target, or a cluster that cannot be used any more",
  };
}

function bestEffortDecision({ placement, task }: PlannedDeployment): Decision | undefined {
  if (!placement.bestEffort) return undefined;
  return {
    rule: "best effort: the nearest to what was asked for, since it is out of reach",
    inputs: { target: task.basis.target, achieved: truncateShare(placement.achieved, 9) },
    outcome: `accepted ${formatShare(placement.achieved)}, as allow_best_effort says`,
    wouldChange: "better or more clusters, a higher PLANNER_MAX_REPLICAS, or a lower target",
  };
}

function odgmDecision({ odgm, placement }: PlannedDeployment): Decision | undefined {
  if (odgm === undefined) return undefined;
  const nodes = Object.values(odgm.nodeIds).flat().length;
  const { collections, partitionCount, replicaCount, shardType } = odgm;
  return {
    rule: "data grid: a node in each cluster, more where replicas outnumber clusters; partitions to nodes by turns",
    inputs: {
      clusters: placement.chosen.length,
      replicas: replicaCount,
      shard_type: shardType ?? "chosen by each CRM",
    },
    outcome:
      `${pluralize(nodes, "node")}; ${pluralize(collections.length, "collection")} of ` +
      `${pluralize(partitionCount, "partition")} with ${pluralize(replicaCount, "copy", "copies")} each`,
    wouldChange: "odgm.partition_count, odgm.replica_count, odgm.env_node_ids",
  };
}

/** One decision for each function and each scale that it has somewhere. */
function scaleDecisions({ task, placement, units }: PlannedDeployment): Decision[] {
  const clustersOf = new Map<PlannedFunction, string[]>();
  for (const { cluster, functions } of units) {
    for (const scale of functions) {
      const clusters = clustersOf.get(scale);
      if (clusters === undefined) clustersOf.set(scale, [cluster]);
      else clusters.push(cluster);
    }
  }
  const targets = new Map(task.demands.map(({ subject, target }) => [subject, target]));
  return [...clustersOf].map(([scale, clusters]) => ({
    rule: `scale of ${scale.functionKey}: the largest of min_scale, availability and throughput`,
    inputs: {
      target: targets.get(scale.functionKey) ?? targets.get(CLASS_SUBJECT),
      planned: placement.counts.get(scale.functionKey) ?? placement.replicas,
    },
    outcome: `${scale.minScale} in ${clusters.length === units.length ? "every cluster" : clusters.join(", ")}: ${scale.reason}`,
    wouldChange: "its min_scale, nfr_requirements, or what its clusters measure",
  }));
}
