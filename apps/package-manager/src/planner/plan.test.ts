import { ClusterStatus, EMPTY_PROVISION, FunctionType, ShardType } from "@oaas/models";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReplicaRecommendation } from "./plan-types.ts";
import {
  bindingOf,
  clusterName,
  clusterOf,
  clustersIn,
  clustersOf,
  functionKey,
  functionOf,
  expectPlan,
  expectRefusal,
  stateOf,
  STRONG_STATE,
} from "./testing/plan-inputs.ts";

const verdictOf = (plan: { clusters: ReturnType<typeof expectPlan>["clusters"] }, name: string) =>
  plan.clusters.find(({ cluster }) => cluster === name);

describe("clusters", () => {
  test("uses every cluster in target_clusters, even if fewer are needed", () => {
    const plan = expectPlan({ deployment: { targetClusters: [clusterName("c02"), clusterName("c00")] } });
    expect(clustersIn(plan)).toEqual(["c00", "c02"]);
    expect(plan.replicas).toBe(1);
    expect(verdictOf(plan, "c01")).toMatchObject({ chosen: false, reasonsAgainst: [{ code: "not-named" }] });
  });

  test("uses an unhealthy cluster in target_clusters and reports the reasons against it", () => {
    const unhealthy = clusterOf("c01", 0.99, {
      breaker: "open",
      readingAgeMs: 3_600_000,
      problem: "connection refused",
    });
    const plan = expectPlan({
      clusters: [clusterOf("c00", 0.99), unhealthy],
      deployment: { targetClusters: [clusterName("c00"), clusterName("c01")] },
    });
    expect(clustersIn(plan)).toEqual(["c00", "c01"]);
    expect(verdictOf(plan, "c01")?.reasonsAgainst.map(({ code }) => code)).toEqual([
      "breaker-open",
      "stale",
      "unreachable",
    ]);
  });

  test("selects clusters by the label of target_env", () => {
    const edge = { labels: { env: "edge" } };
    const plan = expectPlan({
      clusters: [clusterOf("a", 0.999), clusterOf("b", 0.99, edge), clusterOf("c", 0.995, edge)],
      deployment: { environmentKind: "edge" },
    });
    expect(clustersIn(plan)).toEqual(["c"]);
    expect(verdictOf(plan, "a")?.reasonsAgainst).toMatchObject([{ code: "other-environment" }]);
    expect(verdictOf(plan, "b")?.reasonsAgainst).toMatchObject([{ code: "not-needed" }]);
    expect(verdictOf(plan, "c")?.reasonsFor.map(({ code }) => code)).toEqual(["environment", "reading", "best"]);
  });

  test("selects the most available allowed and healthy cluster otherwise", () => {
    const plan = expectPlan({
      clusters: [
        clusterOf("allowed", 0.991),
        clusterOf("better", 0.9999),
        clusterOf("open", 0.999, { breaker: "open" }),
        clusterOf("stale", 0.999, { readingAgeMs: 600_000 }),
        clusterOf("unhealthy", 0.999, {
          reading: { cluster: clusterName("unhealthy"), status: ClusterStatus.unhealthy, availability: 0.999 },
        }),
        { name: clusterName("unread"), labels: {}, breaker: "closed", problem: "deadline exceeded" },
        clusterOf("never-up", 0),
      ],
      deployment: {
        availableClusters: ["allowed", "open", "stale", "unhealthy", "unread", "never-up"].map(clusterName),
      },
    });
    expect(clustersIn(plan)).toEqual(["allowed"]);
    const against = Object.fromEntries(plan.clusters.map((one) => [one.cluster, one.reasonsAgainst[0]?.code]));
    expect(against).toEqual({
      allowed: undefined,
      better: "not-allowed",
      open: "breaker-open",
      stale: "stale",
      unhealthy: "unhealthy",
      unread: "no-reading",
      "never-up": "never-up",
    });
  });

  test("uses the share of ready nodes without a measured availability", () => {
    const reading = { cluster: clusterName("a"), status: ClusterStatus.healthy, nodeCount: 4, readyNodes: 3 };
    const plan = expectPlan({
      clusters: [clusterOf("a", 0, { reading })],
      deployment: { nfr: { availability: 0.75 } },
    });
    expect(plan).toMatchObject({ achievedAvailability: 0.75, clusters: [{ availability: 0.75 }] });
  });

  test("excludes a cluster that puts the target out of reach, with that reason", () => {
    const plan = expectPlan({ clusters: [clusterOf("good", 0.95), clusterOf("bad", 0.1)] });
    expect(clustersIn(plan)).toEqual(["good"]);
    expect(plan.replicas).toBe(3);
    expect(verdictOf(plan, "bad")?.reasonsAgainst).toMatchObject([{ code: "left-out" }]);
  });

  test("skips a named cluster without a reading if best effort is allowed and another is usable", () => {
    const unread = { name: clusterName("unread"), labels: {}, breaker: "closed", problem: "refused" } as const;
    const given = {
      clusters: [clusterOf("a", 0.99), unread],
      deployment: { targetClusters: [clusterName("a"), clusterName("unread")], allowBestEffort: true },
    };
    expect(clustersIn(expectPlan(given))).toEqual(["a"]);
  });
});

describe("what_if", () => {
  test("plans without a cluster that is assumed down", () => {
    const given = { clusters: clustersOf([0.999, 0.99]) };
    expect(clustersIn(expectPlan(given))).toEqual(["c00"]);
    const without = expectPlan({ ...given, whatIf: { clustersDown: [clusterName("c00")] } });
    expect(clustersIn(without)).toEqual(["c01"]);
    expect(verdictOf(without, "c00")?.reasonsAgainst).toMatchObject([{ code: "assumed-down" }]);
  });

  test("plans for an assumed target", () => {
    expect(expectPlan({ whatIf: { availability: 0.999 } })).toMatchObject({ replicas: 3, sizing: { target: 0.999 } });
  });

  test("plans with an assumed availability, even for a cluster without a reading", () => {
    const unread = { name: clusterName("unread"), labels: {}, breaker: "closed" } as const;
    const plan = expectPlan({
      clusters: [clusterOf("a", 0.5), unread],
      deployment: { nfr: { availability: 0.9 } },
      whatIf: { clusterAvailability: { unread: 0.999 } },
    });
    expect(clustersIn(plan)).toContain("unread");
  });
});

describe("scales", () => {
  const withNfr = (nfr: object, provision: object = {}) => ({
    functions: [
      functionOf("Order.place", { provision: { ...EMPTY_PROVISION, containerImage: "r/o:1", ...provision } }),
    ],
    deployment: { nfr },
  });

  test.each([
    { why: "availability needs the most", given: withNfr({ availability: 0.999 }), want: 3, basis: "availability" },
    { why: "min_scale is larger", given: withNfr({}, { minScale: 4 }), want: 4, basis: "user" },
    {
      why: "min_scale is smaller",
      given: withNfr({ availability: 0.999 }, { minScale: 1 }),
      want: 3,
      basis: "availability",
    },
    {
      why: "throughput needs the most, rounded up",
      given: withNfr({ minThroughputRps: 4001 }),
      want: 5,
      basis: "throughput",
    },
    {
      why: "throughput needs less than availability",
      given: withNfr({ minThroughputRps: 10 }),
      want: 1,
      basis: "availability",
    },
    {
      why: "max_scale is equal to the need",
      given: withNfr({ availability: 0.999 }, { maxScale: 3 }),
      want: 3,
      basis: "availability",
    },
  ])("$why", ({ given, want, basis }) => {
    for (const unit of expectPlan(given).units) expect(unit.functions).toMatchObject([{ minScale: want, basis }]);
  });

  test("a measurement replaces the assumed rate only in its cluster", () => {
    const plan = expectPlan({
      clusters: [
        clusterOf("a", 0.99, { recommendedReplicas: { "Order.place": { replicas: 7, isOutdated: false } } }),
        clusterOf("b", 0.99),
      ],
      deployment: { nfr: { minThroughputRps: 3000 }, targetClusters: ["a", "b"].map(clusterName) },
    });
    expect(plan.units.map(({ functions }) => functions[0]?.minScale)).toEqual([7, 3]);
  });

  test.each<{ why: string; measured: Partial<ReplicaRecommendation>; want: number; reason: string }>([
    {
      why: "the measured capacity of a replica replaces the assumed one",
      measured: { replicas: 2, rpsPerReplica: 400, basis: "rps_per_replica 400 over 10m", confidence: 0.85 },
      want: 8,
      reason: "measured in a, 3000 requests per second need 8 (rps_per_replica 400 over 10m, confidence 0.85)",
    },
    {
      why: "the demand is larger than the requirement",
      measured: { replicas: 2, rpsPerReplica: 1000, demandRps: 6500 },
      want: 7,
      reason: "measured in a, 3000 requests per second need 7",
    },
    {
      why: "the recommendation is larger because of latency",
      measured: { replicas: 9, rpsPerReplica: 1000 },
      want: 9,
      reason: "measured in a, 3000 requests per second need 9",
    },
    {
      why: "the recommendation only repeats the minimum of the last plan",
      measured: { replicas: 9, rpsPerReplica: 1500, isMinimum: true },
      want: 2,
      reason: "measured in a, 3000 requests per second need 2",
    },
    {
      why: "the recommendation is outdated",
      measured: { replicas: 9, isOutdated: true, validUntil: "2026-01-01T00:00:00Z" },
      want: 3,
      reason:
        "3000 requests per second need 3 at an assumed 1000 each (the recommendation of 9 expired at 2026-01-01T00:00:00Z)",
    },
    {
      why: "the recommendation has no expiry",
      measured: { replicas: 9, isOutdated: true },
      want: 3,
      reason: "3000 requests per second need 3 at an assumed 1000 each (the recommendation has no expiry)",
    },
  ])("plans $want replicas when $why", ({ measured, want, reason }) => {
    const recommendedReplicas = { "Order.place": { replicas: 1, isOutdated: false, ...measured } };
    const plan = expectPlan({
      clusters: [clusterOf("a", 0.99, { recommendedReplicas })],
      deployment: { nfr: { minThroughputRps: 3000 } },
    });
    expect(plan.units[0]?.functions[0]).toMatchObject({ minScale: want });
    expect(plan.units[0]?.functions[0]?.reason.split("; ")).toContain(reason);
  });

  test("a recommendation never lowers the scale below the minimum of the user or the need of availability", () => {
    const measurement = fc.record({
      replicas: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
      isOutdated: fc.boolean(),
      rpsPerReplica: fc.oneof(fc.double({ min: 0, max: 5000, noNaN: true }), fc.constantFrom(Number.NaN, -1)),
      demandRps: fc.double({ min: 0, max: 10_000, noNaN: true }),
      isMinimum: fc.boolean(),
    });
    const share = fc.constantFrom(0.9, 0.99, 0.999);
    fc.assert(
      fc.property(measurement, fc.integer({ min: 0, max: 9 }), share, (measured, minScale, availability) => {
        const given = withNfr({ minThroughputRps: 1, availability }, { minScale });
        const without = expectPlan({ ...given, clusters: [clusterOf("a", 0.99)] }).units[0]?.functions[0];
        const recommendedReplicas = { "Order.place": measured };
        const plan = expectPlan({ ...given, clusters: [clusterOf("a", 0.99, { recommendedReplicas })] });
        const planned = plan.units[0]?.functions[0]?.minScale ?? 0;
        expect(planned).toBeGreaterThanOrEqual(Math.max(minScale, plan.replicas));
        // One request per second needs one replica, so that the plan without measurements has no other need.
        expect(planned).toBeGreaterThanOrEqual(without?.minScale ?? Number.NaN);
        expect(Number.isSafeInteger(planned)).toBe(true);
      }),
    );
  });

  test.each([
    { why: "no throughput is required", nfr: {}, max: 10, want: 1 },
    { why: "max_scale limits it", nfr: { minThroughputRps: 1000 }, max: 5, want: 5 },
  ])("plans for a measured need of 7 when $why", ({ nfr, max, want }) => {
    const plan = expectPlan({
      ...withNfr(nfr, { maxScale: max }),
      clusters: [clusterOf("a", 0.99, { recommendedReplicas: { "Order.place": { replicas: 7, isOutdated: false } } })],
    });
    expect(plan.units[0]?.functions[0]?.minScale).toBe(want);
  });

  test("targets of a function size only that function, and the class is placed in enough clusters for it", () => {
    const two = {
      definition: { bindings: [bindingOf("place", "Order.place"), bindingOf("pay", "Order.pay")] },
      functions: [functionOf("Order.place"), functionOf("Order.pay")],
    };
    const plan = expectPlan({
      ...two,
      deployment: {
        functions: [
          { functionKey: functionKey("Order.place"), config: {} },
          { functionKey: functionKey("Order.pay"), nfr: { availability: 0.999, minThroughputRps: 4000 }, config: {} },
        ],
      },
    });
    expect(plan.replicas).toBe(1);
    expect(plan.units).toHaveLength(3);
    expect(plan.units[0]?.functions.map(({ minScale }) => minScale)).toEqual([1, 4]);
  });

  test("settings of the deployment override those of the package, field by field", () => {
    const [fn] = expectPlan({
      functions: [
        functionOf("Order.place", {
          provision: { wasmModuleUrl: "http://pm/1", maxConcurrency: 9, needHttp2: true, cpuRequest: "1" },
          config: { A: "1", B: "1" },
        }),
      ],
      deployment: {
        functions: [
          {
            functionKey: functionKey("Order.place"),
            provision: { ...EMPTY_PROVISION, containerImage: "r/o:2", maxScale: 4 },
            config: { B: "2" },
          },
        ],
      },
    }).shared.functions;
    expect(fn?.provision).toEqual({
      containerImage: "r/o:2",
      maxConcurrency: 9,
      needHttp2: true,
      cpuRequest: "1",
      maxScale: 4,
    });
    expect(fn?.config).toEqual({ A: "1", B: "2" });
  });

  test("a function that is bound twice runs once, and a function without code has no scale", () => {
    const plan = expectPlan({
      definition: { bindings: [bindingOf("a", "f"), bindingOf("b", "f"), bindingOf("c", "m")] },
      functions: [
        functionOf("f"),
        { key: functionKey("m"), functionType: FunctionType.macro, config: {}, disabled: false },
      ],
      deployment: { nfr: { availability: 0.999 } },
    });
    expect(plan.units[0]?.functions.map(({ functionKey: key, minScale, basis }) => [key, minScale, basis])).toEqual([
      ["f", 3, "availability"],
      ["m", 0, "none"],
    ]);
  });
});

describe("data grid", () => {
  const withState = { definition: { stateSpec: stateOf() } };

  test.each([
    { why: "the class has no state", given: {}, want: false },
    { why: "the class has state", given: withState, want: true },
    {
      why: "the deployment has odgm settings",
      given: { deployment: { odgm: { collections: [], nodeIds: {} } } },
      want: true,
    },
    { why: "addons exclude it", given: { ...withState, deployment: { addons: [] } }, want: false },
    { why: "addons include it", given: { deployment: { addons: ["odgm"] } }, want: true },
  ])("$why", ({ given, want }) => {
    expect(expectPlan(given).odgm !== undefined).toBe(want);
  });

  test("STRONG consistency needs raft, an odd count and as many nodes", () => {
    const plan = expectPlan({ definition: { stateSpec: STRONG_STATE } });
    expect(plan).toMatchObject({ replicas: 3, odgm: { shardType: ShardType.raft, replicaCount: 3 } });
    expect(Object.values(plan.odgm?.nodeIds ?? {}).map((ids) => ids.length)).toEqual([1, 1, 1]);
  });

  test("places the extra node in the most available cluster when replicas outnumber clusters", () => {
    const plan = expectPlan({
      definition: { stateSpec: STRONG_STATE },
      clusters: [clusterOf("a", 0.99), clusterOf("b", 0.999)],
      deployment: { nfr: { availability: 0.999 } },
    });
    const nodes = plan.odgm?.nodeIds ?? {};
    expect([nodes["a"]?.length, nodes["b"]?.length]).toEqual([1, 2]);
    expect(plan.achievedAvailability).toBeGreaterThanOrEqual(0.999);
    const [first, second] = nodes["b"] ?? [];
    expect(String(first).endsWith("0")).toBe(true);
    expect(second).toBe((first ?? 0) + 1);
  });

  test("assigns each partition to one node per replica, with its first node as primary", () => {
    const plan = expectPlan({
      definition: { stateSpec: STRONG_STATE },
      deployment: { odgm: { collections: ["x", "y"], partitionCount: 3, nodeIds: {} } },
    });
    const members = Object.values(plan.odgm?.nodeIds ?? {})
      .flat()
      .sort((a, b) => a - b);
    const [x, y] = ["x", "y"].map((name) => plan.odgm?.assignments[name] ?? []);
    expect(x?.map(({ primary, shardIds }) => [primary, shardIds])).toEqual([
      [members[0], [1, 2, 3]],
      [members[1], [4, 5, 6]],
      [members[2], [7, 8, 9]],
    ]);
    expect(y?.[0]).toMatchObject({ primary: members[0], shardIds: [10, 11, 12] });
    expect(x?.map(({ replica }) => replica[0])).toEqual(members);
    for (const { replica } of x ?? []) expect(new Set(replica)).toEqual(new Set(members));
  });

  test("uses the node ids of the user", () => {
    const plan = expectPlan({
      definition: { stateSpec: STRONG_STATE },
      deployment: { odgm: { collections: [], nodeIds: { [clusterName("c00")]: [7, 8], [clusterName("c01")]: [9] } } },
    });
    expect(plan.odgm?.nodeIds).toMatchObject({ c00: [7, 8], c01: [9] });
    expect(plan.odgm?.collections).toEqual(["shop.Order"]);
  });

  test.each([
    { shape: "singleton", rps: 9000, want: 1 },
    { shape: "collection", rps: 1, want: 4 },
    { shape: "data", rps: 1, want: 1 },
    { shape: "data", rps: 6000, want: 8 },
    { shape: "data", rps: undefined, want: 4 },
  ] as const)("partitions of $shape at $rps requests per second: $want", ({ shape, rps, want }) => {
    const plan = expectPlan({
      definition: { stateSpec: stateOf({ shape }) },
      deployment: { nfr: rps === undefined ? {} : { minThroughputRps: rps } },
    });
    expect(plan.odgm?.partitionCount).toBe(want);
  });

  test("raises an even replica_count that misses the target, and reports a smaller count that is more available", () => {
    const odgm = { collections: [], nodeIds: {}, replicaCount: 2 };
    expect(expectPlan({ ...withState, deployment: { odgm } }).replicas).toBe(3);
    const enough = expectPlan({ ...withState, deployment: { odgm, nfr: { availability: 0.98 } } });
    expect(enough.replicas).toBe(2);
    expect(enough.decisions.map(({ outcome }) => outcome)).toContainEqual(
      expect.stringContaining("1 replica would reach 0.99"),
    );
  });

  describe("of a running class", () => {
    const copies = (replicaCount: number) => ({ odgm: { collections: [], nodeIds: {}, replicaCount } });
    const running = expectPlan({ ...withState, deployment: { ...copies(2), nfr: { availability: 0.98 } } });

    test.each([
      { change: "a throughput", deployment: { ...copies(2), nfr: { availability: 0.98, minThroughputRps: 5 } } },
      { change: "a latency", deployment: { ...copies(2), nfr: { availability: 0.98, maxLatencyMs: 10 } } },
      { change: "more copies", deployment: copies(3) },
    ])("keeps its layout and its shards with $change", ({ deployment }) => {
      const { odgm } = expectPlan({ ...withState, deployment, previous: running });
      expect(odgm).toMatchObject({ partitionCount: 4, collections: running.odgm?.collections });
      for (const [name, partitions] of Object.entries(running.odgm?.assignments ?? {})) {
        for (const [index, { replica, shardIds }] of partitions.entries()) {
          const now = odgm?.assignments[name]?.[index];
          expect(now?.replica.slice(0, replica.length)).toEqual(replica);
          expect(now?.shardIds.slice(0, shardIds.length)).toEqual(shardIds);
        }
      }
    });

    test.each([
      { field: "partition_count", odgm: { partitionCount: 8 }, text: "has 4 partitions, not 8" },
      { field: "collections", odgm: { collections: ["other"] }, text: "stores objects in shop.Order, not in other" },
      { field: "collections", odgm: { collections: ["shop.Order", "new"] }, text: "not in new and shop.Order" },
    ])("refuses another $field, and says what allows it", ({ field, odgm: stated, text }) => {
      const odgm = { collections: [], nodeIds: {}, ...stated };
      const refusal = expectRefusal({ ...withState, deployment: { odgm }, previous: running });
      expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: `$.odgm.${field}` }] });
      expect(refusal.message).toContain(text);
      expect(refusal.message).toContain("odgm.allow_layout_change");
      const allowed = { ...odgm, allowLayoutChange: true };
      expect(expectPlan({ ...withState, deployment: { odgm: allowed }, previous: running }).odgm).toMatchObject(stated);
    });

    test("refuses another shard type, but not another name of it", () => {
      const of = (shardType: ShardType) => ({ odgm: { collections: [], nodeIds: {}, shardType } });
      const single = expectPlan({ ...withState, deployment: of(ShardType.single) });
      expect(expectRefusal({ ...withState, deployment: of(ShardType.raft), previous: single })).toMatchObject({
        violations: [{ path: "$.odgm.shard_type" }],
      });
      expectPlan({ ...withState, deployment: of(ShardType.basic), previous: single });
    });

    test("refuses more copies of objects that are stored without replication", () => {
      const single = expectPlan(withState);
      const needed = { ...withState, deployment: { nfr: { availability: 0.9999 } }, previous: single };
      expect(expectRefusal(needed)).toMatchObject({ violations: [{ path: "$.nfr_requirements.availability" }] });
      const assumed = expectPlan({ ...withState, previous: single, whatIf: { availability: 0.9999 } });
      expect(assumed.decisions.map(({ outcome }) => outcome)).toContainEqual(
        expect.stringContaining("an apply would be refused: This plan loses all objects of shop.Order"),
      );
      const odgm = { collections: [], nodeIds: {}, shardType: ShardType.raft, allowLayoutChange: true };
      const allowed = expectPlan({ ...needed, deployment: { ...needed.deployment, odgm } });
      expect(allowed.odgm).toMatchObject({ shardType: ShardType.raft, replicaCount: allowed.replicas });
    });

    test("refuses to remove the state store", () => {
      expect(expectRefusal({ ...withState, deployment: { addons: [] }, previous: running })).toMatchObject({
        violations: [{ path: "$.odgm" }],
      });
      const odgm = { collections: [], nodeIds: {}, allowLayoutChange: true };
      expect(expectPlan({ ...withState, deployment: { addons: [], odgm }, previous: running }).odgm).toBeUndefined();
    });
  });
});
