import type { KubeObject } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import type { NodeAnswer } from "./node-answer.ts";
import type { Pod } from "../lifecycle/observation/observed-objects.ts";
import { isRunning, readRunningStore, SHARDS_CONDITION, shardsCondition } from "./running-store.ts";
import { changedGates } from "./shard-gates.ts";

const COLLECTIONS = [
  {
    name: "shop.Cart",
    partition_count: 2,
    replica_count: 2,
    shard_type: "raft",
    shard_assignments: [{ replica: [70, 71] }, { replica: [71, 90] }],
  },
];

const config = (collections: unknown = JSON.stringify(COLLECTIONS)): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "cart-config", namespace: "shop", creationTimestamp: "2026-01-01T00:00:00Z" },
    data: { "collections.json": collections },
  }) as KubeObject;

const set = (over: object = {}, status: object = { updateRevision: "new", observedGeneration: 2 }): KubeObject =>
  ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "cart", namespace: "shop", generation: 2 },
    spec: {
      replicas: 2,
      updateStrategy: { type: "OnDelete" },
      template: { spec: { containers: [{ name: "odgm", env: [{ name: "ODGM_NODE_ID", value: "7$(POD_INDEX)" }] }] } },
      ...over,
    },
    status,
  }) as KubeObject;

const pod = (name: string, over: Partial<Pod["status"] & object> = {}, revision = "new"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "shop",
    uid: `uid-${name}`,
    labels: { "controller-revision-hash": revision },
    creationTimestamp: "2026-01-02T00:00:00Z",
  },
  spec: { readinessGates: [{ conditionType: SHARDS_CONDITION }] },
  status: {
    phase: "Running",
    containerStatuses: [{ name: "odgm", state: { running: { startedAt: "2026-01-02T00:00:05Z" } } }],
    ...over,
  },
});

const read = (children: readonly KubeObject[], pods: readonly Pod[] = []) => readRunningStore(children, pods);
const memberOf = (given: Pod, workload = set()) => read([config(), workload], [given])?.members[0];

describe("reads a running store from its children", () => {
  test("members, partitions and their nodes in all clusters", () => {
    const store = read([config(), set()], [pod("cart-0"), pod("cart-1", {}, "old")]);
    expect(store?.members.map(({ nodeId, pod: of }) => [nodeId, of?.uid, of?.isOutdated])).toEqual([
      [70, "uid-cart-0", false],
      [71, "uid-cart-1", true],
    ]);
    expect(store?.layout.partitions).toMatchObject([
      { collection: "shop.Cart", partition: 0, shardType: "raft", nodes: [70, 71] },
      { collection: "shop.Cart", partition: 1, shardType: "raft", nodes: [71, 90] },
    ]);
  });

  test.each([
    { why: "no ConfigMap", children: [set()] },
    { why: "no workload", children: [config()] },
    { why: "collections that are not JSON", children: [config("{"), set()] },
    { why: "collections that are not a list", children: [config("7"), set()] },
  ])("returns nothing with $why", ({ children }) => expect(read(children)).toBeUndefined());

  test("a pod is not outdated before its StatefulSet observed the newest template", () => {
    const stale = set({}, { updateRevision: "new", observedGeneration: 1 });
    expect(memberOf(pod("cart-0", {}, "old"), stale)?.pod?.isOutdated).toBe(false);
  });

  test("a StatefulSet that Kubernetes updates is not restarted by the manager", () => {
    const rolling = set({ updateStrategy: { type: "RollingUpdate" } });
    const member = memberOf(pod("cart-0", {}, "old"), rolling);
    expect([member?.workload.isManaged, member?.pod?.isOutdated]).toEqual([false, false]);
  });

  test.each([
    { why: "waits for its image", state: { waiting: { reason: "ImagePullBackOff" } }, stopped: true, running: false },
    { why: "ended", state: { terminated: { exitCode: 1 } }, stopped: true, running: false },
    { why: "is not known", state: undefined, stopped: false, running: false },
    { why: "runs", state: { running: { startedAt: "2026-01-02T00:00:05Z" } }, stopped: false, running: true },
  ])("a container that $why", ({ state, stopped, running }) => {
    const member = memberOf(pod("cart-0", { containerStatuses: [{ name: "odgm", ...(state && { state }) }] }));
    expect([member?.pod?.isStopped, member !== undefined && isRunning(member)]).toEqual([stopped, running]);
  });
});

describe("the shards condition", () => {
  const condition = (status: string, at: string) => ({
    conditions: [{ type: SHARDS_CONDITION, status, lastTransitionTime: at }],
  });
  const held = pod("cart-0", condition("True", "2026-01-02T00:00:09Z"));
  const restarted = pod("cart-0", {
    ...condition("True", "2026-01-02T00:00:09Z"),
    containerStatuses: [{ name: "odgm", state: { running: { startedAt: "2026-01-02T00:01:00Z" } } }],
  });
  const answer = (...partitions: number[]) => ({
    nodeId: 70,
    podUid: "uid-cart-0",
    address: "10.0.0.1:8080",
    shards: partitions.map((partition) => ({ collection: "shop.Cart", partition, shard: partition, objects: 0 })),
  });
  const changes = (given: Pod, answers: readonly Omit<NodeAnswer, "startedAtMs">[]) => {
    const store = read([config(), set()], [given]);
    const startedAtMs = memberOf(given)?.pod?.startedAtMs;
    const ofRun = answers.map((one) => ({ ...one, startedAtMs }));
    return store && changedGates(store, ofRun, Date.UTC(2026, 0, 3)).map((gate) => gate.condition.status);
  };

  test("does not count when the container started later, since it started empty", () => {
    expect(shardsCondition(memberOf(held)?.pod as never)).toBe("True");
    expect(shardsCondition(memberOf(restarted)?.pod as never)).toBeUndefined();
  });

  test.each([
    { why: "a new pod with all its shards", given: pod("cart-0"), answers: [answer(0)], want: ["True"] },
    { why: "a new pod without a shard", given: pod("cart-0"), answers: [answer()], want: ["False"] },
    { why: "an unchanged pod", given: held, answers: [answer(0)], want: [] },
    { why: "a restarted container with all its shards", given: restarted, answers: [answer(0)], want: ["True"] },
    { why: "a pod that lost a shard", given: held, answers: [answer()], want: ["False"] },
    { why: "a node that did not answer", given: held, answers: [], want: [] },
    { why: "an answer of the predecessor", given: held, answers: [{ ...answer(), podUid: "other" }], want: [] },
    {
      why: "a pod without the readiness gate",
      given: { ...pod("cart-0"), spec: {} },
      answers: [answer(0)],
      want: [],
    },
  ])("is written only when it changes: $why", ({ given, answers, want }) =>
    expect(changes(given, answers)).toEqual(want),
  );
});
