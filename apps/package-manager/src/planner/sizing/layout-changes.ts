import { equalJson, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { qualifyClassKey, ShardType, type ClassDefinition, type ClassDeployment, type OdgmSpec } from "@oaas/models";
import { formatShare, pluralize } from "../explanation/format.ts";
import type { Candidate, Candidates } from "../placement/candidates.ts";
import type { StatefulPlan } from "../placement/kept-placement.ts";
import { listText } from "../placement/networks.ts";
import { ownEntry, type DeploymentPlan, type PlanInput, type PlannedOdgm, type SharedSpec } from "../plan-types.ts";
import { meets } from "./quorum.ts";
import { allowsReplicaCount, CLASS_SUBJECT } from "./replicas.ts";
import { isReplicated, isSameType, isStrong, runningShardType } from "./state-layout.ts";

/** A statement of a deployment that the layout of its running state store does not meet. */
export interface RequiredChange {
  readonly path: string;
  readonly text: string;
  /** What keeps the layout. */
  readonly keep: string;
  /** It only adds copies, nodes or clusters. */
  readonly isGrowth: boolean;
}

interface LayoutRequest {
  readonly input: PlanInput;
  readonly definition: ClassDefinition;
  readonly candidates: Candidates;
  readonly target: number;
  /** The availability of the layout that runs, at the current readings. */
  readonly achieved: number;
}

/**
 * The statements that a running class with objects cannot meet as it is. What its deployment states already, and what
 * clusters report, requires no change: an update that leaves the layout alone is never refused because of it.
 */
export function requiredChanges(request: LayoutRequest, running: StatefulPlan): readonly RequiredChange[] {
  return [
    ...collectionChange(request, running),
    ...partitionChange(request, running),
    ...shardTypeChange(request, running),
    ...copyChange(request, running),
    ...availabilityChange(request, running),
    ...clusterChanges(request, running),
    ...nodeChanges(request, running),
  ];
}

/** Whether the user states something now that the deployment in force does not. */
function isStatedNow({ input }: LayoutRequest, read: (deployment: ClassDeployment) => unknown): boolean {
  const { deployment, running } = input;
  return running === undefined || !equalJson(read(deployment), read(running));
}

function odgmPath(field: string, ...more: string[]): string {
  return pathOf(ROOT_PATH, "odgm", field, ...more);
}

function collectionChange(request: LayoutRequest, { odgm }: StatefulPlan): RequiredChange[] {
  const stated = [...new Set(request.input.deployment.odgm?.collections)].toSorted();
  if (stated.length === 0 || equalJson(stated, odgm.collections.toSorted())) return [];
  if (!isStatedNow(request, (deployment) => deployment.odgm?.collections.toSorted())) return [];
  const kept = listText(odgm.collections);
  return [
    {
      path: odgmPath("collections"),
      text: `the running class stores objects in ${kept}, not in ${listText(stated)}`,
      keep: `remove collections or set it to ${kept}`,
      isGrowth: false,
    },
  ];
}

function partitionChange({ input }: LayoutRequest, { odgm }: StatefulPlan): RequiredChange[] {
  const stated = input.deployment.odgm?.partitionCount;
  if (stated === undefined || stated === odgm.partitionCount) return [];
  return [
    {
      path: odgmPath("partition_count"),
      text: `the running class has ${pluralize(odgm.partitionCount, "partition")}, not ${stated}`,
      keep: `remove partition_count or set it to ${odgm.partitionCount}`,
      isGrowth: false,
    },
  ];
}

function shardTypeChange(request: LayoutRequest, running: StatefulPlan): RequiredChange[] {
  const { definition, input } = request;
  const type = runningShardType(running);
  const stated = input.deployment.odgm?.shardType;
  const path = odgmPath("shard_type");
  if (stated !== undefined && !isSameType(stated, type)) {
    const text = `the running class has the shard type ${type}, not ${stated}`;
    return [{ path, text, keep: `remove shard_type or set it to ${type}`, isGrowth: false }];
  }
  const { replicaCount } = running.odgm;
  const demand = { subject: CLASS_SUBJECT, target: 0, strong: true, atLeast: 1 };
  if (!isStrong(definition) || (type === ShardType.raft && allowsReplicaCount(demand, replicaCount))) return [];
  return [
    {
      path,
      text:
        `class ${definition.key} requires STRONG consistency, and the running class stores ` +
        `${pluralize(replicaCount, "copy", "copies")} of type ${type}`,
      keep: "keep the consistency_model of the class",
      isGrowth: false,
    },
  ];
}

function copyChange(request: LayoutRequest, { odgm: { replicaCount } }: StatefulPlan): RequiredChange[] {
  const { deployment, running } = request.input;
  const stated = deployment.odgm?.replicaCount;
  if (stated === undefined || stated === replicaCount) return [];
  if (!isStatedNow(request, ({ odgm }) => odgm?.replicaCount)) return [];
  // A deployment that is not known may have stated the minimum before.
  if (running === undefined && stated < replicaCount) return [];
  return [
    {
      path: odgmPath("replica_count"),
      text: `the running class has ${pluralize(replicaCount, "copy", "copies")} of each object, not ${stated}`,
      keep: `remove replica_count or set it to ${replicaCount}`,
      isGrowth: stated > replicaCount,
    },
  ];
}

/** A higher target that the running copies do not reach. */
function availabilityChange(request: LayoutRequest, { sizing, odgm }: StatefulPlan): RequiredChange[] {
  const { input, target, achieved } = request;
  const { deployment, whatIf } = input;
  const isRaised = (whatIf?.availability ?? deployment.nfr.availability) !== undefined && target > sizing.target;
  const isNew = whatIf?.availability !== undefined || isStatedNow(request, ({ nfr }) => nfr.availability);
  if (!isRaised || !isNew || meets(achieved, target) || deployment.allowBestEffort) return [];
  const copies = pluralize(odgm.replicaCount, "copy", "copies");
  return [
    {
      path: pathOf(ROOT_PATH, "nfr_requirements", "availability"),
      text: `${formatShare(target)} needs more than the ${copies} of the running class, which reach ${formatShare(achieved)}`,
      keep: `set availability to at most ${formatShare(Math.max(sizing.target, achieved))}, or set allow_best_effort: true`,
      isGrowth: true,
    },
  ];
}

function clusterChanges(request: LayoutRequest, running: StatefulPlan): RequiredChange[] {
  const { input, candidates } = request;
  const { deployment } = input;
  const members = Object.keys(running.odgm.nodeIds).toSorted();
  const known = new Map<string, Candidate>(candidates.all.map((candidate) => [candidate.cluster.name, candidate]));
  const missing = members.filter((name) => !known.has(name));
  const kept = listText(members);
  const changes: RequiredChange[] = [];
  if (missing.length > 0) {
    changes.push({
      path: pathOf(ROOT_PATH, "target_clusters"),
      text: `the running class has objects in ${listText(missing)}, which is not registered`,
      keep: `register ${listText(missing)} again`,
      isGrowth: false,
    });
  }
  const stated: readonly string[] = [...new Set(deployment.targetClusters)].toSorted();
  const isNamed = stated.length > 0;
  if (isNamed && !equalJson(stated, members) && isStatedNow(request, targetsOf)) {
    changes.push({
      path: pathOf(ROOT_PATH, "target_clusters"),
      text: `the running class has its objects in ${kept}, not in ${listText(stated)}`,
      keep: `set target_clusters to ${kept}`,
      isGrowth: members.every((name) => stated.includes(name)),
    });
  }
  const excluded = members.filter((name) => known.get(name)?.eligible === false);
  const isNarrowed =
    isStatedNow(request, ({ availableClusters }) => availableClusters.toSorted()) ||
    isStatedNow(request, ({ environmentKind }) => environmentKind);
  if (!isNamed && excluded.length > 0 && isNarrowed) {
    const reasons = excluded.map((name) => `${name} (${known.get(name)?.reasonsAgainst[0]?.text ?? "not allowed"})`);
    changes.push({
      path: pathOf(ROOT_PATH, deployment.availableClusters.length > 0 ? "available_envs" : "target_env"),
      text: `the running class has its objects in ${listText(reasons)}`,
      keep: `allow ${listText(excluded)}`,
      isGrowth: false,
    });
  }
  return changes;
}

function targetsOf({ targetClusters }: ClassDeployment): readonly string[] {
  return targetClusters.toSorted();
}

function nodeChanges(request: LayoutRequest, { odgm }: StatefulPlan): RequiredChange[] {
  const stated = request.input.deployment.odgm?.nodeIds;
  if (!isStatedNow(request, (deployment) => deployment.odgm?.nodeIds)) return [];
  return Object.entries(odgm.nodeIds).flatMap(([cluster, ids]) => {
    const fixed = [...new Set(ownEntry(stated, cluster))];
    if (fixed.length === 0 || equalJson(sorted(fixed), sorted(ids))) return [];
    return [
      {
        path: odgmPath("env_node_ids", cluster),
        text: `the nodes of the running class in ${cluster} are ${listText(ids.map(String))}, not ${listText(fixed.map(String))}`,
        keep: `remove env_node_ids of ${cluster} or set it to ${listText(ids.map(String))}`,
        isGrowth: ids.every((id) => fixed.includes(id)),
      },
    ];
  });
}

/** What a user has to do to change the layout of a running class. */
export const CHANGE_LAYOUT =
  "copy its objects with `oaas state copy` and set odgm.allow_layout_change to true to start with an empty store";

/** The violations of changes that would lose objects. */
export function changeViolations(changes: readonly RequiredChange[]): readonly Violation[] {
  return changes.map(({ path, text, keep }) => ({
    path,
    message: `${text}; nodes, copies and partitions of a state store are fixed while it runs, and a change loses its objects`,
    fix: `${keep}, or ${CHANGE_LAYOUT}`,
  }));
}

/** Rejects the removal of the state store of a running deployment unless `odgm.allow_layout_change` is set. */
export function removalViolations(odgm: OdgmSpec | undefined): Violation[] {
  if (odgm?.allowLayoutChange === true) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm"),
      message: "the running class has a state store, which would be removed with its objects",
      fix: "keep the class's state_spec and odgm among the addons, or copy its objects with `oaas state copy`, and set addons without odgm and odgm.allow_layout_change to true",
    },
  ];
}

/** The differences of two layouts that lose objects, in words; empty if all of them stay. */
export function layoutDifferences(before: StatePart, after: StatePart): readonly string[] {
  const [old, now] = [before.odgm, after.odgm];
  if (old === undefined) return [];
  if (now === undefined) return ["the state store is removed"];
  const [oldType, type] = [runningShardType(before), runningShardType(after)];
  if (oldType === ShardType.mst && type === ShardType.mst && hasGrown(old, now)) return [];
  const differences: readonly (string | undefined)[] = [
    equalJson(old.collections.toSorted(), now.collections.toSorted())
      ? undefined
      : `the collections change from ${listText(old.collections)} to ${listText(now.collections)}`,
    changed("the partitions change", old.partitionCount, now.partitionCount),
    isSameType(oldType, type) ? undefined : `the shard type changes from ${oldType} to ${type}`,
    changed("the copies change", old.replicaCount, now.replicaCount),
    equalJson(clustersOf(old), clustersOf(now))
      ? undefined
      : `the clusters change from ${listText(clustersOf(old))} to ${listText(clustersOf(now))}`,
    equalJson(membersOf(old), membersOf(now)) || !equalJson(clustersOf(old), clustersOf(now))
      ? undefined
      : "the nodes change",
  ];
  const texts = differences.filter((text) => text !== undefined);
  return texts.length > 0 || equalJson(old.assignments, now.assignments) ? texts : ["partitions move to other nodes"];
}

function changed(text: string, before: number, after: number): string | undefined {
  return before === after ? undefined : `${text} from ${before} to ${after}`;
}

function clustersOf({ nodeIds }: PlannedOdgm): readonly string[] {
  return Object.keys(nodeIds).toSorted();
}

function membersOf({ nodeIds }: PlannedOdgm): readonly number[] {
  return sorted(Object.values(nodeIds).flat());
}

function sorted(ids: readonly number[]): readonly number[] {
  return ids.toSorted((a, b) => a - b);
}

/** Whether every copy stays where it is, and others are added. */
function hasGrown(before: PlannedOdgm, after: PlannedOdgm): boolean {
  const hasSameObjects =
    equalJson(before.collections.toSorted(), after.collections.toSorted()) &&
    before.partitionCount === after.partitionCount;
  return (
    hasSameObjects &&
    membersOf(before).every((id) => membersOf(after).includes(id)) &&
    Object.entries(before.assignments).every(([name, partitions]) =>
      partitions.every(({ replica }, index) =>
        replica.every((id) => ownEntry(after.assignments, name)?.[index]?.replica.includes(id) === true),
      ),
    )
  );
}

/** Whether two state stores have the same objects, nodes and copies. */
export function hasSameLayout(one: PlannedOdgm, other: PlannedOdgm): boolean {
  return hasGrown(one, other) && hasGrown(other, one) && one.replicaCount === other.replicaCount;
}

/** The part of a plan that describes its state store. */
type StatePart = { readonly shared: DeploymentPlan["shared"]; readonly odgm?: PlannedOdgm | undefined };

/** The objects that a plan loses, in one sentence; undefined if it loses none. */
export function stateLossOf(
  before: StatePart | undefined,
  after: StatePart,
  odgm: OdgmSpec | undefined,
): string | undefined {
  if (before?.odgm === undefined) return undefined;
  const subject = `all objects of ${qualifyClassKey(before.shared.packageName, before.shared.classKey)}`;
  const differences = layoutDifferences(before, after);
  if (differences.length > 0) {
    return `This plan loses ${subject}, because ${differences.join(" and ")}: copy them first with \`oaas state copy\`.`;
  }
  if (odgm?.allowRestart !== true || after.odgm === undefined || !isLostByRestart(after.odgm, after)) return undefined;
  return (
    `This plan loses ${subject} when the state store restarts, because odgm.allow_restart is set and they have one copy ` +
    "in memory: copy them first with `oaas state copy`."
  );
}

function isLostByRestart({ replicaCount }: PlannedOdgm, plan: StatePart): boolean {
  const isInMemory = !isPersistent(plan.shared);
  return isInMemory && (replicaCount === 1 || !isReplicated(runningShardType(plan)));
}

function isPersistent({ state }: SharedSpec): boolean {
  return state?.persistent === true;
}
