import type { ClusterName, MissingShard, StateStoreStatus, StoreRestart, UnitId } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { RestartTurnRecord } from "../records/restart-turn.ts";
import { ASK_AGAIN_MS, decideTurn, restartProgress, type StoreMember, type TurnFacts } from "./decide-turn.ts";

const NOW_MS = 1_000_000;
const [A, B, C] = ["a", "b", "c"] as ClusterName[];

function member(
  cluster: ClusterName | undefined,
  more: Partial<StateStoreStatus> | { unknown: string } = {},
): StoreMember {
  const unit = { cluster: cluster as ClusterName, unitId: `u-${cluster}` as UnitId };
  if ("unknown" in more) return { ...unit, report: { unknown: more.unknown } };
  const healthy = { ready: true, desiredReplicas: 1, readyReplicas: 1, writable: true, missingShards: [] };
  return { ...unit, report: { ...healthy, ...more } };
}

function restart(state: StoreRestart["state"], ...nodes: number[]): { restart: StoreRestart } {
  return { restart: { state, reason: "TemplateChanged", message: "another image", nodes } };
}

const waits = (...nodes: number[]) => restart("waiting-for-turn", ...nodes);
const lacks = (nodeId: number, partition = 0): MissingShard => ({ nodeId, collection: "shop.Order", partition });

function turn(more: Partial<RestartTurnRecord> = {}): RestartTurnRecord {
  return {
    id: "t",
    owner: "o",
    cluster: A!,
    unitId: "u-a" as UnitId,
    nodeId: 1,
    since: "2026-01-01T00:00:00Z",
    ...more,
  };
}

const accepted = { answer: { accepted: true, atMs: NOW_MS - 1 } };
const declined = { answer: { accepted: false, atMs: NOW_MS - 1 } };

interface Case {
  readonly why: string;
  readonly turn?: RestartTurnRecord;
  readonly members: readonly StoreMember[];
  readonly facts?: Partial<TurnFacts>;
  readonly want: object;
}

const decide = ({ turn: open, members, facts }: Case) => decideTurn(open, { members, copies: 3, ...facts }, NOW_MS);
const wait = (text: string) => ({ action: "wait", message: expect.stringContaining(text) });

describe("without a turn", () => {
  const others = [member(B), member(C)];
  const cases: readonly Case[] = [
    { why: "no node waits", members: [member(A), ...others], want: { action: "none" } },
    {
      why: "a refused restart does not wait for a turn",
      members: [member(A, restart("refused", 1)), ...others],
      want: { action: "none" },
    },
    {
      why: "settings that wait for the next restart get no turn",
      members: [member(A, restart("pending", 1)), ...others],
      want: { action: "none" },
    },
    {
      why: "the first node of the first cluster is next",
      members: [member(A, waits(1, 2)), member(B, waits(3)), member(C)],
      want: { action: "begin", node: { cluster: A, nodeId: 1 } },
    },
    {
      why: "a cluster that cannot be read may have lost its member",
      members: [member(A, waits(1)), member(B, { unknown: "it does not answer" }), member(C)],
      want: wait("b: it does not answer"),
    },
    {
      why: "a cluster restarts a node by itself",
      members: [member(A, waits(1)), member(B, restart("restarting", 2)), member(C)],
      want: wait("b: a node restarts"),
    },
    {
      why: "writes are not acknowledged",
      members: [member(A, waits(1)), member(B, { writable: false, message: "no leader" }), member(C)],
      want: wait("writes are not acknowledged: no leader"),
    },
    {
      why: "no one knows whether writes are acknowledged",
      members: [member(A, waits(1)), { ...member(B), report: { ...member(B).report, writable: undefined } as never }],
      want: wait("OPRC_CRM_ODGM_HEALTH"),
    },
    {
      why: "a node is not ready",
      members: [member(A, waits(1)), member(B, { readyReplicas: 0 }), member(C)],
      want: wait("b: 0 of 1 nodes are ready"),
    },
    {
      why: "another node lacks a shard",
      members: [member(A, waits(1)), member(B, { missingShards: [lacks(2)] }), member(C)],
      want: wait("node 2 lacks the shard of partition 0 of shop.Order"),
    },
    {
      why: "the node that lacks a shard is restored first, although it is not the first that waits",
      members: [
        member(A, waits(1)),
        member(B, { ...waits(2), readyReplicas: 0, missingShards: [lacks(2)] }),
        member(C),
      ],
      want: { action: "begin", node: { cluster: B, nodeId: 2 } },
    },
    {
      why: "two nodes lack the same shard: its quorum is lost, and either may be restored",
      members: [
        member(A, { ...waits(1), writable: false, missingShards: [lacks(1)] }),
        member(B, { ...waits(2), writable: false, missingShards: [lacks(2)] }),
        member(C, { writable: false }),
      ],
      want: { action: "begin", node: { cluster: A, nodeId: 1 } },
    },
    {
      why: "two nodes lack different shards: each has a copy that the other lacks",
      members: [
        member(A, { ...waits(1), missingShards: [lacks(1, 0)] }),
        member(B, { ...waits(2), missingShards: [lacks(2, 1)] }),
        member(C),
      ],
      want: wait("a: State store: node 1 lacks the shard"),
    },
    {
      why: "one missing shard does not explain that writes are not acknowledged",
      members: [member(A, { ...waits(1), writable: false, missingShards: [lacks(1)] }), member(B), member(C)],
      want: wait("lacks the shard"),
    },
    {
      why: "a node of a cluster is gone besides the one that lacks a shard",
      members: [
        member(A, { ...waits(1), desiredReplicas: 2, readyReplicas: 0, missingShards: [lacks(1)] }),
        member(B),
        member(C),
      ],
      want: wait("lacks the shard"),
    },
    {
      why: "the deployment is paused",
      members: [member(A, waits(1)), ...others],
      facts: { hold: { text: "paused by ann", allowsRepair: false } },
      want: wait("paused by ann"),
    },
    {
      why: "a freeze window does not delay a repair",
      members: [member(A, { ...waits(1), missingShards: [lacks(1)] }), ...others],
      facts: { hold: { text: "frozen", allowsRepair: true } },
      want: { action: "begin", node: { cluster: A, nodeId: 1 } },
    },
    {
      why: "a pause does",
      members: [member(A, { ...waits(1), missingShards: [lacks(1)] }), ...others],
      facts: { hold: { text: "paused by ann", allowsRepair: false } },
      want: wait("paused by ann"),
    },
  ];
  test.each(cases)("$why", (one) => expect(decide(one)).toEqual(one.want));
});

describe("with a turn", () => {
  const others = [member(B, waits(2)), member(C)];
  const cases: readonly Case[] = [
    {
      why: "it is granted until it is answered",
      turn: turn(),
      members: [member(A), ...others],
      want: { action: "grant" },
    },
    {
      why: "a cluster that is gone blocks the other nodes",
      turn: turn(accepted),
      members: [member(A, { unknown: "it does not answer" }), ...others],
      want: wait("node 1 in a has its turn, and no other node restarts meanwhile: it does not answer"),
    },
    {
      why: "an answered turn waits for the restart",
      turn: turn(accepted),
      members: [member(A, waits(1)), ...others],
      want: wait("node 1 in a restarts"),
    },
    {
      why: "the manager is asked again when it reports no restart",
      turn: turn({ answer: { accepted: true, atMs: NOW_MS - ASK_AGAIN_MS } }),
      members: [member(A, waits(1)), ...others],
      want: { action: "grant" },
    },
    {
      why: "the node is not back yet",
      turn: turn({ answer: { accepted: true, atMs: NOW_MS - 10 * ASK_AGAIN_MS } }),
      members: [member(A, restart("restarting", 1)), ...others],
      want: wait("node 1 in a restarts"),
    },
    {
      why: "the node is back, and the manager is asked whether it may still use the turn",
      turn: turn(accepted),
      members: [member(A), ...others],
      want: { action: "grant" },
    },
    { why: "it does not", turn: turn(declined), members: [member(A), ...others], want: { action: "end" } },
    {
      why: "it does not, and its cluster has another node that waits",
      turn: turn(declined),
      members: [member(A, waits(4)), ...others],
      want: { action: "end" },
    },
    {
      why: "the node is back, and writes are not acknowledged",
      turn: turn(accepted),
      members: [member(A), member(B, { ...waits(2), writable: false }), member(C)],
      want: wait("the next node waits: b: State store: writes are not acknowledged"),
    },
    {
      why: "the node is back without a shard, and does not ask for another restart yet",
      turn: turn(accepted),
      members: [member(A, { missingShards: [lacks(1)] }), ...others],
      want: wait("node 1 lacks the shard"),
    },
    {
      why: "the node is back, and another restart restores what is left",
      turn: turn(declined),
      members: [member(A), member(B, { ...waits(2), missingShards: [lacks(2)] }), member(C)],
      want: { action: "end" },
    },
    {
      why: "the turn is over, and the node asks for another one",
      turn: turn(declined),
      members: [member(A, waits(1)), ...others],
      want: { action: "end" },
    },
    {
      why: "its cluster does not belong to the deployment any more",
      turn: turn(accepted),
      members: others,
      want: { action: "end" },
    },
    {
      why: "a pause does not take a turn back",
      turn: turn(declined),
      members: [member(A), ...others],
      facts: { hold: { text: "paused", allowsRepair: false } },
      want: { action: "end" },
    },
  ];
  test.each(cases)("$why", (one) => expect(decide(one)).toEqual(one.want));
});

test("shows the turn, the nodes that wait and the reason", () => {
  const members = [member(A, restart("restarting", 1)), member(B, waits(2)), member(C)];
  expect(restartProgress(turn(accepted), { members }, NOW_MS)).toEqual({
    turn: { id: "t", cluster: "a", nodeId: 1, since: "2026-01-01T00:00:00Z" },
    waiting: [{ cluster: "b", nodeId: 2 }],
    message: "node 1 in a restarts: another image",
  });
  expect(restartProgress(undefined, { members: [member(A), member(B)] }, NOW_MS)).toBeUndefined();
});
