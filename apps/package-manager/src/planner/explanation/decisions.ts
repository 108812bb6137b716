import { qualifyClassKey, type ClassDefinition, type PlannedAvailability, type PlanPrice } from "@oaas/models";
import { priceText } from "../price/plan-price.ts";
import { compareNames, type Candidates } from "../placement/candidates.ts";
import { CONNECT_FIX, listText, networkOf, unconnectedText } from "../placement/networks.ts";
import type { ClassPlacement } from "../placement/state-placement.ts";
import {
  availabilitiesOf,
  functionReplicas,
  sizingRules,
  type Placement,
  type PlacementTask,
} from "../placement/placement.ts";
import type {
  Decision,
  NamespaceOrigin,
  PlannerAlgorithm,
  PlannedOdgm,
  PlannedUnit,
  UsedCollection,
} from "../plan-types.ts";
import { copySetsOf, worstBound } from "../sizing/object-copies.ts";
import { HIGHEST_TARGET, meets } from "../sizing/quorum.ts";
import { allowsReplicaCount, CLASS_SUBJECT, sizeReplicas, type Demand } from "../sizing/replicas.ts";
import type { RequestedFunction } from "../sizing/functions.ts";
import { CHANGE_LAYOUT } from "../sizing/layout-changes.ts";
import type { ZeroRule } from "../sizing/zero-scale.ts";
import { pluralize, truncateShare, formatShare } from "./format.ts";
import { failuresText, missedText } from "./planned-availability.ts";

/** The parts of a plan that its decisions describe. */
interface PlannedDeployment {
  readonly task: PlacementTask;
  readonly placement: Placement;
  readonly units: readonly PlannedUnit[];
  readonly availability: PlannedAvailability;
  readonly functions: readonly RequestedFunction[];
  /** Of functions that state `min_scale: 0`, by function key. */
  readonly zero: ReadonlyMap<string, ZeroRule>;
  readonly price: PlanPrice;
  readonly odgm?: PlannedOdgm;
  /** Where a new class would be placed; absent if the running state store is not kept. */
  readonly fresh: ClassPlacement | undefined;
  readonly definition: ClassDefinition;
  /** Collections of other deployments in the network of the plan. */
  readonly used: readonly UsedCollection[];
  readonly stateLoss: string | undefined;
}

/** The decisions of a plan in order, each with its rule, inputs and what would change it. */
export function decisionsOf(planned: PlannedDeployment): readonly Decision[] {
  const decisions = [
    targetDecision(planned),
    selectionDecision(planned),
    namespaceDecision(planned),
    replicaDecision(planned),
    ...clusterFailureDecisions(planned),
    lowerAvailabilityDecision(planned),
    keptDecision(planned),
    bestEffortDecision(planned),
    odgmDecision(planned),
    layoutDecision(planned),
    networkDecision(planned),
    collectionDecision(planned),
    sharedObjectsDecision(planned),
    ...triggerDecisions(planned),
    priceDecision(planned),
    ...scaleDecisions(planned),
    ...coldStartDecisions(planned),
  ];
  return decisions.filter((decision) => decision !== undefined);
}

function targetDecision({ task: { input, basis } }: PlannedDeployment): Decision {
  const { deployment, settings, whatIf } = input;
  const stated = deployment.nfr.availability;
  return {
    rule: "target availability: what_if, else nfr_requirements, else the default",
    inputs: {
      ...(whatIf?.availability === undefined ? {} : { assumed: whatIf.availability }),
      ...(stated === undefined ? {} : { stated }),
      default: settings.defaultAvailability,
    },
    outcome:
      basis.target > HIGHEST_TARGET
        ? `${formatShare(HIGHEST_TARGET)}, the highest supported target`
        : formatShare(basis.target),
    wouldChange: "nfr_requirements.availability",
  };
}

const SELECTION_RULES = {
  named: "clusters: all of target_clusters",
  environment: "clusters: the most available with the label of target_env",
  any: "clusters: the most available of all allowed clusters",
} as const satisfies Record<Candidates["mode"], string>;

const SELECTION_CHANGES = {
  named: "target_clusters",
  environment: "target_clusters, target_env, or new health readings",
  any: "target_clusters, available_envs, or new health readings",
} as const satisfies Record<Candidates["mode"], string>;

function selectionDecision({ task, placement, units }: PlannedDeployment): Decision {
  const { mode, all } = task.candidates;
  return {
    rule: SELECTION_RULES[mode],
    inputs: {
      known: all.length,
      eligible: all.filter(({ eligible }) => eligible).length,
      usable: all.filter(({ usable }) => usable).length,
      excluded: placement.sizing.excluded,
    },
    outcome: units.map(({ cluster }) => cluster).join(", "),
    wouldChange: SELECTION_CHANGES[mode],
  };
}

/** Absent where every manager decides and does not report the namespace. */
function namespaceDecision({ task: { input }, units }: PlannedDeployment): Decision | undefined {
  if (units.every(({ namespace }) => namespace === undefined)) return undefined;
  const { deployment, package: from } = input;
  const clustersIn = Map.groupBy(units, ({ namespace = "chosen by the manager", namespaceOrigin: origin }) =>
    origin === undefined ? namespace : `${namespace} (${NAMESPACE_ORIGINS[origin]})`,
  );
  return {
    rule: "namespace: of the deployment, else of the package, else the default of the cluster, else of its manager; an existing unit stays where it is",
    inputs: {
      ...(deployment.namespace === undefined ? {} : { deployment: deployment.namespace }),
      ...(from.namespace === undefined ? {} : { package: from.namespace }),
    },
    outcome: [...clustersIn]
      .map(([text, those]) => `${text} in ${those.map(({ cluster }) => cluster).join(", ")}`)
      .join("; "),
    wouldChange:
      input.previous === undefined
        ? "namespace of the deployment or the package, default_namespace of the cluster"
        : "a deployment under another key",
  };
}

const NAMESPACE_ORIGINS = {
  deployment: "of the deployment",
  package: "of the package",
  running: "where it runs",
  cluster: "default of the cluster",
  manager: "default of the manager",
} as const satisfies Record<NamespaceOrigin, string>;

const TOGETHER = {
  quorum: "a majority is up for the target, placed round robin, worst cluster first",
  independent: "any one is up for the target, placed round robin, worst cluster first",
  domains: "enough are up for the target when clusters, zones and nodes fail as a whole",
} as const satisfies Record<PlannerAlgorithm, string>;

function replicaDecision({ task, placement }: PlannedDeployment): Decision {
  const { settings } = task.input;
  const { strong, atLeast, algorithm, target } = task.basis;
  const together = TOGETHER[algorithm];
  const limits = [
    ...(strong ? ["2f+1 with f = max(1, n/2 rounded down) for STRONG"] : []),
    ...(atLeast > 1 ? [`at least ${atLeast} (${minimumText(task, atLeast)})`] : []),
  ];
  return {
    rule: `replicas: the smallest count of which ${together}` + (limits.length === 0 ? "" : `; ${limits.join("; ")}`),
    inputs: {
      target,
      availabilities: placement.sizing.worstFirst,
      cap: settings.maxReplicas,
      consistency: strong ? "STRONG" : "any",
    },
    outcome:
      `${pluralize(placement.replicas, "replica")} with a planned availability of ${formatShare(placement.achieved)}, ` +
      (algorithm === "domains" ? "by failure domains" : "if replicas fail independently"),
    ...(algorithm === "domains"
      ? { wouldChange: "a lower target, or clusters in more zones" }
      : suggestFewer(task, placement)),
  };
}

function minimumText({ input }: PlacementTask, atLeast: number): string {
  return input.deployment.odgm?.replicaCount === atLeast ? "odgm.replica_count" : "objects are copied to several nodes";
}

/** The changes that are each sufficient for fewer replicas, verified by sizing; if none is, all of them together. */
function suggestFewer(task: PlacementTask, { sizing, replicas, kept }: Placement): { readonly wouldChange?: string } {
  // A kept placement does not follow from this rule; the hysteresis decision explains it.
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
  if (count < replicas)
    return {
      wouldChange: `a target of at most ${formatShare(target)}, which ${pluralize(count, "replica")} would meet`,
    };

  const rules = [
    { text: "a weaker consistency", limits: demand.strong, without: { ...demand, strong: false } },
    { text: "a lower odgm.replica_count", limits: demand.atLeast > 1, without: { ...demand, atLeast: 1 } },
  ].filter(({ limits }) => limits);
  const sufficient = rules.filter(({ without }) => replicasFor(without) < replicas).map(({ text }) => text);
  if (sufficient.length > 0) return { wouldChange: sufficient.join(", or ") };
  return { wouldChange: ["a lower target", ...rules.map(({ text }) => text)].join(" together with ") };
}

/** The bound that the clusters set on the class, and on each function with a target of its own that misses it. */
function clusterFailureDecisions({ task, placement, availability }: PlannedDeployment): Decision[] {
  const ofClass: Decision = {
    rule: `${availability.warning === undefined ? "" : "warning: "}cluster failures: all replicas of one cluster fail together with it`,
    inputs: { target: availability.target, replicas: availability.replicas },
    outcome: `at most ${formatShare(availability.clusterBound)}: ${availability.message}`,
    wouldChange: "replicas in more clusters",
  };
  const byDomains = domainDecision(availability);
  const ofFunctions = task.demands.flatMap(({ subject, target }): Decision[] => {
    if (subject === CLASS_SUBJECT) return [];
    const replicas = placement.counts.get(subject) ?? 0;
    const sets = copySetsOf(functionReplicas(task, placement, replicas), undefined, task.basis.algorithm);
    const bound = worstBound(sets);
    if (meets(bound, target)) return [];
    return [
      {
        rule: `warning: cluster failures: all replicas of ${subject} in one cluster fail together with it`,
        inputs: { target, replicas },
        outcome: missedText(target, bound, failuresText(sets)),
        wouldChange: "replicas in more clusters",
      },
    ];
  });
  return [ofClass, ...byDomains, ...ofFunctions];
}

/** The availability by failure domains, if zones or nodes add something to the failures of whole clusters. */
function domainDecision({
  domainAvailability = 1,
  clusterBound,
  limitingDomain,
  target,
}: PlannedAvailability): Decision[] {
  if (domainAvailability >= clusterBound) return [];
  return [
    {
      rule: "failure domains: a replica is up when its cluster, its zone and its node are up",
      inputs: { target, ...(limitingDomain === undefined ? {} : { limiting: limitingDomain }) },
      outcome: formatShare(domainAvailability),
      wouldChange: "replicas in more zones",
    },
  ];
}

/** An even count is less available than the odd count below it; report that. */
function lowerAvailabilityDecision({ placement, fresh }: PlannedDeployment): Decision | undefined {
  // The state store of a running class keeps its copies.
  if (fresh !== undefined) return undefined;
  const { sizing, replicas, achieved } = placement;
  const stronger = sizing.curve.slice(0, replicas - 1).findIndex((availability) => availability > achieved);
  const availability = sizing.curve[stronger];
  if (availability === undefined) return undefined;
  return {
    rule: "warning: a smaller count would be more available",
    inputs: { replicas, achieved: truncateShare(achieved, 9) },
    outcome: `${pluralize(stronger + 1, "replica")} would reach ${formatShare(availability)}`,
    wouldChange: "a lower odgm.replica_count, or a weaker consistency",
  };
}

function keptDecision({ task, placement, fresh }: PlannedDeployment): Decision | undefined {
  if (placement.kept === undefined || fresh !== undefined) return undefined;
  return {
    rule: "hysteresis: the running placement changes only for a gain above the margin",
    inputs: { margin: task.input.settings.hysteresisMargin, running: placement.replicas },
    outcome: `kept, because ${placement.kept}`,
    wouldChange: "a larger gain, another target, or a cluster that becomes unusable",
  };
}

function bestEffortDecision({ placement, task }: PlannedDeployment): Decision | undefined {
  if (!placement.bestEffort) return undefined;
  return {
    rule: "best effort: the closest result, because the target is out of reach",
    inputs: { target: task.basis.target, achieved: truncateShare(placement.achieved, 9) },
    outcome: `accepted ${formatShare(placement.achieved)}, because allow_best_effort is set`,
    wouldChange: "better or more clusters, a higher PLANNER_MAX_REPLICAS, or a lower target",
  };
}

function odgmDecision({ odgm, placement, task }: PlannedDeployment): Decision | undefined {
  if (odgm === undefined) return undefined;
  const nodes = Object.values(odgm.nodeIds).flat().length;
  const { collections, partitionCount, replicaCount, shardType } = odgm;
  return {
    rule: "data grid: one node per cluster, more if replicas outnumber clusters; partitions assigned round robin",
    inputs: {
      clusters: placement.chosen.length,
      replicas: replicaCount,
      shard_type: shardType ?? "chosen by each class runtime manager",
      ...(task.input.previous?.odgm === undefined
        ? {}
        : { running_partitions: task.input.previous.odgm.partitionCount }),
    },
    outcome:
      `${pluralize(nodes, "node")}; ${pluralize(collections.length, "collection")} of ` +
      `${pluralize(partitionCount, "partition")} with ${pluralize(replicaCount, "copy", "copies")} each`,
    wouldChange:
      task.input.previous?.odgm === undefined
        ? "odgm.replica_count, odgm.env_node_ids, odgm.partition_count"
        : "odgm.replica_count, odgm.env_node_ids or odgm.partition_count, with odgm.allow_layout_change",
  };
}

/** Where copies are when clusters are in several networks. */
function networkDecision({ task, odgm }: PlannedDeployment): Decision | undefined {
  if (odgm === undefined) return undefined;
  const all = task.input.clusters.toSorted((a, b) => compareNames(a.name, b.name));
  const members = all.filter(({ name }) => Object.hasOwn(odgm.nodeIds, name));
  const apart = [...Map.groupBy(members, networkOf).values()].flatMap(([first]) => (first ? [first.name] : []));
  if (apart.length > 1) {
    return {
      rule: "warning: data plane network: nodes of a state store reach each other only in one network",
      inputs: { clusters: members.map(({ name }) => name) },
      outcome: `${unconnectedText(apart)}: copies there do not replicate, and writes may never succeed`,
      wouldChange: `${CONNECT_FIX}; or ${CHANGE_LAYOUT}, with target_clusters of one network`,
    };
  }
  const others = all.filter((cluster) => members[0] !== undefined && networkOf(cluster) !== networkOf(members[0]));
  if (others.length === 0) return undefined;
  const [first] = members;
  return {
    rule: "data plane network: all copies of an object are in clusters of one network",
    inputs: { network: first?.reading?.dataPlaneNetwork ?? null, clusters: members.map(({ name }) => name) },
    outcome:
      `copies in ${listText(members.map(({ name }) => name))}; ` +
      unconnectedText([...members.slice(0, 1), ...others].map(({ name }) => name)),
    wouldChange: CONNECT_FIX,
  };
}

/** What a new class would get where a running one keeps its state store. */
function layoutDecision({ odgm, fresh, task, stateLoss }: PlannedDeployment): Decision | undefined {
  const running = task.input.previous?.odgm;
  if (odgm === undefined || running === undefined) return undefined;
  const { deployment, mayMoveState } = task.input;
  const inputs = { running_copies: running.replicaCount, copies: odgm.replicaCount };
  if (fresh !== undefined) {
    return {
      rule: "state: clusters, nodes and copies of a running class with objects are kept",
      inputs,
      outcome: `kept ${layoutText(odgm.replicaCount, Object.keys(odgm.nodeIds))}; ${freshText(fresh)}`,
      wouldChange: CHANGE_LAYOUT,
    };
  }
  const isPermitted = deployment.odgm?.allowLayoutChange === true || mayMoveState === true;
  if (stateLoss === undefined || isPermitted) return undefined;
  return {
    rule: "warning: the layout of a running class is kept",
    inputs,
    outcome: `an apply would be refused: ${stateLoss}`,
    wouldChange: CHANGE_LAYOUT,
  };
}

function layoutText(copies: number, clusters: readonly string[]): string {
  return `${pluralize(copies, "copy", "copies")} in ${listText(clusters.toSorted())}`;
}

function freshText(fresh: ClassPlacement): string {
  if (!fresh.ok) return "a new class would be refused, because its target is out of reach now";
  const names = fresh.value.chosen.map(({ cluster }) => cluster.name);
  return `a new class would get ${layoutText(fresh.value.replicas, names)}`;
}

/** Deployments that share their objects already: neither is broken, and both say so. */
function sharedObjectsDecision({ odgm, used }: PlannedDeployment): Decision | undefined {
  const shared = used.filter(({ collection }) => odgm?.collections.includes(collection) === true);
  if (shared.length === 0) return undefined;
  return {
    rule: "warning: shared objects: deployments in one data plane network that use one collection read and replace the same objects",
    inputs: { collections: [...new Set(shared.map(({ collection }) => collection))] },
    outcome: `shared with ${listText([...new Set(shared.map(({ deployment }) => deployment))])}`,
    wouldChange: `odgm.collections with another name; of a running class, ${CHANGE_LAYOUT}`,
  };
}

/** The second deployment of a class gets a collection of its own. */
function collectionDecision({ odgm, used, definition, task }: PlannedDeployment): Decision | undefined {
  const { input } = task;
  const name = qualifyClassKey(input.package.name, definition.key);
  const owner = used.find(({ collection }) => collection === name);
  const isRunning = input.previous?.odgm !== undefined;
  if (odgm === undefined || owner === undefined || isRunning || odgm.collections.includes(name)) return undefined;
  if ((input.deployment.odgm?.collections ?? []).length > 0) return undefined;
  return {
    rule: "collection: the name of the class, with the deployment key if another deployment uses it in the same network",
    inputs: { used_by: owner.deployment },
    outcome: odgm.collections.join(", "),
    wouldChange: "odgm.collections, before the class runs",
  };
}

/** The state store publishes no events for classes. */
function triggerDecisions({ odgm, definition }: PlannedDeployment): Decision[] {
  const triggered = definition.bindings.filter(({ triggerOnStateChange }) => triggerOnStateChange);
  if (odgm === undefined || triggered.length === 0) return [];
  return [
    {
      rule: "warning: triggers: trigger_on_state_change is not supported by this state store",
      inputs: { functions: triggered.map(({ name }) => name) },
      outcome: "a change of an object calls none of these functions",
      wouldChange: "remove trigger_on_state_change, and call the function from the one that changes the object",
    },
  ];
}

/** Only where a price is known. */
function priceDecision({ price }: PlannedDeployment): Decision | undefined {
  const outcome = priceText(price);
  if (outcome === undefined) return undefined;
  return {
    rule: "price: requests of all replicas for 730 hours; of equally available clusters the cheaper is chosen",
    inputs: Object.fromEntries(
      price.clusters.map(({ cluster, perMonth, currency }) => [
        cluster,
        perMonth === undefined ? "unknown" : `${perMonth} ${currency}`,
      ]),
    ),
    outcome,
    wouldChange: "fewer replicas, smaller requests, or cheaper clusters",
  };
}

/** One decision per function and distinct scale. */
function scaleDecisions({ task, placement, units, zero }: PlannedDeployment): Decision[] {
  const scales = units.flatMap(({ cluster, functions }) => functions.map((scale) => ({ cluster, scale })));
  const alike = Map.groupBy(scales, ({ scale: { functionKey, minScale, reason } }) =>
    JSON.stringify([functionKey, minScale, reason]),
  );
  const distinct = [...alike.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [[first.scale, group.map(({ cluster }) => cluster)] as const];
  });
  const targets = new Map(task.demands.map(({ subject, target }) => [subject, target]));
  return distinct.map(([scale, clusters]) => ({
    rule:
      `scale of ${scale.functionKey}: ${zero.has(scale.functionKey) ? ZERO_RULE : ""}` +
      "the largest of min_scale, availability and throughput",
    inputs: {
      target: targets.get(scale.functionKey) ?? targets.get(CLASS_SUBJECT),
      planned: placement.counts.get(scale.functionKey) ?? placement.replicas,
      ...zeroInputs(zero.get(scale.functionKey)),
    },
    outcome: `${scale.minScale} in ${clusters.length === units.length ? "every cluster" : clusters.join(", ")}: ${scale.reason}`,
    wouldChange: "min_scale, nfr_requirements, or new measurements",
  }));
}

const ZERO_RULE = "a min_scale of 0 unless a stated availability forbids it, else ";

function zeroInputs(rule: ZeroRule | undefined): Readonly<Record<string, unknown>> {
  if (rule === undefined) return {};
  const { stated, reach } = rule;
  return {
    min_scale: 0,
    ...(stated === undefined ? {} : { stated }),
    one_replica_per_cluster: truncateShare(reach, 9),
  };
}

/** A function that runs without replicas misses a required latency whenever a request has to start one. */
function coldStartDecisions({ functions, units }: PlannedDeployment): Decision[] {
  return functions.flatMap(({ spec: { functionKey, nfr } }): Decision[] => {
    const atZero = units.filter((unit) =>
      unit.functions.some(
        (scale) => scale.functionKey === functionKey && scale.basis === "user" && scale.minScale === 0,
      ),
    );
    if (nfr.maxLatencyMs === undefined || atZero.length === 0) return [];
    return [
      {
        rule: `warning: cold start of ${functionKey}: a request without a running replica waits until one is ready`,
        inputs: { max_latency_ms: nfr.maxLatencyMs, clusters: atZero.map(({ cluster }) => cluster) },
        outcome: `the first request after a pause is likely to miss the latency of ${nfr.maxLatencyMs} ms`,
        wouldChange: "min_scale of 1 or more",
      },
    ];
  });
}
