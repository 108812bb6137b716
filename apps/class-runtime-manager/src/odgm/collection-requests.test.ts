import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUILTIN_TEMPLATES } from "../templates/builtin/registry.ts";
import { selectTemplate } from "../templates/selection/select.ts";
import type { Manifest } from "../rendering/model/rendered.ts";
import { CLUSTER, containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import { podSpecOf } from "../rendering/testing/restricted.ts";
import type { CollectionRequest } from "./plan/collection-requests.ts";
import { assignShards } from "./plan/shard-map.ts";

/** The environment variables of the rendered state store, as its nodes read them. */
function gridEnv(given: PartialInput): ReadonlyMap<string, string> {
  const children = renderedChildren(given);
  const workload = children.find(isStoreWorkload);
  const data = children.find(({ kind }) => kind === "ConfigMap")?.["data"] as Record<string, string>;
  const [container] = (podSpecOf(workload!)?.["containers"] ?? []) as { env: EnvVar[] }[];
  return new Map(
    container?.env.flatMap(({ name, value, valueFrom }) => {
      const text = value ?? data[valueFrom?.configMapKeyRef?.key ?? ""];
      return text === undefined && valueFrom?.configMapKeyRef?.optional ? [] : [[name, text ?? ""] as const];
    }),
  );
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: { readonly key: string; readonly optional?: boolean } };
}

function renderedChildren(given: PartialInput): readonly Manifest[] {
  const input = inputOf(given);
  const selection = selectTemplate(input, BUILTIN_TEMPLATES);
  const rendered = selection.ok ? selection.value.template.render(input) : selection;
  if (!rendered.ok) throw new Error(JSON.stringify(rendered.error));
  return rendered.value.children;
}

function isStoreWorkload({ apiVersion, metadata }: Manifest): boolean {
  return apiVersion === "apps/v1" && metadata.labels?.["oaas.io/component"] === "odgm";
}

const gridWorkloads = (given: PartialInput) => renderedChildren(given).filter(isStoreWorkload);

const requestsOf = (given: PartialInput) =>
  JSON.parse(gridEnv(given).get("ODGM_COLLECTION") ?? "") as CollectionRequest[];
const routesOf = (spec: object) => requestsOf({ spec: { functions, ...spec } })[0]?.invocations?.fn_routes;

const functions = [
  containerFunction("Record.echo"),
  { function_key: "Record.run", provision_config: { wasm_module_url: "http://pm/artifacts/1" } },
];

test("renders ODGM_COLLECTION with the members and order of the contract", () => {
  const env = gridEnv({
    spec: {
      functions: [containerFunction("Record.echo")],
      odgm_config: { collections: ["c"], partition_count: 2, options: { b: "2", a: "1" } },
    },
  });
  const id = env.get("ODGM_MEMBERS");
  expect(env.get("ODGM_COLLECTION")).toBe(
    `[{"name":"c","partition_count":2,"replica_count":1,"shard_assignments":[{"primary":${id},"replica":[${id}],"shard_ids":[1]},` +
      `{"primary":${id},"replica":[${id}],"shard_ids":[2]}],"shard_type":"basic","options":{"a":"1","b":"2"},` +
      '"invocations":{"fn_routes":{"echo":{"url":"http://order.shop.svc.cluster.local/","stateless":true,"standby":false,' +
      '"active_group":[],"wasm_module_url":null}},"disabled_fn":[]}}]',
  );
});

describe("routes", () => {
  const url = "http://order-fn-0.shop.svc.cluster.local/";
  const wasm = { url: "wasm://Record.run", wasm_module_url: "http://pm/artifacts/1" };

  test.each<{ case: string; spec: object; want: object }>([
    {
      case: "predicted under the last part of the key",
      spec: { addons: ["odgm"] },
      want: { echo: { url }, run: wasm },
    },
    {
      case: "uses binding names",
      spec: { function_bindings: [{ name: "say", function_key: "Record.echo", stateless: false }] },
      want: { say: { url, stateless: false }, run: wasm },
    },
    {
      case: "fills in an empty URL",
      spec: { odgm_config: { invocations: { fn_routes: { x: { url: "", function_key: "Record.echo" } } } } },
      want: { x: { url }, run: wasm },
    },
    {
      case: "replaces a predicted URL",
      spec: {
        odgm_config: {
          invocations: { fn_routes: { x: { url: "http://order-fn-7:80/", function_key: "Record.echo" } } },
        },
      },
      want: { x: { url }, run: wasm },
    },
    {
      case: "expands a short host",
      spec: { odgm_config: { invocations: { fn_routes: { x: { url: "http://legacy:80/a" } } } } },
      want: { x: { url: "http://legacy.shop.svc.cluster.local/a" }, echo: { url }, run: wasm },
    },
    {
      case: "keeps another port",
      spec: { odgm_config: { invocations: { fn_routes: { x: { url: "http://legacy:9000" } } } } },
      want: { x: { url: "http://legacy.shop.svc.cluster.local:9000/" }, echo: { url }, run: wasm },
    },
    {
      case: "keeps a full URL",
      spec: {
        odgm_config: {
          invocations: { fn_routes: { x: { url: "https://a.b/c?d", standby: true, active_group: [1] } } },
        },
      },
      want: { x: { url: "https://a.b/c?d", standby: true, active_group: [1] }, echo: { url }, run: wasm },
    },
  ])("$case", ({ spec, want }) => {
    const routes = routesOf(spec);
    expect(routes).toMatchObject(want);
    expect(Object.keys(routes ?? {}).sort()).toEqual(Object.keys(want).sort());
  });

  test("routes two functions with the same short name, in any order", () => {
    const two = [containerFunction("A.x"), containerFunction("B.x")];
    const keys = (list: typeof two) =>
      Object.keys(requestsOf({ spec: { functions: list, addons: ["odgm"] } })[0]?.invocations?.fn_routes ?? {});
    expect(keys(two)).toEqual(["B.x", "x"]);
    expect(keys(two.toReversed())).toEqual(["B.x", "x"]);
  });
});

describe("shard assignments", () => {
  const collection = { name: "c", partitionCount: 2, replicaCount: 1, shardType: "raft", persistent: false } as const;
  const good = [
    { primary: 1, replica: [9], shard_ids: [1] },
    { primary: 2, replica: [9], shard_ids: [2] },
  ];
  const made = (assignments: typeof good, collections: readonly (typeof collection)[] = [collection]) =>
    assignShards({ collections, members: [8, 9], stated: { c: assignments }, running: new Map() });

  test("passes valid assignments, with shard ids or node ids as primary", () => {
    const shards = new Map([
      [
        "c",
        [
          { replica: [9], shardIds: [1] },
          { replica: [9], shardIds: [2] },
        ],
      ],
    ]);
    expect(made(good)).toEqual({ shards, warnings: [] });
    expect(made(good.map((one) => ({ ...one, primary: 9 })))).toEqual({ shards, warnings: [] });
  });

  test("names the node of the first replica as the primary", () => {
    const odgm_config = {
      replica_count: 2,
      node_id: 7,
      env_node_ids: { here: [7, 8] },
      collections: ["c"],
      partition_count: 2,
      collection_assignments: {
        c: [
          { primary: 1, replica: [8, 7], shard_ids: [1, 2] },
          { primary: 7, replica: [7, 8], shard_ids: [3, 4] },
        ],
      },
    };
    const [request] = requestsOf({ spec: { functions, odgm_config } });
    expect(request).toMatchObject({ shard_assignments: [{ primary: 8 }, { primary: 7 }] });
    expect(request?.options["raft_init_leader_only"]).toBe("true");
  });

  test("assigns each partition to different nodes round robin, with unique ids", () => {
    const odgm_config = {
      replica_count: 2,
      env_node_ids: { here: [10, 11, 12] },
      node_id: 10,
      collections: ["a", "b"],
    };
    const requests = requestsOf({ spec: { functions, odgm_config: { ...odgm_config, partition_count: 3 } } });
    const replicas = [
      [10, 11],
      [11, 12],
      [12, 10],
    ];
    expect(requests.map((one) => one.shard_assignments.map(({ replica }) => replica))).toEqual([replicas, replicas]);
    const ids = requests.flatMap((one) => one.shard_assignments.flatMap(({ shard_ids: own }) => own));
    expect(ids).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  test.each([
    { case: "too few assignments", given: good.slice(1), says: "expected 2 assignments, got 1" },
    {
      case: "too many replicas",
      given: [good[0]!, { primary: 2, replica: [9, 8], shard_ids: [2, 3] }],
      says: "2 nodes and 2 shards",
    },
    {
      case: "a primary outside of its shards",
      given: [good[0]!, { primary: 5, replica: [9], shard_ids: [2] }],
      says: "neither the first of its nodes nor one of its shards",
    },
    { case: "one id twice", given: [good[0]!, good[0]!], says: "used twice" },
  ])("ignores invalid assignments with a warning: $case", ({ given, says }) => {
    const { shards, warnings } = made(given);
    expect(shards.get("c")).toEqual([
      { replica: [8], shardIds: [1] },
      { replica: [8], shardIds: [2] },
    ]);
    expect(warnings).toMatchObject([
      { path: "$.odgm_config.collection_assignments.c", message: expect.stringContaining(says) },
    ]);
  });

  test("ignores ids that another collection uses", () => {
    const other = { ...collection, name: "d" };
    const { shards, warnings } = assignShards({
      collections: [collection, other],
      members: [9],
      stated: { c: good, d: good },
      running: new Map(),
    });
    expect(shards.get("d")?.flatMap(({ shardIds }) => shardIds)).toEqual([3, 4]);
    expect(warnings).toMatchObject([{ path: "$.odgm_config.collection_assignments.d" }]);
  });
});

describe("nodes of the state store", () => {
  const spec = { functions, odgm_config: { node_id: 7, env_node_ids: { here: [7, 8], there: [3] }, replica_count: 3 } };

  test("renders one workload per fixed id with its own pods", () => {
    const workloads = gridWorkloads({ spec });
    expect(workloads.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "StatefulSet order-odgm",
      "StatefulSet order-odgm-1",
    ]);
    expect(
      workloads.map((workload) => (workload["spec"] as { selector: { matchLabels: object } }).selector.matchLabels),
    ).toMatchObject([{ "oaas.io/node": "7" }, { "oaas.io/node": "8" }]);
    expect(gridEnv({ spec }).get("ODGM_MEMBERS")).toBe("3,7,8");
    expect(gridEnv({ spec }).get("ODGM_NODE_ID")).toBe("7");
  });

  test("renders one StatefulSet whose pods derive their id from the index and know their peers", () => {
    const given = { spec: { functions, odgm_config: { replica_count: 2 } } };
    expect(gridWorkloads(given).map(({ kind }) => kind)).toEqual(["StatefulSet"]);
    const env = gridEnv(given);
    expect(env.get("ODGM_NODE_ID")).toMatch(/^\d+\$\(POD_INDEX\)$/);
    expect([...env.keys()].indexOf("POD_INDEX")).toBeLessThan([...env.keys()].indexOf("ODGM_NODE_ID"));
    expect(env.get("OPRC_ZENOH_PEERS")).toBe(
      "tcp/order-odgm-0.order-odgm-pods.shop.svc.cluster.local:17447,tcp/order-odgm-1.order-odgm-pods.shop.svc.cluster.local:17447",
    );
  });

  test("renders a StatefulSet with volumes that are deleted with the class", () => {
    const [set] = gridWorkloads({
      spec: { functions, state_spec: { persistent: true, storage_request: "5Gi" } },
      cluster: { odgm: { ...CLUSTER.odgm, keepsObjectsOnVolumes: true } },
    });
    expect(set).toMatchObject({
      kind: "StatefulSet",
      spec: {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
        volumeClaimTemplates: [{ spec: { resources: { requests: { storage: "5Gi" } } } }],
      },
    });
  });
});

test("warns when ODGM_COLLECTION exceeds the size of an environment variable", () => {
  const options = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`o${index}`, "x".repeat(20_000)]));
  const input = inputOf({ spec: { functions, odgm_config: { options } } });
  const rendered = BUILTIN_TEMPLATES[0]!.render(input);
  expect(rendered.ok && rendered.value.warnings).toMatchObject([
    { path: "$.odgm_config", message: expect.stringMatching(/take 16\d{4} bytes/) },
  ]);
});

test("overrides variables with those of the operator, without duplicates", () => {
  const extraEnv = { POD_IP: "10.0.0.1", ODGM_MAX_SESSIONS: "9", MORE: "1" };
  const [workload] = gridWorkloads({
    spec: { functions, state_spec: {} },
    cluster: { odgm: { ...CLUSTER.odgm, extraEnv } },
  });
  const [container] = podSpecOf(workload!)!["containers"] as { env: { name: string; value: string }[] }[];
  const names = container!.env.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(container!.env).toEqual(
    expect.arrayContaining(Object.entries(extraEnv).map(([name, value]) => ({ name, value }))),
  );
});

test("gives functions a port that the Service has", () => {
  const input = inputOf({ spec: { functions, state_spec: {} } });
  for (const template of BUILTIN_TEMPLATES) {
    const rendered = template.render(input);
    if (!rendered.ok) throw new Error(JSON.stringify(rendered.error));
    const [host, port] = rendered.value.odgm?.service.split(":") ?? [];
    const service = rendered.value.children.find(({ kind, metadata }) => kind === "Service" && metadata.name === host);
    const { ports } = service!["spec"] as { ports: { port: number }[] };
    expect(
      ports.map((one) => String(one.port)),
      template.id,
    ).toContain(port);
  }
});

test("round-trips any collections, independent of the order of options and routes", () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9._-]{0,20}[A-Za-z0-9]$/);
  const map = fc.dictionary(name, fc.string({ maxLength: 20 }), { maxKeys: 6 });
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
      map,
      fc.integer({ min: 1, max: 9 }),
      (names, options, partitions) => {
        const config = (given: Record<string, string>) => ({
          collections: names,
          partition_count: partitions,
          options: given,
        });
        const text = (given: Record<string, string>) =>
          gridEnv({ spec: { functions, odgm_config: config(given) } }).get("ODGM_COLLECTION");
        const one = text(options);
        expect(text(Object.fromEntries(Object.entries(options).reverse()))).toBe(one);
        const read = JSON.parse(one ?? "") as CollectionRequest[];
        expect(read.map((request) => [request.name, request.partition_count, request.options])).toEqual(
          names.map((collection) => [collection, partitions, options]),
        );
      },
    ),
    { numRuns: 40 },
  );
});
