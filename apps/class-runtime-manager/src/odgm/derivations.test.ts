import { describe, expect, test } from "vitest";
import { containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import { collectionsOf, statedReplicas } from "./plan/collections.ts";
import { eventsOf } from "./plan/events.ts";
import { gridNodes } from "./plan/nodes.ts";
import { partitionsFor } from "./plan/collections.ts";
import { shardTypeFor } from "./plan/collections.ts";

test.each([
  [undefined, 4],
  [1, 1],
  [1000, 1],
  [1001, 4],
  [5000, 4],
  [5001, 8],
  [20_000, 8],
  [20_001, 16],
])("%s requests per second make %s partitions", (rps, partitions) => {
  expect(partitionsFor(rps)).toBe(partitions);
});

test("uses the partition strategies of the environment", () => {
  expect(partitionsFor(10, { low_throughput: 2, standard: 3, high_throughput: 5, very_high: 7 })).toBe(2);
});

test.each([
  { copies: 1, demand: {}, want: "basic", case: "basic for one replica" },
  { copies: 3, demand: {}, want: "raft", case: "raft for several replicas" },
  { copies: 3, demand: { latencyMs: 49 }, want: "basic", case: "latency too low for consensus" },
  { copies: 3, demand: { latencyMs: 50 }, want: "raft", case: "at the latency threshold" },
  { copies: 3, demand: { consistency: "eventual" }, want: "mst", case: "mst for eventual consistency" },
  { copies: 1, demand: { consistency: "strong" }, want: "raft", case: "raft for strong consistency" },
  {
    copies: 3,
    demand: { consistency: "strong", latencyMs: 10 },
    want: "raft",
    case: "strong consistency takes precedence over latency",
  },
] as const)("$copies copies, $demand: $want, $case", ({ copies, demand, want }) => {
  expect(shardTypeFor(copies, demand)).toBe(want);
});

const functions = [containerFunction("Order.place")];

function collections(spec: object, nodes = 3, environment?: object) {
  const given: PartialInput = {
    spec: { package_class_key: "shop.Order", functions, ...spec },
    ...(environment === undefined ? {} : { environment: { name: "e", spec: { kind: "cloud", odgm: environment } } }),
  };
  return collectionsOf(inputOf(given), nodes);
}

const row = (...args: Parameters<typeof collections>) =>
  collections(...args).collections.map(({ name, partitionCount, replicaCount, shardType, persistent }) => [
    name,
    partitionCount,
    replicaCount,
    shardType,
    persistent,
  ]);

describe("collections of a running class", () => {
  const stored = { partitions: new Map([["Order_data", 4]]), shardType: "raft" as const };
  const kept = (spec: object, environment?: object) => {
    const given: PartialInput = {
      spec: { package_class_key: "shop.Order", functions, state_spec: {}, ...spec },
      ...(environment === undefined ? {} : { environment: { name: "e", spec: { kind: "cloud", odgm: environment } } }),
    };
    const { collections: all, warnings } = collectionsOf({ ...inputOf(given), storedLayout: stored }, 3);
    return { warnings, layout: all.map(({ partitionCount, shardType }) => [partitionCount, shardType]) };
  };

  test.each([
    { change: "throughput", spec: { nfr_requirements: { throughput: 5 } } },
    { change: "latency", spec: { nfr_requirements: { latency: 10 } } },
    { change: "replicas", spec: { odgm_config: { replica_count: 1 } } },
    {
      change: "templates of the environment",
      environment: { collection_templates: { normal_state: { partition_count: 9, shard_type: "mst" } } },
    },
    { change: "defaults of the environment", environment: { defaults: { shard_type: "mst" } } },
    {
      change: "partition strategies of the environment",
      environment: { partition_strategies: { low_throughput: 2, standard: 3, high_throughput: 5, very_high: 7 } },
    },
  ])("keep partitions and shard type when the $change change", ({ spec = {}, environment }) => {
    expect(kept(spec, environment)).toEqual({ layout: [[4, "raft"]], warnings: [] });
  });

  test("take what the class states", () => {
    expect(kept({ odgm_config: { partition_count: 8, shard_type: "mst" } }).layout).toEqual([[8, "mst"]]);
  });

  test("keep one copy of each object with a warning when replicas are added", () => {
    const single = { ...stored, shardType: "basic" as const };
    const given = inputOf({ spec: { package_class_key: "shop.Order", functions, state_spec: {} } });
    const { collections: all, warnings } = collectionsOf({ ...given, storedLayout: single }, 3);
    expect(all).toMatchObject([{ shardType: "basic", replicaCount: 2 }]);
    expect(warnings).toMatchObject([{ message: expect.stringContaining("needs shard type raft and keeps basic") }]);
  });
});

describe("collections", () => {
  test.each([
    { case: "plain state", got: row({ state_spec: {} }), want: [["Order_data", 4, 2, "raft", false]] },
    {
      case: "a singleton has one partition",
      got: row({ state_spec: { shape: "singleton", persistent: true } }),
      want: [["Order_singleton", 1, 3, "raft", true]],
    },
    {
      case: "a collection has at least four",
      got: row({ state_spec: { shape: "collection" }, nfr_requirements: { throughput: 10 } }),
      want: [["Order_collection", 4, 3, "raft", false]],
    },
    {
      case: "throughput counts",
      got: row({ state_spec: {}, nfr_requirements: { throughput: 30_000 } }),
      want: [["Order_data", 16, 2, "raft", false]],
    },
    {
      case: "limits unstated replicas to the number of nodes",
      got: row({ state_spec: {} }, 1),
      want: [["Order_data", 4, 1, "basic", false]],
    },
    {
      case: "one collection for the class without state and names",
      got: row({ addons: ["odgm"] }, 1),
      want: [["shop.Order", 4, 1, "basic", false]],
    },
    {
      case: "names alone",
      got: row({ odgm_config: { collections: ["a", "b"], partition_count: 2, replica_count: 1 } }),
      want: [
        ["a", 2, 1, "basic", false],
        ["b", 2, 1, "basic", false],
      ],
    },
    {
      case: "a collection's own settings win",
      got: row({
        odgm_config: {
          collections: [
            { name: "a", partition_count: 9, replica_count: 2, shard_type: "mst", persistence_mode: "persistent" },
          ],
          partition_count: 2,
          replica_count: 1,
          shard_type: "raft",
        },
      }),
      want: [["a", 9, 2, "mst", true]],
    },
    {
      case: "the allocation of the package manager",
      got: row({ state_spec: {}, resource_allocation: { replication_factor: 1 } }),
      want: [["Order_data", 4, 1, "basic", false]],
    },
    {
      case: "settings of the environment by shape",
      got: row({ state_spec: { shape: "singleton" } }, 3, {
        collection_templates: {
          singleton_state: { partition_count: 2, replica_count: 2, persistence_mode: "persistent" },
        },
      }),
      want: [["Order_singleton", 2, 2, "raft", true]],
    },
    {
      case: "the class takes precedence over its environment",
      got: row({ state_spec: {}, odgm_config: { partition_count: 3, replica_count: 1, shard_type: "none" } }, 3, {
        collection_templates: { normal_state: { partition_count: 2, replica_count: 2 } },
      }),
      want: [["Order_data", 3, 1, "none", false]],
    },
    {
      case: "defaults of the environment",
      got: row({ state_spec: {} }, 3, { defaults: { replication_factor: 1, shard_type: "mst" } }),
      want: [["Order_data", 4, 1, "mst", false]],
    },
    {
      case: "consistency of the environment",
      got: row({ state_spec: {} }, 1, { defaults: { consistency_level: "strong" } }),
      want: [["Order_data", 4, 1, "raft", false]],
    },
    {
      case: "patterns of batches need four partitions",
      got: row({
        odgm_config: { collections: [{ name: "a", access_patterns: ["read_write", "batch_read"] }, "b"] },
        nfr_requirements: { throughput: 10 },
      }),
      want: [
        ["a", 4, 3, "raft", false],
        ["b", 1, 3, "raft", false],
      ],
    },
    {
      case: "a stated partition count before patterns",
      got: row({ odgm_config: { collections: [{ name: "a", access_patterns: ["batch_write"], partition_count: 2 }] } }),
      want: [["a", 2, 3, "raft", false]],
    },
    {
      case: "patterns of the environment",
      got: row({ state_spec: {}, nfr_requirements: { throughput: 10 } }, 1, {
        collection_templates: { normal_state: { access_patterns: ["BatchRead"] } },
      }),
      want: [["Order_data", 4, 1, "basic", false]],
    },
  ])("$case", ({ got, want }) => {
    expect(got).toEqual(want);
  });

  test.each([
    { patterns: ["read_only", "batch_read"], want: "read_only" },
    { patterns: ["write_only"], want: "write_only" },
    { patterns: ["read_only", "write_only"], want: undefined },
    { patterns: ["read_write", "batch_read"], want: undefined },
    { patterns: [], want: undefined },
  ] as const)("patterns $patterns limit access to $want", ({ patterns, want }) => {
    const settings = [{ name: "a", access_patterns: patterns }];
    expect(collections({ odgm_config: { collections: settings } }).collections[0]?.accessMode).toBe(want);
  });

  test("warns about settings that the nodes cannot provide", () => {
    const { warnings } = collections({
      state_spec: { consistency_model: "STRONG" },
      odgm_config: { replica_count: 5, shard_type: "none" },
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      "Order_data requests 5 replicas, but the state store has 3 nodes",
      "Order_data needs strong consistency, which shard type none does not provide",
    ]);
  });

  test("derives the number of nodes from the stated replicas", () => {
    const copies = (odgm_config: object) => statedReplicas(inputOf({ spec: { functions, odgm_config } }));
    expect(copies({})).toBeUndefined();
    expect(copies({ replication_factor: 3 })).toBe(3);
    expect(copies({ replica_count: 2, collections: ["a", { name: "b", replica_count: 5 }] })).toBe(5);
  });
});

describe("nodes", () => {
  const nodes = (odgm_config: object, replicas = 1, target_env?: string) =>
    gridNodes(
      inputOf({ spec: { functions, odgm_config, ...(target_env === undefined ? {} : { origin: { target_env } }) } }),
      replicas,
    );

  test("generates stable ids that differ between classes", () => {
    const three = nodes({}, 3);
    expect(three).toEqual(nodes({}, 3));
    expect(three.ids.map((id) => String(id))).toEqual([0, 1, 2].map((index) => `${three.prefix}${index}`));
    expect(three.members).toEqual(three.ids);
    expect(gridNodes(inputOf({ name: "other", spec: { functions } }), 1).prefix).not.toBe(three.prefix);
    expect(Number.isSafeInteger(nodes({}, 100).ids[99])).toBe(true);
  });

  test("derives other ids from another prefix, of the class before its environment", () => {
    const prefixOf = (odgm_config: object, ofEnvironment?: string) => {
      const odgm = ofEnvironment === undefined ? {} : { defaults: { node_id_prefix: ofEnvironment } };
      const environment = { name: "e", spec: { kind: "cloud" as const, odgm } };
      return gridNodes(inputOf({ spec: { functions, odgm_config }, environment }), 1).prefix;
    };
    const [none, edge] = [prefixOf({}), prefixOf({ node_id_prefix: "crm-edge" })];
    expect(none).toBe(nodes({}).prefix);
    expect(edge).not.toBe(none);
    expect(prefixOf({}, "crm-edge")).toBe(edge);
    expect(prefixOf({ node_id_prefix: "crm-edge" }, "crm-prod")).toBe(edge);
    expect(nodes({ node_id: 7, node_id_prefix: "crm-edge" }).ids).toEqual([7]);
  });

  test.each([
    {
      case: "one id for this cluster",
      config: { node_id: 7, env_node_ids: { here: [7], there: [3, 5] } },
      ids: [7],
      members: [3, 5, 7],
    },
    {
      case: "by its own id without a cluster name",
      config: { node_id: 7, env_node_ids: { a: [9, 7], b: [1] } },
      ids: [7, 9],
      members: [1, 7, 9],
    },
    { case: "an id alone", config: { node_id: 7 }, ids: [7], members: [7] },
  ])("fixed: $case", ({ config, ids, members }) => {
    expect(nodes(config, 5)).toMatchObject({ kind: "fixed", ids, members });
  });

  test("runs given ids with a common prefix in one workload", () => {
    const given = { env_node_ids: { here: [4712, 4710, 4711], there: [9] } };
    expect(nodes(given, 1, "here")).toEqual({
      kind: "numbered",
      ids: [4710, 4711, 4712],
      prefix: "471",
      members: [9, 4710, 4711, 4712],
    });
    for (const here of [
      [4711, 4712],
      [4710, 4712],
      [0, 1],
      [10, 2],
    ]) {
      expect(nodes({ env_node_ids: { here } }, 1, "here").kind).toBe("fixed");
    }
  });

  test("finds several fixed ids by the name of the cluster", () => {
    expect(nodes({ env_node_ids: { here: [4, 2], there: [3] } }, 1, "here")).toMatchObject({
      kind: "fixed",
      ids: [4, 2],
      members: [2, 3, 4],
    });
  });
});

describe("events", () => {
  const binding = { name: "on", function_key: "Order.place", trigger_on_state_change: true, async_execution: true };

  test.each([
    { nfr: undefined, depth: 10, timeout: 5000 },
    { nfr: { max_latency: 99 }, depth: 5, timeout: 1000 },
    { nfr: { max_latency: 100 }, depth: 10, timeout: 1000 },
    { nfr: { max_latency: 9001 }, depth: 10, timeout: 4500 },
  ])("$nfr: depth $depth, timeout $timeout", ({ nfr, depth, timeout }) => {
    const spec = { functions, ...(nfr === undefined ? {} : { nfr_requirements: nfr }) };
    expect(eventsOf(inputOf({ spec: { ...spec, function_bindings: [binding] } }))).toMatchObject({
      enabled: true,
      maxTriggerDepth: depth,
      triggerTimeoutMs: timeout,
    });
    const disabled = { enabled: false, maxTriggerDepth: 10, triggerTimeoutMs: 5000 };
    expect(eventsOf(inputOf({ spec }))).toMatchObject(disabled);
  });

  test("converts a state-change binding to a trigger on the collections of the class", () => {
    expect(
      eventsOf(inputOf({ spec: { package_class_key: "shop.Order", functions, function_bindings: [binding] } })),
    ).toMatchObject({
      enabled: true,
      triggers: [
        {
          function_key: "Order.place",
          trigger_type: "state_change",
          collection_filters: ["Order_*"],
          async_execution: true,
        },
      ],
    });
  });

  test("keeps one trigger per function and type; the class takes precedence and can disable all", () => {
    const event_triggers = [{ function_key: "Order.place", collection_filters: ["x"] }];
    const { enabled, triggers } = eventsOf(
      inputOf({
        spec: {
          functions,
          function_bindings: [binding],
          odgm_config: { event_processing: { enabled: false, event_triggers } },
        },
      }),
    );
    expect(enabled).toBe(false);
    expect(triggers).toMatchObject([{ collection_filters: ["x"] }]);
  });
});
