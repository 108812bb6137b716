import type { ShardType } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { NodeAnswer } from "./node-answer.ts";
import { decideRestart, nextRecord, type RestartInput, type StoreReading } from "./decide-restart.ts";
import { TURN_MS } from "./restart-record.ts";
import type { MemberPod, StoreMember } from "./running-store.ts";
import type { StoreLayout } from "./store-layout.ts";

const NOW = Date.UTC(2026, 10, 19);
const OLD = NOW - 3_600_000;

/** Partitions of one collection, by the nodes of each. */
const layout = (shardType: ShardType, ...nodes: number[][]): StoreLayout => ({
  partitions: nodes.map((of, partition) => ({ collection: "c", partition, shardType, nodes: of })),
});

const member = (nodeId: number, pod: Partial<MemberPod> = {}): StoreMember => ({
  nodeId,
  workload: { name: "s", isManaged: true },
  pod: {
    key: { namespace: "n", name: `s-${nodeId}` },
    uid: `pod-${nodeId}`,
    isTerminating: false,
    startedAtMs: OLD,
    isStopped: false,
    isOutdated: false,
    isReady: true,
    object: { apiVersion: "v1", kind: "Pod", metadata: { name: `s-${nodeId}` } },
    ...pod,
  },
});

const answer = (nodeId: number, partitions: readonly number[], objects = 7, podUid = `pod-${nodeId}`): NodeAnswer => ({
  nodeId,
  podUid,
  startedAtMs: OLD,
  address: "10.0.0.1:8080",
  shards: partitions.map((partition) => ({ collection: "c", partition, shard: partition, objects })),
});

const reading = (answers: readonly NodeAnswer[], over: Partial<StoreReading> = {}): StoreReading => ({
  answers,
  unwritable: [],
  missingReadings: new Map(),
  ...over,
});

/** The reading after the container of a node started. */
const started = (nodeId: number, startedAtMs: number, after: StoreReading): StoreReading => ({
  ...after,
  answers: after.answers.map((one) => (one.nodeId === nodeId ? { ...one, startedAtMs } : one)),
});

const THREE = [
  [1, 2, 3],
  [1, 2, 3],
];
const COMPLETE = reading([answer(1, [0, 1]), answer(2, [0, 1]), answer(3, [0, 1])]);
const lacks = (nodeId: number, partition: number, readings = 2): StoreReading =>
  reading(
    [1, 2, 3].map((id) =>
      answer(
        id,
        [0, 1].filter((one) => id !== nodeId || one !== partition),
      ),
    ),
    { missingReadings: new Map([[nodeId, readings]]) },
  );

/** Three raft members in this cluster, complete. */
const input = (over: Partial<RestartInput> = {}): RestartInput => ({
  nowMs: NOW,
  allowRestart: false,
  isChecked: true,
  layout: layout("raft", ...THREE),
  members: [member(1), member(2), member(3)],
  reading: COMPLETE,
  settingsChangedAtMs: OLD - 1,
  record: { attempts: {} },
  ...over,
});
const outdated = { isOutdated: true };
const allOutdated = [member(1, outdated), member(2, outdated), member(3, outdated)];
const turn = { id: "t", nodeId: 2, podUid: "pod-2", grantedAtMs: NOW - 1_000 };

interface Case {
  readonly why: string;
  readonly with: Partial<RestartInput>;
  readonly want: object;
}

const CASES: readonly Case[] = [
  { why: "a complete store needs nothing", with: {}, want: { kind: "none" } },
  { why: "a store without members needs nothing", with: { members: [] }, want: { kind: "none" } },
  { why: "a store that was never read needs nothing", with: { reading: undefined }, want: { kind: "none" } },

  // New pod template.
  {
    why: "a quorum stays, so the first outdated node restarts",
    with: { members: allOutdated },
    want: { kind: "restart", nodeId: 1, reason: "TemplateChanged", nodes: [1, 2, 3] },
  },
  {
    why: "the next restarts when the last is back",
    with: { members: [member(1), member(2, outdated), member(3, outdated)] },
    want: { kind: "restart", nodeId: 2, nodes: [2, 3] },
  },
  {
    why: "the last has no pod yet",
    with: { members: [{ ...member(1), pod: undefined }, member(2, outdated)] },
    want: { kind: "wait", message: expect.stringContaining("node 1 is not running") },
  },
  {
    why: "the last is being deleted",
    with: { members: [member(1, { isTerminating: true }), member(2, outdated)] },
    want: { kind: "wait" },
  },
  {
    why: "the last runs, but the reading is of its predecessor",
    with: { members: [member(1, { uid: "new" }), member(2, outdated), member(3)] },
    want: { kind: "wait", message: expect.stringContaining("node 1 did not answer since it started") },
  },
  {
    why: "the last lacks a shard",
    with: { members: [member(1), member(2, outdated), member(3)], reading: lacks(1, 1, 1) },
    want: { kind: "wait", message: expect.stringContaining("lacks partition 1 of c") },
  },
  {
    why: "the last has its shards, but not yet all their objects",
    with: {
      members: [member(1), member(2, outdated), member(3, outdated)],
      reading: reading([
        { ...answer(1, [0, 1]), behind: { collection: "c", partition: 1 } },
        answer(2, [0, 1]),
        answer(3, [0, 1]),
      ]),
    },
    want: { kind: "wait", message: expect.stringContaining("node 1 still catches up with partition 1 of c") },
  },
  {
    why: "the container of the last was restarted in its pod after the reading",
    with: { members: [member(1, { startedAtMs: NOW - 1_000 }), member(2, outdated), member(3)] },
    want: { kind: "wait", message: expect.stringContaining("node 1 did not answer since it started") },
  },
  {
    why: "writes do not succeed yet",
    with: {
      members: [member(1), member(2, outdated), member(3)],
      reading: { ...COMPLETE, unwritable: [{ collection: "c", partition: 0 }] },
    },
    want: { kind: "wait", message: expect.stringContaining("does not acknowledge writes") },
  },
  {
    why: "nothing was read since the manager started",
    with: { members: allOutdated, reading: undefined },
    want: { kind: "wait", message: expect.stringContaining("did not answer yet") },
  },
  {
    why: "one copy in memory would be lost",
    with: { layout: layout("raft", [1]), members: [member(1, outdated)], reading: reading([answer(1, [0])]) },
    want: {
      kind: "refuse",
      message:
        "A restart of node 1 loses all objects of c, which has one copy in memory. Set odgm.allow_restart to restart anyway; to keep the objects, copy them with oaas state copy first.",
    },
  },
  {
    why: "two copies have no quorum without one",
    with: {
      layout: layout("raft", [1, 2]),
      members: [member(1, outdated), member(2)],
      reading: reading([answer(1, [0]), answer(2, [0])]),
    },
    want: { kind: "refuse", message: expect.stringContaining("leaves 1 of 2 copies of c, fewer than a quorum") },
  },
  ...(["basic", "single", "none"] as const).map((type) => ({
    why: `copies of ${type} are separate stores`,
    with: { layout: layout(type, [1, 2, 3]), members: allOutdated },
    want: { kind: "refuse", message: expect.stringContaining("only copy") },
  })),
  {
    why: "mst catches up from the other copy",
    with: {
      layout: layout("mst", [1, 2]),
      members: [member(1, outdated), member(2)],
      reading: reading([answer(1, [0]), answer(2, [0])]),
    },
    want: { kind: "restart", nodeId: 1 },
  },
  {
    why: "the only copy of mst would be lost",
    with: { layout: layout("mst", [1]), members: [member(1, outdated)], reading: reading([answer(1, [0])]) },
    want: { kind: "refuse" },
  },
  {
    why: "one partition with one copy is enough to refuse",
    with: { layout: layout("raft", [1, 2, 3], [2]), members: allOutdated },
    want: { kind: "refuse", message: expect.stringContaining("node 2") },
  },
  {
    why: "the class allows to lose the only copy",
    with: {
      allowRestart: true,
      layout: layout("raft", [1]),
      members: [member(1, outdated)],
      reading: reading([answer(1, [0])]),
    },
    want: { kind: "restart", nodeId: 1 },
  },
  {
    why: "the restarted copy needs no second restart",
    with: {
      allowRestart: true,
      layout: layout("raft", [1]),
      members: [member(1, { uid: "new", startedAtMs: NOW })],
      reading: reading([answer(1, [0], 0, "new")]),
    },
    want: { kind: "none" },
  },
  {
    why: "an allowed restart also waits for the last",
    with: {
      allowRestart: true,
      members: [member(1, { startedAtMs: NOW - 1_000 }), member(2, outdated)],
      reading: undefined,
    },
    want: { kind: "wait" },
  },
  {
    why: "an allowed restart goes on when the store does not come back by itself",
    with: { allowRestart: true, members: [member(1), member(2, outdated), member(3)], reading: undefined },
    want: { kind: "restart", nodeId: 2 },
  },
  {
    why: "a pod that does not run holds nothing, and nothing else replaces it",
    with: {
      layout: layout("raft", [1]),
      members: [member(1, { ...outdated, startedAtMs: undefined, isStopped: true })],
      reading: undefined,
    },
    want: { kind: "restart", nodeId: 1 },
  },
  {
    why: "a pod with the newest template that does not run is left to Kubernetes",
    with: { members: [member(1, { startedAtMs: undefined, isStopped: true }), member(2), member(3)] },
    want: { kind: "none" },
  },

  {
    why: "without checks nothing proves that objects are kept",
    with: { isChecked: false, reading: undefined, members: allOutdated },
    want: { kind: "refuse", message: expect.stringContaining("OPRC_CRM_ODGM_HEALTH") },
  },
  {
    why: "without checks the readiness of pods counts",
    with: {
      isChecked: false,
      allowRestart: true,
      reading: undefined,
      members: [member(1, { isReady: false, startedAtMs: NOW }), member(2, outdated), member(3)],
    },
    want: { kind: "wait", message: expect.stringContaining("node 1 is not ready") },
  },

  // Changed settings.
  {
    why: "settings wait for the next restart",
    with: { settingsChangedAtMs: NOW },
    want: { kind: "pending", reason: "SettingsChanged", nodes: [1, 2, 3] },
  },
  {
    why: "allowed, they are applied one node after the other",
    with: {
      settingsChangedAtMs: NOW - 5,
      allowRestart: true,
      reading: started(1, NOW, COMPLETE),
      members: [member(1, { startedAtMs: NOW }), member(2), member(3)],
    },
    want: { kind: "restart", nodeId: 2, nodes: [2, 3] },
  },
  {
    why: "a node that started in the second of the change may not have them",
    with: { members: [member(1), member(2, { startedAtMs: NOW }), member(3)], settingsChangedAtMs: NOW + 500 },
    want: { kind: "pending", nodes: [1, 2, 3] },
  },
  {
    why: "nodes that started since have them",
    with: { settingsChangedAtMs: OLD, allowRestart: true },
    want: { kind: "none" },
  },
  {
    why: "a Deployment of an earlier version has them in its pod template",
    with: { settingsChangedAtMs: NOW, members: [{ ...member(1), workload: { name: "d", isManaged: false } }] },
    want: { kind: "none" },
  },
  {
    why: "a new template comes before settings",
    with: { settingsChangedAtMs: NOW, members: [member(1), member(2, outdated), member(3)] },
    want: { kind: "restart", nodeId: 2, reason: "TemplateChanged", nodes: [2, 1, 3] },
  },

  // Missing shards.
  { why: "one reading may be early", with: { reading: lacks(2, 1, 1) }, want: { kind: "none" } },
  {
    why: "two readings without a shard",
    with: { reading: lacks(2, 1) },
    want: { kind: "restart", nodeId: 2, reason: "ShardMissing", nodes: [2] },
  },
  {
    why: "a node that started now gets time",
    with: {
      reading: started(2, NOW - 5_000, lacks(2, 1)),
      members: [member(1), member(2, { startedAtMs: NOW - 5_000 }), member(3)],
    },
    want: { kind: "wait", message: expect.stringContaining("gets time") },
  },
  {
    why: "the time doubles with each attempt",
    with: {
      reading: started(2, NOW - 100_000, lacks(2, 1)),
      members: [member(1), member(2, { startedAtMs: NOW - 100_000 }), member(3)],
      record: { attempts: { 2: 2 } },
    },
    want: { kind: "wait" },
  },
  {
    why: "attempts are bounded",
    with: { reading: lacks(2, 1), record: { attempts: { 2: 5 } } },
    want: { kind: "refuse", message: expect.stringContaining("still lacks a shard after 5 restarts") },
  },
  {
    why: "not while another member is away",
    with: { reading: lacks(2, 1), members: [member(1), member(2), { ...member(3), pod: undefined }] },
    want: { kind: "wait", message: expect.stringContaining("node 3 is not running") },
  },
  {
    why: "its other shard would be lost, since another node lacks it",
    with: {
      reading: reading([answer(1, [0]), answer(2, [1]), answer(3, [0, 1])], {
        missingReadings: new Map([
          [1, 2],
          [2, 2],
        ]),
      }),
    },
    want: { kind: "refuse", message: expect.stringContaining("odgm.allow_restart") },
  },
  {
    why: "a partition without quorum and objects has nothing to lose",
    with: {
      layout: layout("raft", [1, 2, 3], [1, 2, 3]),
      reading: reading([answer(1, [0], 0), answer(2, []), answer(3, [1])], {
        missingReadings: new Map([
          [1, 2],
          [2, 2],
          [3, 2],
        ]),
        unwritable: [
          { collection: "c", partition: 0 },
          { collection: "c", partition: 1 },
        ],
      }),
    },
    want: { kind: "restart", nodeId: 1 },
  },
  {
    why: "a node with objects and too few other copies waits for the others",
    with: {
      reading: reading([answer(1, [0]), answer(2, []), answer(3, [0])], {
        missingReadings: new Map([
          [1, 2],
          [2, 2],
          [3, 2],
        ]),
      }),
    },
    want: { kind: "restart", nodeId: 2 },
  },
  {
    why: "the other shard of an unreplicated store would be lost",
    with: {
      layout: layout("basic", [1], [1]),
      members: [member(1)],
      reading: reading([answer(1, [0])], { missingReadings: new Map([[1, 2]]) }),
    },
    want: { kind: "refuse" },
  },
  {
    why: "a node without any shard has nothing to lose",
    with: {
      layout: layout("basic", [1], [1]),
      members: [member(1)],
      reading: reading([answer(1, [])], { missingReadings: new Map([[1, 2]]) }),
    },
    want: { kind: "restart", nodeId: 1 },
  },
  {
    why: "a new template may be the fix of a node that stays without shard",
    with: {
      allowRestart: true,
      reading: lacks(2, 1),
      members: [member(1), member(2, outdated), member(3)],
      record: { attempts: { 2: 5 } },
    },
    want: { kind: "restart", nodeId: 2, reason: "TemplateChanged" },
  },

  // Members in several clusters.
  {
    why: "members in other clusters come first or later, never at once",
    with: { layout: layout("raft", [1, 2, 9]), members: [member(1, outdated), member(2, outdated)] },
    want: { kind: "wait-for-turn", nodes: [1, 2] },
  },
  {
    why: "the turn names the node",
    with: {
      layout: layout("raft", [1, 2, 9]),
      members: [member(1, outdated), member(2, outdated)],
      record: { turn, attempts: {} },
    },
    want: { kind: "restart", nodeId: 2 },
  },
  ...[
    { why: "the turn was for the predecessor of the pod", turn: { ...turn, podUid: "other" } },
    { why: "the turn expired", turn: { ...turn, grantedAtMs: NOW - TURN_MS } },
    { why: "the turn is from the future", turn: { ...turn, grantedAtMs: NOW + 1 } },
    { why: "the turn is of another node", turn: { ...turn, nodeId: 7, podUid: "pod-7" } },
  ].map(({ why, turn: given }) => ({
    why,
    with: {
      layout: layout("raft" as const, [1, 2, 9]),
      members: [member(1, outdated), member(2, outdated)],
      record: { turn: given, attempts: {} },
    },
    want: { kind: "wait-for-turn" },
  })),
  {
    why: "a turn does not override the quorum over all clusters",
    with: { layout: layout("raft", [2, 9]), members: [member(2, outdated)], record: { turn, attempts: {} } },
    want: { kind: "refuse" },
  },
  {
    why: "one member here and two elsewhere keep a quorum",
    with: {
      layout: layout("raft", [2, 8, 9]),
      members: [member(2, outdated)],
      reading: reading([answer(2, [0])]),
      record: { turn, attempts: {} },
    },
    want: { kind: "restart", nodeId: 2 },
  },
];

describe("decides which node restarts", () => {
  test.each(CASES)("$why", ({ with: over, want }) => expect(decideRestart(input(over))).toMatchObject(want));
});

describe("keeps what a restarted manager must know", () => {
  const record = (over: Partial<RestartInput>) => {
    const given = input(over);
    return nextRecord(given, decideRestart(given));
  };

  test("counts a restart for a missing shard before it happens", () =>
    expect(record({ reading: lacks(2, 1), record: { attempts: { 2: 1 } } })).toEqual({ attempts: { 2: 2 } }));

  test("forgets the attempts of a complete node", () =>
    expect(record({ record: { attempts: { 2: 3 } } })).toEqual({ attempts: {} }));

  test("keeps the attempts of a node that did not answer", () =>
    expect(record({ reading: reading([]), record: { attempts: { 2: 3 } } })).toEqual({ attempts: { 2: 3 } }));

  test.each([
    { why: "its pod is gone", turn: { ...turn, podUid: "other" }, kept: false },
    { why: "it expired", turn: { ...turn, grantedAtMs: NOW - TURN_MS }, kept: false },
    { why: "it is usable", turn, kept: true },
    { why: "no node needs it any more", turn, kept: false, members: [member(1), member(2), member(3)] },
  ])("keeps a turn only while it is usable: $why", ({ turn: given, kept, members = allOutdated }) =>
    expect(record({ members, record: { turn: given, attempts: {} } }).turn !== undefined).toBe(kept),
  );
});
