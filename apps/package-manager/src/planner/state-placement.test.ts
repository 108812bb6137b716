import { ConsistencyModel, ShardType, type ClassDeployment, type OdgmSpec } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { planText } from "./explanation/plan-view.ts";
import type { CandidateCluster, DeploymentPlan } from "./plan-types.ts";
import {
  bindingOf,
  clusterName,
  clusterOf,
  clustersIn,
  clustersOf,
  expectPlan,
  expectRefusal,
  functionKey,
  functionOf,
  inputOf,
  stateOf,
  STRONG_STATE,
} from "./testing/plan-inputs.ts";

const raftState = stateOf({ consistencyModel: ConsistencyModel.readYourWrite });
const withState = { definition: { stateSpec: raftState } };
const withStrong = { definition: { stateSpec: STRONG_STATE } };
const odgmOf = (more: Partial<OdgmSpec>): Pick<ClassDeployment, "odgm"> => ({
  odgm: { collections: [], nodeIds: {}, ...more },
});
const named = (...names: string[]) => ({ targetClusters: names.map(clusterName) });

/** A cluster that reports this data plane network, or none. */
function inNetwork(
  network: string | undefined,
  name: string,
  availability: number,
  more: Partial<CandidateCluster> = {},
): CandidateCluster {
  const cluster = clusterOf(name, availability, more);
  const { dataPlaneNetwork: _, ...reading } = cluster.reading!;
  return { ...cluster, reading: { ...reading, ...(network === undefined ? {} : { dataPlaneNetwork: network }) } };
}

const APART = [inNetwork(undefined, "cloud", 0.999), inNetwork(undefined, "edge", 0.99), inNetwork("far", "far", 0.95)];

const ruleOf = (plan: DeploymentPlan, part: string) => plan.decisions.find(({ rule }) => rule.includes(part));

describe("clusters of several data plane networks", () => {
  test("have all copies of a class in one network: by default in the best cluster", () => {
    const plan = expectPlan({ ...withStrong, clusters: APART });
    expect(clustersIn(plan)).toEqual(["cloud"]);
    expect(plan.odgm?.nodeIds["cloud"]).toHaveLength(3);
    expect(plan.availability.clusterBound).toBe(0.999);
    expect(plan.clusters.find(({ cluster }) => cluster === "edge")?.reasonsAgainst).toMatchObject([
      { code: "other-network", text: "it shares no data plane network with cloud" },
    ]);
    expect(ruleOf(plan, "data plane network")?.outcome).toContain("cloud, edge and far share no data plane network");
  });

  test("have them in the network that reaches the target", () => {
    const clusters = [
      inNetwork(undefined, "alone", 0.99),
      ...["x", "y", "z"].map((name) => inNetwork("joined", name, 0.98)),
    ];
    const plan = expectPlan({ ...withState, clusters, deployment: { nfr: { availability: 0.998 } } });
    expect(clustersIn(plan)).toEqual(["x", "y", "z"]);
    expect(plan.replicas).toBe(3);
  });

  test("refuse a target that only all of them together would reach, with what would", () => {
    const deployment = { nfr: { availability: 0.9999 } };
    const refusal = expectRefusal({
      ...withStrong,
      clusters: APART,
      deployment: { nfr: { availability: 0.9994 } },
    });
    expect(refusal).toMatchObject({ kind: "out-of-reach", best: { availability: 0.999 } });
    expect(refusal.message).toContain("cloud, edge and far share no data plane network");
    expect(refusal.message).toContain("OPRC_CRM_DATA_PLANE_NETWORK");
    expect(refusal.message).toContain("lower the target to at most 0.999");
    const joined = APART.map(({ name, reading }) => inNetwork("one", name, reading?.availability ?? 0));
    expect(
      clustersIn(expectPlan({ ...withStrong, clusters: joined, deployment: { nfr: { availability: 0.9994 } } })),
    ).toHaveLength(3);
    const accepted = expectPlan({
      ...withStrong,
      clusters: APART,
      deployment: { ...deployment, allowBestEffort: true },
    });
    expect(accepted).toMatchObject({ bestEffort: expect.any(Boolean) });
    expect(clustersIn(accepted)).toEqual(["cloud"]);
  });

  test("still spread functions without state", () => {
    const plan = expectPlan({ clusters: APART, deployment: { nfr: { availability: 0.999 } } });
    expect(clustersIn(plan)).toEqual(["cloud", "edge", "far"]);
    expect(clustersIn(expectPlan({ clusters: APART, deployment: named("cloud", "edge") }))).toEqual(["cloud", "edge"]);
  });

  test("are refused when a class with state names them, with the lists that are possible", () => {
    const refusal = expectRefusal({ ...withState, clusters: APART, deployment: named("cloud", "edge") });
    expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: "$.target_clusters" }] });
    expect(refusal.message).toContain("cloud and edge share no data plane network");
    expect(refusal.message).toContain("[cloud] or [edge]");
  });

  test("keep a class of an earlier release that runs in them, with a warning", () => {
    const previous = expectPlan({ ...withStrong, clusters: clustersOf([0.99, 0.99, 0.99]) });
    const clusters = previous.units.map(({ cluster }) => inNetwork(undefined, cluster, 0.99));
    const plan = expectPlan({ ...withStrong, clusters, previous });
    expect(plan.odgm).toEqual(previous.odgm);
    expect(ruleOf(plan, "warning: data plane network")?.outcome).toContain("do not replicate");
  });
});

describe("copies", () => {
  const three = clustersOf([0.999, 0.99, 0.98]);

  test("are three where several clusters are named: one copy each would be spread over separate stores", () => {
    const plan = expectPlan({ ...withState, clusters: three, deployment: named("c00", "c01") });
    expect(plan).toMatchObject({ replicas: 3, odgm: { shardType: ShardType.raft, replicaCount: 3 } });
  });

  test("are several where functions need several clusters", () => {
    const functions = [{ functionKey: functionKey("Order.place"), nfr: { availability: 0.9999 }, config: {} }];
    const plan = expectPlan({ ...withState, clusters: three, deployment: { functions } });
    expect(plan.units.length).toBeGreaterThan(1);
    expect(plan.replicas).toBeGreaterThanOrEqual(3);
  });

  test.each([ShardType.none, ShardType.basic, ShardType.single])("of type %s: one, in one cluster", (shardType) => {
    const functions = [{ functionKey: functionKey("Order.place"), nfr: { availability: 0.9999 }, config: {} }];
    const plan = expectPlan({ ...withState, clusters: three, deployment: { ...odgmOf({ shardType }), functions } });
    expect(plan.odgm).toMatchObject({ shardType, replicaCount: 1, nodeIds: { c00: [expect.any(Number)] } });
    expect(Object.keys(plan.odgm?.nodeIds ?? {})).toEqual(["c00"]);
  });

  test.each([
    { field: "odgm.replica_count", deployment: odgmOf({ shardType: ShardType.basic, replicaCount: 3 }) },
    { field: "target_clusters", deployment: { ...odgmOf({ shardType: ShardType.basic }), ...named("c00", "c01") } },
    {
      field: "odgm.env_node_ids",
      deployment: {
        ...odgmOf({ shardType: ShardType.basic, nodeIds: { [clusterName("c00")]: [1, 2] } }),
        ...named("c00"),
      },
    },
  ])("refuses $field that asks for several of a type that does not replicate", ({ field, deployment }) => {
    const refusal = expectRefusal({ ...withState, clusters: three, deployment });
    expect(refusal.message).toContain("does not replicate");
    expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: `$.${field}` }] });
  });

  test("of a low latency are replicated like others", () => {
    const deployment = { nfr: { maxLatencyMs: 10, availability: 0.999 } };
    const clusters = clustersOf([0.99, 0.99, 0.99]);
    expect(expectPlan({ ...withState, clusters, deployment }).odgm).toMatchObject({ shardType: ShardType.raft });
  });
});

describe("a persistent class", () => {
  const persistent = { definition: { stateSpec: stateOf({ persistent: true }) } };
  const onVolumes = clusterOf("disk", 0.98);
  const disk = { ...onVolumes, reading: { ...onVolumes.reading!, persistentState: true } };

  test("is refused where state stores keep objects in memory", () => {
    const refusal = expectRefusal(persistent);
    expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: "$.class_key" }] });
    expect(refusal.message).toContain("this state store keeps objects in memory");
    expect(refusal.message).toContain("OPRC_CRM_ODGM_PERSISTENCE=true");
    expect(refusal.message).toContain("persistent: false");
    expect(
      expectRefusal({ ...persistent, clusters: [disk, clusterOf("ram", 0.99)], deployment: named("disk", "ram") }),
    ).toMatchObject({
      violations: [{ path: "$.target_clusters" }],
    });
  });

  test("is placed where they are declared to keep them", () => {
    const clusters = [disk, clusterOf("ram", 0.9999)];
    const plan = expectPlan({ ...persistent, clusters, deployment: { nfr: { availability: 0.98 } } });
    expect(clustersIn(plan)).toEqual(["disk"]);
  });

  test("that runs already is not refused for it", () => {
    const declared = clustersOf([0.99]).map((one) => ({ ...one, reading: { ...one.reading!, persistentState: true } }));
    const previous = expectPlan({ ...persistent, clusters: declared });
    expect(expectPlan({ ...persistent, clusters: clustersOf([0.99]), previous }).odgm).toEqual(previous.odgm);
  });
});

describe("a running class with objects", () => {
  const three = clustersOf([0.99, 0.99, 0.99]);
  const running = { ...odgmOf({ replicaCount: 3 }), nfr: { availability: 0.999 } };
  const previous = expectPlan({ ...withState, clusters: three, deployment: running });
  const image = { functions: [functionOf("Order.place", { config: { A: "2" } })] };
  const update = (deployment: Partial<ClassDeployment>, more: object = {}) => ({
    ...withState,
    clusters: three,
    deployment: { ...running, ...deployment },
    running,
    previous,
    ...more,
  });

  test.each([
    { why: "clusters that became unavailable", clusters: clustersOf([0.2, 0.1, 0.3]) },
    { why: "clusters that do not answer", clusters: three.map((one) => ({ ...one, breaker: "open" as const })) },
    { why: "better clusters", clusters: [...three, clusterOf("best", 0.99999)] },
  ])("keeps its layout in an update with $why, and says what a new one would get", ({ clusters }) => {
    const plan = expectPlan(update({}, { clusters, ...image }));
    expect(plan.odgm).toEqual(previous.odgm);
    expect(clustersIn(plan)).toEqual(["c00", "c01", "c02"]);
    expect(ruleOf(plan, "state: clusters, nodes and copies")?.outcome).toMatch(
      /^kept 3 copies in c00, c01 and c02; a new/,
    );
    expect(plan.stateLoss).toBeUndefined();
  });

  test("keeps it without any stated target after an outage", () => {
    const before = expectPlan({ ...withState, clusters: clustersOf([0.99]) });
    const plan = expectPlan({ ...withState, clusters: clustersOf([0.3]), previous: before, running: {}, ...image });
    expect(plan.odgm).toEqual(before.odgm);
  });

  test("keeps it with allow_layout_change as long as nothing requires a change", () => {
    const plan = expectPlan(
      update(odgmOf({ replicaCount: 3, allowLayoutChange: true }), { clusters: clustersOf([0.2, 0.3, 0.999]) }),
    );
    expect(plan.odgm).toEqual({ ...previous.odgm, allowLayoutChange: true });
    expect(plan.stateLoss).toBeUndefined();
  });

  test.each<{ field: string; deployment: Partial<ClassDeployment> }>([
    { field: "odgm.replica_count", deployment: odgmOf({ replicaCount: 5 }) },
    { field: "odgm.replica_count", deployment: { ...odgmOf({ replicaCount: 1 }), nfr: {} } },
    { field: "odgm.shard_type", deployment: odgmOf({ replicaCount: 3, shardType: ShardType.mst }) },
    { field: "odgm.partition_count", deployment: odgmOf({ replicaCount: 3, partitionCount: 9 }) },
    { field: "odgm.collections", deployment: odgmOf({ replicaCount: 3, collections: ["other"] }) },
    { field: "nfr_requirements.availability", deployment: { nfr: { availability: 0.9999 } } },
    { field: "target_clusters", deployment: named("c00", "c01") },
    { field: "target_clusters", deployment: named("c00", "c01", "c02", "d") },
    { field: "available_envs", deployment: { availableClusters: [clusterName("d")] } },
    {
      field: "odgm.env_node_ids.c00",
      deployment: odgmOf({ replicaCount: 3, nodeIds: { [clusterName("c00")]: [7] } }),
    },
  ])("refuses another $field unless the loss is allowed, and then says what is lost", ({ field, deployment }) => {
    const clusters = [...three, clusterOf("d", 0.99)];
    const refusal = expectRefusal(update(deployment, { clusters }));
    expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: `$.${field}` }] });
    expect(refusal.message).toContain("oaas state copy");
    expect(refusal.message).toContain("odgm.allow_layout_change");
    const odgm = { ...odgmOf({ replicaCount: 3 }).odgm!, ...deployment.odgm, allowLayoutChange: true };
    const plan = expectPlan(update({ ...deployment, odgm }, { clusters }));
    expect(plan.odgm?.allowLayoutChange).toBe(true);
    expect(plan.stateLoss).toMatch(/^This plan loses all objects of shop\.Order, because .*oaas state copy/);
    expect(planText(plan).split("\n")[0]).toBe(`Warning: ${plan.stateLoss}`);
  });

  test("refuses an update while a cluster with objects is not registered", () => {
    const refusal = expectRefusal(update({}, { clusters: three.slice(0, 2) }));
    expect(refusal).toMatchObject({ violations: [{ path: "$.target_clusters" }] });
    expect(refusal.message).toContain("c02, which is not registered");
  });

  test("keeps the assignments of an earlier release exactly, also their primaries", () => {
    const { shardType: _, ...odgm } = previous.odgm!;
    const assignments = Object.fromEntries(
      Object.entries(odgm.assignments).map(([name, all]) => [
        name,
        all.map((each) => ({ ...each, primary: each.shardIds[0]! })),
      ]),
    );
    const earlier = { ...previous, odgm: { ...odgm, assignments } };
    expect(expectPlan(update({}, { previous: earlier, ...image })).odgm).toEqual(earlier.odgm);
  });

  test("keeps a shard type that an earlier release derived from its latency", () => {
    const { shardType: _, ...odgm } = previous.odgm!;
    const shared = { ...previous.shared, nfr: { ...previous.shared.nfr, maxLatencyMs: 10 } };
    const nfr = { availability: 0.999, maxLatencyMs: 10 };
    const plan = expectPlan(update({ nfr }, { previous: { ...previous, odgm, shared }, running: { ...running, nfr } }));
    expect(plan.odgm?.shardType).toBe(ShardType.basic);
  });

  test("of merged copies may grow, and not shrink", () => {
    const mst = { ...odgmOf({ shardType: ShardType.mst, replicaCount: 2 }), nfr: { availability: 0.98 } };
    const before = expectPlan({ ...withState, clusters: three, deployment: mst });
    const of = (replicaCount: number) => ({
      ...withState,
      clusters: three,
      previous: before,
      running: mst,
      deployment: { ...mst, ...odgmOf({ shardType: ShardType.mst, replicaCount }) },
    });
    const grown = expectPlan(of(3));
    expect(grown.odgm?.replicaCount).toBe(3);
    expect(grown.stateLoss).toBeUndefined();
    for (const [cluster, ids] of Object.entries(before.odgm!.nodeIds)) {
      expect(grown.odgm?.nodeIds[cluster]).toEqual(expect.arrayContaining([...ids]));
    }
    expect(expectRefusal(of(1))).toMatchObject({ violations: [{ path: "$.odgm.replica_count" }] });
  });

  test("moves only when a re-plan or a drain may lose its objects", () => {
    const drained = three.map((one) =>
      one.name === "c00"
        ? { ...one, cordon: { by: "ann", at: "", drain: { by: "ann", at: "", allowsStateLoss: true } } }
        : one,
    );
    const clusters = [...drained, clusterOf("d", 0.99)];
    expect(expectPlan(update({}, { clusters, mayMoveState: false })).odgm).toEqual(previous.odgm);
    const moved = expectPlan(update({}, { clusters, mayMoveState: true }));
    expect(clustersIn(moved)).toEqual(["c01", "c02", "d"]);
    expect(moved).toMatchObject({
      odgm: { allowLayoutChange: true },
      stateLoss: expect.stringContaining("clusters change"),
    });
    const after = expectPlan(update({}, { clusters, previous: moved, mayMoveState: false }));
    expect(after.digest, "the next review changes nothing").toBe(moved.digest);
  });

  test("says what allow_restart loses: one copy in memory", () => {
    const before = expectPlan({ ...withState, clusters: clustersOf([0.99]) });
    const given = { ...withState, clusters: clustersOf([0.99]), previous: before, running: {} };
    const plan = expectPlan({ ...given, deployment: odgmOf({ allowRestart: true }) });
    expect(plan.odgm?.allowRestart).toBe(true);
    expect(plan.stateLoss).toContain("when the state store restarts");
    expect(expectPlan(update(odgmOf({ replicaCount: 3, allowRestart: true }))).stateLoss).toBeUndefined();
  });
});

describe("collections", () => {
  const usedCollections = (collection: string, ...clusters: string[]) => ({
    usedCollections: [{ collection, deployment: inputOf().deployment.key, clusters: clusters.map(clusterName) }],
  });

  test("of a second deployment in the same network are its own", () => {
    const plan = expectPlan({ ...withState, ...usedCollections("shop.Order", "c02") });
    expect(plan.odgm?.collections).toEqual(["shop.Order.orders"]);
    expect(ruleOf(plan, "collection: ")?.outcome).toBe("shop.Order.orders");
  });

  test("of another network do not matter", () => {
    const clusters = [clusterOf("here", 0.99), inNetwork("far", "far", 0.5)];
    const plan = expectPlan({ ...withState, clusters, ...usedCollections("shop.Order", "far") });
    expect(plan.odgm?.collections).toEqual(["shop.Order"]);
  });

  test("that are stated and in use are refused", () => {
    const deployment = odgmOf({ collections: ["mine"] });
    const refusal = expectRefusal({ ...withState, deployment, ...usedCollections("mine", "c00") });
    expect(refusal).toMatchObject({ violations: [{ path: "$.odgm.collections[0]" }] });
    expect(refusal.message).toContain("odgm.collections: [mine.orders]");
  });

  test("that two running deployments share already are kept, with a warning", () => {
    const previous = expectPlan(withState);
    const plan = expectPlan({ ...withState, previous, ...usedCollections("shop.Order", "c00") });
    expect(plan.odgm).toEqual(previous.odgm);
    expect(ruleOf(plan, "shared objects")?.outcome).toBe("shared with orders");
  });
});

test("warns about triggers, which the state store does not support", () => {
  const bindings = [{ ...bindingOf("place", "Order.place"), triggerOnStateChange: true }];
  const plan = expectPlan({ definition: { stateSpec: raftState, bindings } });
  expect(ruleOf(plan, "trigger_on_state_change is not supported by this state store")?.inputs).toEqual({
    functions: ["place"],
  });
});
