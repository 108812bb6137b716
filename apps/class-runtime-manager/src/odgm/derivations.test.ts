import { describe, expect, test } from "vitest";
import { containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import { collectionsOf, statedReplicas } from "./plan/collections.ts";
import { eventsOf, triggerWarnings } from "./plan/events.ts";
import { gridNodes, nodeIds } from "./plan/nodes.ts";
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
  { copies: 3, demand: { latencyMs: 1 }, want: "raft", case: "copies replicate, whatever the latency" },
  { copies: 3, demand: { consistency: "eventual" }, want: "mst", case: "mst for eventual consistency" },
  { copies: 1, demand: { consistency: "strong" }, want: "raft", case: "raft for strong consistency" },
  {
    copies: 3,
    demand: { consistency: "strong", latencyMs: 10 },
    want: "raft",
    case: "strong consistency with low latency",
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
      odgm_config: { replica_count: 5, shard_type: "mst" },
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      "Order_data requests 5 replicas, but the state store has 3 nodes",
      "Order_data needs strong consistency, which shard type mst does not provide",
    ]);
  });

  test.each(["none", "basic", "single"] as const)("gives shard type %s one copy on one node", (shard_type) => {
    const spec = { state_spec: {}, odgm_config: { replica_count: 3, shard_type } };
    const { collections: all, warnings } = collections(spec);
    expect(all).toMatchObject([{ shardType: shard_type, replicaCount: 1 }]);
    expect(warnings).toMatchObject([{ message: expect.stringContaining("one copy of each object instead of 3") }]);
    expect(statedReplicas(inputOf({ spec: { functions, ...spec } }))).toBe(1);
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
      nodeIds(
        inputOf({ spec: { functions, odgm_config, ...(target_env === undefined ? {} : { origin: { target_env } }) } }),
        replicas,
        "fresh",
      ),
    );

  test("generates stable ids that differ between classes", () => {
    const three = nodes({}, 3);
    expect(three).toEqual(nodes({}, 3));
    expect(three.nodes.map((id) => String(id))).toEqual([0, 1, 2].map((index) => `${three.prefix}${index}`));
    expect(three.members).toEqual(three.nodes);
    expect(gridNodes(nodeIds(inputOf({ name: "other", spec: { functions } }), 1, "fresh")).prefix).not.toBe(
      three.prefix,
    );
    expect(Number.isSafeInteger(nodes({}, 100).nodes[99])).toBe(true);
  });

  test("derives other ids from another prefix, of the class before its environment", () => {
    const prefixOf = (odgm_config: object, ofEnvironment?: string) => {
      const odgm = ofEnvironment === undefined ? {} : { defaults: { node_id_prefix: ofEnvironment } };
      const environment = { name: "e", spec: { kind: "cloud" as const, odgm } };
      return gridNodes(nodeIds(inputOf({ spec: { functions, odgm_config }, environment }), 1, "fresh")).prefix;
    };
    const [none, edge] = [prefixOf({}), prefixOf({ node_id_prefix: "crm-edge" })];
    expect(none).toBe(nodes({}).prefix);
    expect(edge).not.toBe(none);
    expect(prefixOf({}, "crm-edge")).toBe(edge);
    expect(prefixOf({ node_id_prefix: "crm-edge" }, "crm-prod")).toBe(edge);
    expect(nodes({ node_id: 7, node_id_prefix: "crm-edge" }).nodes).toEqual([7]);
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
    expect(nodes(config, 5)).toMatchObject({ kind: "fixed", nodes: ids, members });
  });

  test("runs given ids with a common prefix in one workload, which can grow from one node", () => {
    const given = { env_node_ids: { here: [4712, 4710, 4711], there: [9] } };
    expect(nodes(given, 1, "here")).toEqual({
      kind: "numbered",
      nodes: [4710, 4711, 4712],
      prefix: "471",
      members: [9, 4710, 4711, 4712],
    });
    expect(nodes({ env_node_ids: { here: [4710] } }, 1, "here").kind).toBe("numbered");
    for (const here of [
      [4711, 4712],
      [4710, 4712],
      [0, 1],
      [10, 2],
    ]) {
      expect(nodes({ env_node_ids: { here } }, 1, "here").kind).toBe("fixed");
    }
  });
});

describe("events", () => {
  test("are on with defaults that do not depend on requirements", () => {
    const spec = { functions, nfr_requirements: { max_latency: 9 } };
    expect(eventsOf(inputOf({ spec }))).toEqual({ enabled: true, maxTriggerDepth: 10, triggerTimeoutMs: 5000 });
  });

  test("take the settings of the class before those of its environment", () => {
    const environment = {
      name: "e",
      spec: {
        kind: "cloud" as const,
        odgm: { defaults: { event_processing: { max_trigger_depth: 3, enabled: false } } },
      },
    };
    const odgm_config = { event_processing: { max_trigger_depth: 4 } };
    expect(eventsOf(inputOf({ spec: { functions, odgm_config }, environment }))).toEqual({
      enabled: false,
      maxTriggerDepth: 4,
      triggerTimeoutMs: 5000,
    });
  });

  test("warn about every trigger of a class, which never runs", () => {
    const event_triggers = [{ function_key: "Order.place" }];
    const warnings = triggerWarnings(
      inputOf({
        spec: {
          functions: [{ ...containerFunction("Order.place"), odgm_integration: { event_triggers } }],
          function_bindings: [{ name: "on", function_key: "Order.place", trigger_on_state_change: true }],
          odgm_config: { event_processing: { event_triggers } },
        },
      }),
    );
    expect(warnings.map(({ path }) => path)).toEqual([
      "$.function_bindings[0].trigger_on_state_change",
      "$.odgm_config.event_processing.event_triggers",
      "$.functions[0].odgm_integration.event_triggers",
    ]);
  });
});
