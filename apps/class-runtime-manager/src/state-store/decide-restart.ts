import type { NodeAnswer } from "./node-answer.ts";
import { isUsable, type RestartRecord } from "./restart-record.ts";
import { isOfRun, isRunning, type MemberPod, type StoreMember } from "./running-store.ts";
import {
  assignedNodes,
  copiesToKeep,
  partitionKey,
  partitionsOfNode,
  type AssignedPartition,
  type StoreLayout,
} from "./store-layout.ts";

/** Why a member has to restart. Earlier reasons come first. */
export type RestartReason = "ShardMissing" | "TemplateChanged" | "SettingsChanged";

/** The last reading of the members in this cluster. */
export interface StoreReading {
  /** The nodes that answered. */
  readonly answers: readonly NodeAnswer[];
  /** Partitions held in this cluster that did not acknowledge the last write. */
  readonly unwritable: readonly Pick<AssignedPartition, "collection" | "partition">[];
  /** Consecutive readings in which a node lacked a shard, by node id. */
  readonly missingReadings: ReadonlyMap<number, number>;
}

export interface RestartInput {
  readonly nowMs: number;
  /** `odgm_config.allow_restart`. */
  readonly allowRestart: boolean;
  /** Whether nodes are asked for their shards, and written to. */
  readonly isChecked: boolean;
  readonly layout: StoreLayout;
  /** The members in this cluster. */
  readonly members: readonly StoreMember[];
  /** Undefined before the first reading. */
  readonly reading: StoreReading | undefined;
  /** When the settings that nodes read at start changed last; undefined while that is unknown. */
  readonly settingsChangedAtMs: number | undefined;
  readonly record: RestartRecord;
}

interface Explained {
  readonly reason: RestartReason;
  /** With the fix. */
  readonly message: string;
  /** Nodes that still have to restart. */
  readonly nodes: readonly number[];
}

export type RestartDecision =
  | { readonly kind: "none" }
  /** Settings wait for the next restart. */
  | ({ readonly kind: "pending" } & Explained)
  /** A restart would lose objects. */
  | ({ readonly kind: "refuse" } & Explained)
  /** The package manager has to grant a turn first, since other clusters have members too. */
  | ({ readonly kind: "wait-for-turn" } & Explained)
  /** A restart is due, but another member is not back. */
  | ({ readonly kind: "wait" } & Explained)
  | ({ readonly kind: "restart"; readonly nodeId: number; readonly pod: MemberPod } & Explained);

/** Readings without a shard before its node restarts. */
const MISSING_READINGS = 2;
/** Time that a node gets to create its shards; doubled with each restart. */
const SHARD_GRACE_MS = 30_000;
/** Restarts of one node for missing shards. */
export const MAX_SHARD_RESTARTS = 5;
/** Time that a restarted member gets to come back before an allowed restart goes on without it. */
const COME_BACK_MS = 600_000;

const STATE_COPY = "to keep the objects, copy them with oaas state copy first";

/**
 * Decides which member of a state store restarts next, if any.
 *
 * *Guarantees*: at most one member at a time; without `allowRestart`, every partition keeps the copies that its
 * acknowledged objects need; a store with members in other clusters restarts only the pod that its turn names; a node
 * restarts for missing shards a limited number of times, with growing distance. Total: every input has a decision.
 */
export function decideRestart(input: RestartInput): RestartDecision {
  const stopped = input.members.find(isStoppedAndOutdated);
  if (stopped !== undefined) return replaceStopped(stopped);
  const needs = restartNeeds(input);
  const missing = needs.filter(({ reason }) => reason === "ShardMissing");
  if (missing.length === 0) return decideRollout(needs, input);
  const decision = decideShardRestart(missing, input);
  // A new template may be the fix of a node that does not create its shards.
  const rollout =
    decision.kind === "refuse" && input.allowRestart ? decideRollout(rolloutNeeds(input), input) : decision;
  return rollout.kind === "none" ? decision : rollout;
}

type StoppedMember = StoreMember & { readonly pod: MemberPod };

/** A pod whose container does not run has no objects to lose, and no update would replace it otherwise. */
function isStoppedAndOutdated(member: StoreMember): member is StoppedMember {
  const { pod } = member;
  return pod !== undefined && !pod.isTerminating && pod.isStopped && pod.isOutdated;
}

function replaceStopped({ nodeId, pod }: StoppedMember): RestartDecision {
  const message = `Replaces node ${nodeId}, which does not run: ${PURPOSE.TemplateChanged}.`;
  return { kind: "restart", nodeId, pod, reason: "TemplateChanged", message, nodes: [nodeId] };
}

interface Need {
  readonly member: StoreMember & { readonly pod: MemberPod };
  readonly reason: RestartReason;
}

/** The members that have to restart, by reason and node id. */
function restartNeeds(input: RestartInput): readonly Need[] {
  const missing = input.members
    .filter(isRunning)
    .filter(({ nodeId }) => (input.reading?.missingReadings.get(nodeId) ?? 0) >= MISSING_READINGS)
    .map((member): Need => ({ member, reason: "ShardMissing" }));
  const listed = new Set(missing.map(({ member }) => member.nodeId));
  return [...missing, ...rolloutNeeds(input).filter(({ member }) => !listed.has(member.nodeId))];
}

function rolloutNeeds({ members, settingsChangedAtMs }: RestartInput): readonly Need[] {
  const running = members.filter(isRunning);
  const outdated = running.filter(({ pod }) => pod.isOutdated);
  // Nodes of other workloads have their settings in the pod template.
  const earlier = running.filter(
    ({ pod, workload }) =>
      !pod.isOutdated &&
      workload.isManaged &&
      settingsChangedAtMs !== undefined &&
      // Kubernetes drops fractions of seconds: a node that started in the second of the change may not have it.
      (pod.startedAtMs ?? 0) < settingsChangedAtMs,
  );
  return [
    ...outdated.map((member): Need => ({ member, reason: "TemplateChanged" })),
    ...earlier.map((member): Need => ({ member, reason: "SettingsChanged" })),
  ];
}

/** A new template, or settings that may be applied: needs a store that is complete before and after. */
function decideRollout(needs: readonly Need[], input: RestartInput): RestartDecision {
  const reason = needs[0]?.reason;
  if (reason === undefined) return { kind: "none" };
  const due = needs.filter((need) => need.reason === reason);
  const nodes = needs.map(({ member }) => member.nodeId);
  if (reason === "SettingsChanged" && !input.allowRestart) {
    const message =
      "Changed routes, log filter or peers apply when the nodes restart the next time. Set odgm.allow_restart to restart them now.";
    return { kind: "pending", reason, message, nodes };
  }
  if (!input.isChecked && !input.allowRestart) {
    const message =
      "Whether all objects are kept is not known, since the class runtime manager runs with OPRC_CRM_ODGM_HEALTH=false. Set odgm.allow_restart to restart anyway.";
    return { kind: "refuse", reason, message, nodes };
  }
  const [loss] = input.allowRestart ? [] : due.flatMap(({ member }) => lossesOf(member, input.layout));
  if (loss !== undefined) {
    const message = `${loss} Set odgm.allow_restart to restart anyway; ${STATE_COPY}.`;
    return { kind: "refuse", reason, message, nodes };
  }
  const waitsFor = incompleteness(input);
  if (waitsFor !== undefined && !mayGoOnIncomplete(input))
    return { kind: "wait", reason, message: `Restarts one node after the other: ${waitsFor}.`, nodes };
  return restartInTurn(due, nodes, input);
}

/** An allowed restart also helps a store that does not come back by itself, but gives each member time. */
function mayGoOnIncomplete({ allowRestart, members, nowMs }: RestartInput): boolean {
  return (
    allowRestart && members.every((one) => isRunning(one) && nowMs - (one.pod.startedAtMs ?? nowMs) >= COME_BACK_MS)
  );
}

/** Why members of this cluster are not all back; undefined when they are. */
function incompleteness({ members, layout, reading, isChecked }: RestartInput): string | undefined {
  const absent = members.find((member) => !isRunning(member));
  if (absent !== undefined) return `node ${absent.nodeId} is not running`;
  const unready = members.find(({ pod }) => pod?.isReady !== true);
  if (!isChecked) return unready && `node ${unready.nodeId} is not ready`;
  if (reading === undefined) return "the nodes did not answer yet";
  for (const { nodeId, pod } of members) {
    const answer = answerOf(nodeId, pod, reading);
    if (answer === undefined) return `node ${nodeId} did not answer since it started`;
    const missing = partitionsOfNode(layout, nodeId).find((partition) => !holds(answer, partition));
    if (missing !== undefined) return `node ${nodeId} lacks partition ${missing.partition} of ${missing.collection}`;
    const { behind } = answer;
    if (behind !== undefined)
      return `node ${nodeId} still catches up with partition ${behind.partition} of ${behind.collection}`;
  }
  const [silent] = reading.unwritable;
  return silent && `partition ${silent.partition} of ${silent.collection} does not acknowledge writes`;
}

/** What would be lost however healthy the store is. */
function lossesOf({ nodeId }: StoreMember, layout: StoreLayout): string[] {
  return partitionsOfNode(layout, nodeId).flatMap((partition) => {
    const { collection, nodes, shardType } = partition;
    const left = nodes.filter((id) => id !== nodeId).length;
    if (left >= copiesToKeep(partition)) return [];
    if (shardType !== "raft") return [`A restart of node ${nodeId} loses the only copy of objects of ${collection}.`];
    return [
      nodes.length === 1
        ? `A restart of node ${nodeId} loses all objects of ${collection}, which has one copy in memory.`
        : `A restart of node ${nodeId} leaves ${left} of ${nodes.length} copies of ${collection}, fewer than a quorum.`,
    ];
  });
}

function decideShardRestart(due: readonly Need[], input: RestartInput): RestartDecision {
  const reason = "ShardMissing" as const;
  const nodes = due.map(({ member }) => member.nodeId);
  const absent = input.members.find((member) => !isRunning(member));
  if (absent !== undefined) {
    const message = `Restarts nodes that lack shards one after the other: node ${absent.nodeId} is not running.`;
    return { kind: "wait", reason, message, nodes };
  }
  const refusals = due.map(({ member }) => shardRestartRefusal(member, input));
  const possible = due.filter((_, index) => refusals[index] === undefined);
  const ready = possible.filter(({ member }) => hadTimeForShards(member, input));
  if (ready.length > 0) return restartInTurn(ready, nodes, input);
  const [waiting] = possible;
  if (waiting === undefined) return { kind: "refuse", reason, message: refusals[0] ?? "", nodes };
  const message = `Node ${waiting.member.nodeId} lacks a shard and gets time to create it.`;
  return { kind: "wait", reason, message, nodes };
}

function attemptsOf({ nodeId }: StoreMember, { record }: RestartInput): number {
  return record.attempts[String(nodeId)] ?? 0;
}

function hadTimeForShards(member: Need["member"], input: RestartInput): boolean {
  const ageMs = input.nowMs - (member.pod.startedAtMs ?? input.nowMs);
  return ageMs >= SHARD_GRACE_MS * 2 ** attemptsOf(member, input);
}

/** Why a node that lacks a shard must not restart now, with the fix. */
function shardRestartRefusal(member: StoreMember, input: RestartInput): string | undefined {
  const attempts = attemptsOf(member, input);
  if (attempts >= MAX_SHARD_RESTARTS)
    return `Node ${member.nodeId} still lacks a shard after ${attempts} restarts: read its log.`;
  const loss = input.allowRestart ? undefined : shardRestartLoss(member, input);
  return loss && `${loss} Set odgm.allow_restart to restart it anyway; ${STATE_COPY}.`;
}

/** What a restart of a node loses that lacks some of its shards, as the store is now. */
function shardRestartLoss(member: StoreMember, input: RestartInput): string | undefined {
  const { layout, members, reading } = input;
  const here = new Map(members.map(({ nodeId, pod }) => [nodeId, reading && answerOf(nodeId, pod, reading)]));
  const unwritable = new Set(reading?.unwritable.map(partitionKey));
  for (const partition of partitionsOfNode(layout, member.nodeId)) {
    const own = here.get(member.nodeId);
    if (own === undefined) return `Node ${member.nodeId} did not answer.`;
    if (!holds(own, partition)) continue;
    // The turn of the package manager says that the members of other clusters have their shards.
    const holders = partition.nodes.filter((id) => !here.has(id) || holds(here.get(id), partition));
    if (holders.length - 1 >= copiesToKeep(partition)) continue;
    const isEmpty = holders.every((id) => objectsOf(here.get(id), partition) === 0);
    if (isEmpty && unwritable.has(partitionKey(partition))) continue;
    return `Node ${member.nodeId} lacks a shard, but a restart would lose its copy of partition ${partition.partition} of ${partition.collection}, which too few other nodes have.`;
  }
  return undefined;
}

/** Restarts the first candidate; in a store with members in other clusters, the one that has the turn. */
function restartInTurn(candidates: readonly Need[], nodes: readonly number[], input: RestartInput): RestartDecision {
  const turn = usableTurn(input);
  const next = isShared(input)
    ? candidates.find(({ member }) => member.nodeId === turn?.nodeId && member.pod.uid === turn.podUid)
    : candidates[0];
  const reason = candidates[0]?.reason ?? "TemplateChanged";
  if (next === undefined) {
    const message = `Waits for a turn of the package manager, since other clusters have members too: ${PURPOSE[reason]}.`;
    return { kind: "wait-for-turn", reason, message, nodes: candidates.map(({ member }) => member.nodeId) };
  }
  const { nodeId, pod } = next.member;
  return { kind: "restart", nodeId, pod, reason, message: `Restarts node ${nodeId}: ${PURPOSE[reason]}.`, nodes };
}

const PURPOSE: Readonly<Record<RestartReason, string>> = {
  ShardMissing: "it lacks a shard that is assigned to it",
  TemplateChanged: "its settings changed",
  SettingsChanged: "it has earlier routes, log filter or peers",
};

/** Whether other clusters have members of this store. */
export function isShared({ layout, members }: Pick<RestartInput, "layout" | "members">): boolean {
  const here = new Set(members.map(({ nodeId }) => nodeId));
  return [...assignedNodes(layout)].some((id) => !here.has(id));
}

/** The turn, unless it expired. */
function usableTurn({ record, nowMs }: RestartInput): RestartRecord["turn"] {
  return record.turn !== undefined && isUsable(record.turn, nowMs) ? record.turn : undefined;
}

function answerOf(nodeId: number, pod: MemberPod | undefined, { answers }: StoreReading): NodeAnswer | undefined {
  return answers.find((answer) => answer.nodeId === nodeId && isOfRun(answer, pod));
}

/** Whether a node has its shard of a partition. */
export function holds(
  answer: NodeAnswer | undefined,
  { collection, partition }: Pick<AssignedPartition, "collection" | "partition">,
): boolean {
  return answer?.shards.some((shard) => shard.collection === collection && shard.partition === partition) === true;
}

function objectsOf(answer: NodeAnswer | undefined, { collection, partition }: AssignedPartition): number {
  // A node of another cluster may have any number of objects.
  if (answer === undefined) return Number.POSITIVE_INFINITY;
  const shards = answer.shards.filter((shard) => shard.collection === collection && shard.partition === partition);
  return Math.max(0, ...shards.map(({ objects }) => objects));
}

const TURN_KEEPING: ReadonlySet<RestartDecision["kind"]> = new Set(["restart", "wait", "wait-for-turn"]);

/** The record for the next decision: without used or expired turns, and without attempts of nodes that are complete. */
export function nextRecord(input: RestartInput, decision: RestartDecision): RestartRecord {
  const { members, layout, reading, record } = input;
  const isComplete = ({ nodeId, pod }: StoreMember): boolean => {
    const answer = reading && answerOf(nodeId, pod, reading);
    return answer !== undefined && partitionsOfNode(layout, nodeId).every((partition) => holds(answer, partition));
  };
  const complete = new Set(members.filter(isComplete).map(({ nodeId }) => String(nodeId)));
  const attempts = Object.fromEntries(Object.entries(record.attempts).filter(([id]) => !complete.has(id)));
  const turn = TURN_KEEPING.has(decision.kind) ? usableTurn(input) : undefined;
  // It is used up before the pod is deleted: a pass that did not see that the turn was declined meets a conflict.
  const isUsedNow = decision.kind === "restart" && decision.nodeId === turn?.nodeId;
  const isThere = members.some(({ pod }) => pod?.uid === turn?.podUid && pod?.isTerminating === false);
  const isUsed = turn === undefined || isUsedNow || !isThere;
  const counted =
    decision.kind === "restart" && decision.reason === "ShardMissing"
      ? { ...attempts, [decision.nodeId]: (attempts[String(decision.nodeId)] ?? 0) + 1 }
      : attempts;
  const { declined } = record;
  return { ...(isUsed ? {} : { turn }), ...(declined === undefined ? {} : { declined }), attempts: counted };
}
