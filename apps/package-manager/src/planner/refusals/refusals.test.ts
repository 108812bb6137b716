import { EMPTY_PROVISION, ShardType } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { planDeployment } from "../plan.ts";
import {
  clusterName,
  clusterOf,
  clustersOf,
  functionKey,
  functionOf,
  inputOf,
  expectPlan,
  expectRefusal,
  STRONG_STATE,
} from "../testing/plan-inputs.ts";

describe("refusals", () => {
  const unread = { name: clusterName("unread"), labels: {}, breaker: "closed", problem: "connection refused" } as const;

  test.each([
    {
      why: "an unknown class",
      given: { deployment: { classKey: "Nope" as never } },
      want: { kind: "invalid", violations: [{ path: "$.class_key", fix: "use one of Order" }] },
    },
    {
      why: "unknown cluster names, all reported",
      given: {
        deployment: {
          targetClusters: ["c00", "x"].map(clusterName),
          clusterTemplates: { y: "edge" } as never,
          odgm: { collections: [], nodeIds: { v: [1] } },
        },
        whatIf: { clustersDown: [clusterName("z")], clusterAvailability: { w: 1 } },
      },
      want: {
        kind: "invalid",
        violations: [
          { path: "$.target_clusters[1]" },
          { path: "$.env_templates.y" },
          { path: "$.odgm.env_node_ids.v" },
          { path: "$.what_if.clusters_down[0]" },
          { path: "$.what_if.cluster_availability.w" },
        ],
      },
    },
    {
      why: "an unknown class and an unknown function, both reported",
      given: {
        deployment: {
          classKey: "Nope" as never,
          functions: [{ functionKey: functionKey("Order.nope"), config: {} }],
        },
      },
      want: { kind: "invalid", violations: [{ path: "$.class_key" }, { path: "$.functions[0].function_key" }] },
    },
    {
      why: "an unknown function and a duplicate",
      given: {
        deployment: {
          functions: ["Order.nope", "Order.place", "Order.place"].map((key) => ({
            functionKey: functionKey(key),
            config: {},
          })),
        },
      },
      want: {
        kind: "invalid",
        violations: [{ path: "$.functions[0].function_key" }, { path: "$.functions[2].function_key" }],
      },
    },
    {
      why: "a function without code",
      given: { functions: [{ ...functionOf("Order.place"), provision: EMPTY_PROVISION }] },
      want: { kind: "invalid", violations: [{ path: "$.functions" }] },
    },
    {
      why: "max_scale below the need of availability",
      given: {
        deployment: {
          nfr: { availability: 0.999 },
          functions: [
            { functionKey: functionKey("Order.place"), provision: { ...EMPTY_PROVISION, maxScale: 2 }, config: {} },
          ],
        },
      },
      want: { kind: "invalid", violations: [{ path: "$.functions[0].provision_config.max_scale" }] },
    },
    {
      why: "max_scale of the package below the need of throughput",
      given: {
        functions: [
          functionOf("Order.place", { provision: { ...EMPTY_PROVISION, containerImage: "r/o:1", maxScale: 2 } }),
        ],
        deployment: { nfr: { minThroughputRps: 3000 } },
      },
      want: { kind: "invalid", violations: [{ path: "$.functions" }] },
    },
    {
      why: "STRONG consistency with an unsuitable shard type",
      given: {
        definition: { stateSpec: STRONG_STATE },
        deployment: { odgm: { collections: [], nodeIds: {}, shardType: ShardType.mst } },
      },
      want: { kind: "invalid", violations: [{ path: "$.odgm.shard_type" }] },
    },
    {
      why: "duplicate and too few node ids",
      given: {
        definition: { stateSpec: STRONG_STATE },
        deployment: { odgm: { collections: [], nodeIds: { c00: [1], c01: [1], c02: [1] } } },
      },
      want: {
        kind: "invalid",
        violations: [
          { path: "$.odgm.env_node_ids.c01[0]" },
          { path: "$.odgm.env_node_ids.c02[0]" },
          { path: "$.odgm.env_node_ids" },
        ],
      },
    },
    {
      why: "a replica_count above the cap",
      given: { deployment: { odgm: { collections: [], nodeIds: {}, replicaCount: 51 } } },
      want: { kind: "invalid", violations: [{ path: "$.odgm.replica_count" }] },
    },
    {
      why: "more shards than the limit",
      given: { deployment: { odgm: { collections: [], nodeIds: {}, partitionCount: 4_294_967_295 } } },
      want: { kind: "invalid", violations: [{ path: "$.odgm.partition_count" }] },
    },
    {
      why: "a disabled package",
      given: { package: { disabled: true } },
      want: { kind: "disabled", subject: "package shop" },
    },
    {
      why: "a disabled class",
      given: { definition: { disabled: true } },
      want: { kind: "disabled", subject: "class Order" },
    },
    {
      why: "a disabled function",
      given: { functions: [functionOf("Order.place", { disabled: true })] },
      want: { kind: "disabled", subject: "function Order.place" },
    },
    { why: "no registered cluster", given: { clusters: [] }, want: { kind: "no-cluster" } },
    {
      why: "no cluster with the label",
      given: { deployment: { environmentKind: "edge" } },
      want: { kind: "no-cluster", message: expect.stringContaining("env: edge") },
    },
    {
      why: "no cluster with a reading",
      given: { clusters: [unread] },
      want: {
        kind: "no-usable-cluster",
        unusable: ["unread"],
        assumed: false,
        message: expect.stringContaining("connection refused"),
      },
    },
    {
      why: "every cluster assumed to be down",
      given: { clusters: [clusterOf("a", 0.99)], whatIf: { clustersDown: [clusterName("a")] } },
      want: {
        kind: "no-usable-cluster",
        unusable: ["a"],
        assumed: true,
        message: expect.stringMatching(/assumed to be down.*assume fewer/),
      },
    },
    {
      why: "one cluster assumed to be down and one without a reading",
      given: { clusters: [clusterOf("a", 0.99), unread], whatIf: { clustersDown: [clusterName("a")] } },
      want: { kind: "no-usable-cluster", unusable: ["a", "unread"], assumed: false },
    },
    {
      why: "a named cluster assumed to be down",
      given: {
        clusters: [clusterOf("a", 0.99), clusterOf("b", 0.99)],
        deployment: { targetClusters: ["a", "b"].map(clusterName) },
        whatIf: { clustersDown: [clusterName("a")] },
      },
      want: { kind: "no-usable-cluster", unusable: ["a"], assumed: true },
    },
    {
      why: "a named cluster without a reading",
      given: {
        clusters: [clusterOf("a", 0.99), unread],
        deployment: { targetClusters: ["a", "unread"].map(clusterName) },
      },
      want: { kind: "no-usable-cluster", unusable: ["unread"] },
    },
    {
      why: "a cluster that reports no nodes",
      given: {
        clusters: [
          clusterOf("a", 1, { reading: { cluster: clusterName("a"), status: "healthy", nodeCount: 0, readyNodes: 0 } }),
        ],
      },
      want: { kind: "no-usable-cluster", message: expect.stringContaining("no nodes") },
    },
    {
      why: "throughput above the cap",
      given: { deployment: { nfr: { minThroughputRps: 60_000 } } },
      want: { kind: "throughput-out-of-reach", neededReplicas: 60, maxReplicas: 50 },
    },
    {
      why: "the target of a function",
      given: {
        clusters: [clusterOf("a", 0.9)],
        settings: { maxReplicas: 3 },
        deployment: {
          nfr: { availability: 0.9 },
          functions: [
            { functionKey: functionKey("Order.place"), qos: { throughput: 0, availability: 0.99 }, config: {} },
          ],
        },
      },
      want: { kind: "out-of-reach", subject: "Order.place", target: 0.99, best: { replicas: 3 } },
    },
  ])("$why", ({ given, want }) => {
    expect(expectRefusal(given)).toMatchObject(want);
  });

  const names = (...list: string[]) => list.map(clusterName);
  test.each([
    {
      why: "lower the target",
      given: {},
      want: { kind: "lower-target", targets: [{ subject: "class", availability: 0.972 }] },
    },
    { why: "raise the cap", given: {}, want: { kind: "raise-cap", maxReplicas: 5 } },
    { why: "add a cluster", given: {}, want: { kind: "add-cluster", availability: 0.9412 } },
    { why: "allow best effort", given: {}, want: { kind: "allow-best-effort" } },
    {
      why: "restore a cluster",
      given: { clusters: [clusterOf("a", 0.9), clusterOf("b", 0.99, { breaker: "open" })] },
      want: { kind: "restore-cluster", cluster: "b" },
    },
    {
      why: "remove a named cluster",
      given: {
        clusters: [clusterOf("a", 0.99), clusterOf("b", 0.1)],
        deployment: { targetClusters: names("a", "b"), nfr: { availability: 0.99 } },
      },
      want: { kind: "leave-out", clusters: ["b"] },
    },
    {
      why: "lower replica_count",
      given: {
        clusters: [clusterOf("a", 0.99)],
        settings: { maxReplicas: 2 },
        deployment: { odgm: { collections: [], nodeIds: {}, replicaCount: 2 } },
      },
      want: { kind: "lower-replica-count", replicaCount: 1 },
    },
  ])("suggests to $why for a target out of reach", ({ given, want }) => {
    const refusal = expectRefusal({ clusters: [clusterOf("a", 0.9)], settings: { maxReplicas: 4 }, ...given });
    expect(refusal).toMatchObject({ kind: "out-of-reach" });
    expect("remedies" in refusal && refusal.remedies).toContainEqual(expect.objectContaining(want));
  });

  test("suggests only remedies that are sufficient", () => {
    const refusal = expectRefusal({ clusters: [clusterOf("a", 0.4)] });
    expect("remedies" in refusal && refusal.remedies.map(({ kind }) => kind)).toEqual([
      "lower-target",
      "add-cluster",
      "allow-best-effort",
    ]);
  });

  test("suggests lowering all missed targets together", () => {
    const refusal = expectRefusal({
      clusters: [clusterOf("a", 0.4)],
      deployment: {
        functions: [{ functionKey: functionKey("Order.place"), nfr: { availability: 0.999 }, config: {} }],
      },
    });
    expect("remedies" in refusal && refusal.remedies[0]).toEqual({
      kind: "lower-target",
      targets: [
        { subject: "class", availability: 0.4 },
        { subject: "Order.place", availability: 0.4 },
      ],
      text: "lower the targets to at most 0.4 for class and 0.4 for Order.place",
    });
  });

  test("best effort plans the closest result and is marked", () => {
    const given = {
      clusters: [clusterOf("a", 0.9)],
      settings: { maxReplicas: 4 },
      deployment: { allowBestEffort: true },
    };
    const plan = expectPlan(given);
    expect(plan).toMatchObject({ bestEffort: true, replicas: 3 });
    expect(plan.achievedAvailability).toBeCloseTo(0.972, 12);
    const fast = expectPlan({ deployment: { allowBestEffort: true, nfr: { minThroughputRps: 60_000 } } });
    expect(fast).toMatchObject({ bestEffort: true, units: [{ functions: [{ minScale: 50 }] }] });
  });

  test("best effort meets a reachable target", () => {
    expect(expectPlan({ deployment: { allowBestEffort: true } }).bestEffort).toBe(false);
  });

  test("a refusal does not modify its input", () => {
    const input = inputOf({ clusters: clustersOf([0.9, 0.2]), deployment: { nfr: { availability: 1 } } });
    const before = JSON.stringify(input);
    planDeployment(input);
    expect(JSON.stringify(input)).toBe(before);
  });
});
