import {
  stateProblem,
  type ClusterName,
  type MissingShard,
  type RestartProgress,
  type StateStoreStatus,
  type StoreRestart,
  type UnitId,
} from "@oaas/models";
import { restartTurn, type RestartTurnRecord } from "../records/restart-turn.ts";

/** The part of a state store that runs in one cluster, or why it cannot be read. */
export interface StoreMember {
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly namespace?: string;
  readonly report: StateStoreStatus | { readonly unknown: string };
}

/** Everything that a turn depends on. */
export interface TurnFacts {
  /** The members in all clusters, sorted by cluster. */
  readonly members: readonly StoreMember[];
  /** Copies of each partition; absent when not known. */
  readonly copies?: number;
  /** Why no turn may begin; `allowsRepair`: except to restore a missing shard. */
  readonly hold?: { readonly text: string; readonly allowsRepair: boolean };
}

export interface NodeAddress {
  readonly cluster: ClusterName;
  readonly nodeId: number;
}

/** What to do about the restarts of one deployment. */
export type TurnDecision =
  | { readonly action: "none" }
  /** Store the turn of this node. */
  | { readonly action: "begin"; readonly node: NodeAddress }
  /** Call the class runtime manager: for the first time, again, or to learn that it does not use the turn any more. */
  | { readonly action: "grant" }
  /** Delete the turn: the node is back, or does not belong to the deployment any more. */
  | { readonly action: "end" }
  | { readonly action: "wait"; readonly message: string };

/** After this time without a restart the class runtime manager is asked whether the turn is still in progress. */
export const ASK_AGAIN_MS = 30_000;

/**
 * Decides about the restarts of a state store with members in several clusters.
 *
 * *Guarantees*
 * - A turn begins only while no other is open, every member can be read, and none is missing: restarting a node that lacks
 *   a shard is allowed when no other node lacks a shard that it has.
 * - A turn ends only after its class runtime manager has declined it, so that it does not use it any more, and when the next
 *   turn could begin: the node is back, and no member is missing.
 */
export function decideTurn(turn: RestartTurnRecord | undefined, facts: TurnFacts, nowMs: number): TurnDecision {
  return turn === undefined ? decideNext(facts) : decideOpen(turn, facts, nowMs);
}

function decideNext(facts: TurnFacts): TurnDecision {
  if (waitingNodes(facts.members).length === 0) return { action: "none" };
  const next = nextNode(facts, facts.hold);
  return "blocked" in next ? { action: "wait", message: next.blocked } : { action: "begin", node: next };
}

function decideOpen(turn: RestartTurnRecord, facts: TurnFacts, nowMs: number): TurnDecision {
  const { cluster, nodeId, answer } = turn;
  const member = facts.members.find((one) => one.cluster === cluster);
  if (member === undefined) return { action: "end" };
  const name = `node ${nodeId} in ${cluster}`;
  const { report } = member;
  if ("unknown" in report) {
    return { action: "wait", message: `${name} has its turn, and no other node restarts meanwhile: ${report.unknown}` };
  }
  if (answer === undefined) return { action: "grant" };
  const { restart } = report;
  if (restart !== undefined && isInProgress(restart, nodeId, answer.accepted)) {
    const isSilent = restart.state === "waiting-for-turn" && nowMs - answer.atMs >= ASK_AGAIN_MS;
    return isSilent ? { action: "grant" } : { action: "wait", message: `${name} restarts: ${restart.message}` };
  }
  const problem = problemOf(facts.members);
  // Another restart may repair what is left.
  if (problem !== undefined && "blocked" in nextNode(facts, undefined)) {
    return { action: "wait", message: `${name} has restarted; the next node waits: ${problem}` };
  }
  return { action: answer.accepted ? "grant" : "end" };
}

/** A node that waits although its turn was declined needs another turn. */
function isInProgress({ state, nodes }: StoreRestart, nodeId: number, wasAccepted: boolean): boolean {
  if (state === "restarting") return true;
  return state === "waiting-for-turn" && nodes.includes(nodeId) && wasAccepted;
}

/** The node whose turn is next, or why there is none. */
function nextNode(
  { members, copies }: Pick<TurnFacts, "members" | "copies">,
  hold: TurnFacts["hold"],
): NodeAddress | { readonly blocked: string } {
  const waiting = waitingNodes(members);
  const [first] = waiting;
  const problem = problemOf(members);
  if (problem !== undefined) {
    const repair = waiting.find((node) => mayRepair(members, copies, node));
    if (repair === undefined) return { blocked: problem };
    return hold === undefined || hold.allowsRepair ? repair : { blocked: hold.text };
  }
  if (hold !== undefined) return { blocked: hold.text };
  return first ?? { blocked: "no node waits" };
}

/** The nodes that wait for a turn, in the order in which they get one. */
export function waitingNodes(members: readonly StoreMember[]): readonly NodeAddress[] {
  return members.filter(isKnown).flatMap(({ cluster, report: { restart } }) => {
    if (restart?.state !== "waiting-for-turn") return [];
    return restart.nodes.map((nodeId) => ({ cluster, nodeId }));
  });
}

type KnownMember = StoreMember & { readonly report: StateStoreStatus };

function isKnown(member: StoreMember): member is KnownMember {
  return !("unknown" in member.report);
}

/** Why no node may restart; undefined when every member is there and writes are acknowledged. */
function problemOf(members: readonly StoreMember[]): string | undefined {
  for (const member of members) {
    const problem = problemOfMember(member);
    if (problem !== undefined) return `${member.cluster}: ${problem}`;
  }
  return undefined;
}

function problemOfMember({ report }: StoreMember): string | undefined {
  if ("unknown" in report) return report.unknown;
  if (report.restart?.state === "restarting") return `a node restarts: ${report.restart.message}`;
  const problem = stateProblem(report);
  if (problem !== undefined) return problem;
  const { readyReplicas, desiredReplicas } = report;
  if (readyReplicas < desiredReplicas) return `${readyReplicas} of ${desiredReplicas} nodes are ready`;
  return report.writable === undefined
    ? "it is not known whether the state can be written; set OPRC_CRM_ODGM_HEALTH=true"
    : undefined;
}

/**
 * Whether a restart of the node restores a shard and takes none that another node lacks: then missing shards, and the
 * partitions that lost their quorum by them, do not block it.
 */
function mayRepair(members: readonly StoreMember[], copies: number | undefined, node: NodeAddress): boolean {
  const missing = members.filter(isKnown).flatMap(({ report }) => report.missingShards);
  const own = new Set(missing.filter(({ nodeId }) => nodeId === node.nodeId).map(shardOf));
  if (own.size === 0 || missing.some((shard) => !own.has(shardOf(shard)))) return false;
  const isQuorumLost = copies !== undefined && mostMissing(missing) > (copies - 1) / 2;
  return members.every((member) => {
    if (!isKnown(member) || member.report.restart?.state === "restarting") return false;
    const { writable, missingShards, readyReplicas, desiredReplicas } = member.report;
    const lacking = new Set(missingShards.map(({ nodeId }) => nodeId)).size;
    return (writable === true || isQuorumLost) && readyReplicas + lacking >= desiredReplicas;
  });
}

/** The number of nodes that lack the shard that most of them lack. */
function mostMissing(missing: readonly MissingShard[]): number {
  const counts = new Map<string, number>();
  for (const shard of missing) counts.set(shardOf(shard), (counts.get(shardOf(shard)) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

function shardOf({ collection, partition }: MissingShard): string {
  return `${partition} ${collection}`;
}

/** The restarts in the form of the API; undefined when no node waits and none has its turn. */
export function restartProgress(
  turn: RestartTurnRecord | undefined,
  facts: TurnFacts,
  nowMs: number,
): RestartProgress | undefined {
  const decision = decideTurn(turn, facts, nowMs);
  if (decision.action === "none") return undefined;
  const waiting = waitingNodes(facts.members).filter(
    ({ cluster, nodeId }) => cluster !== turn?.cluster || nodeId !== turn.nodeId,
  );
  return { ...(turn && { turn: restartTurn(turn) }), waiting, message: messageOf(decision, turn) };
}

function messageOf(decision: Exclude<TurnDecision, { action: "none" }>, turn: RestartTurnRecord | undefined): string {
  switch (decision.action) {
    case "wait":
      return decision.message;
    case "begin":
      return `node ${decision.node.nodeId} in ${decision.node.cluster} is next`;
    case "grant":
    case "end": {
      const name = `node ${turn?.nodeId} in ${turn?.cluster}`;
      return turn?.answer === undefined ? `${name} gets its turn` : `${name} has restarted`;
    }
  }
}
