import { describe, expect, test } from "vitest";
import { CLUSTER, containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import type { RenderInput } from "../rendering/model/render-input.ts";
import type { Manifest, Rendered } from "../rendering/model/rendered.ts";
import { BUILTIN_TEMPLATES } from "../templates/builtin/registry.ts";
import { chooseAndRender } from "../templates/selection/choose-and-render.ts";
import { storedLayout } from "./plan/stored-layout.ts";

const functions = [containerFunction("Order.place")];
const STATE = { package_class_key: "shop.Order", functions, state_spec: {} };

function render(input: RenderInput): Rendered {
  const chosen = chooseAndRender(input, BUILTIN_TEMPLATES);
  if (!chosen.ok) throw new Error(chosen.error.message);
  return chosen.value.rendered;
}

const storeSets = ({ children }: Rendered) => children.filter(isStoreWorkload);

function isStoreWorkload({ apiVersion, metadata }: Manifest): boolean {
  return apiVersion === "apps/v1" && metadata.labels?.["oaas.io/component"] === "odgm";
}

const configOf = ({ children }: Rendered) => children.find(({ kind }) => kind === "ConfigMap");
const dataOf = (rendered: Rendered) => configOf(rendered)?.["data"] as Readonly<Record<string, string>>;

/** Renders a class whose store was rendered as `before`, as the controller does from the live children. */
function update(before: Rendered, given: PartialInput): Rendered {
  const workloads = storeSets(before);
  const layout = storedLayout(configOf(before), workloads, undefined);
  return render({ ...inputOf(given), storeWorkloads: workloads, ...(layout && { storedLayout: layout }) });
}

const raft = { spec: { ...STATE, odgm_config: { replica_count: 3, shard_type: "raft" as const } } };
const running = render(inputOf(raft));

function odgm(odgm_config: object, over: object = {}): PartialInput {
  return { spec: { ...STATE, ...over, odgm_config: { replica_count: 3, shard_type: "raft", ...odgm_config } } };
}

describe("a running state store", () => {
  test.each<{ case: string; given: PartialInput; says: string }>([
    { case: "more copies", given: odgm({ replica_count: 5 }), says: "replica_count of Order_data 3 → 5" },
    { case: "fewer copies", given: odgm({ replica_count: 1 }), says: "replica_count of Order_data 3 → 1" },
    { case: "another type", given: odgm({ shard_type: "mst" }), says: "shard_type of Order_data raft → mst" },
    { case: "more partitions", given: odgm({ partition_count: 9 }), says: "partition_count of Order_data 4 → 9" },
    { case: "another collection", given: odgm({ collections: ["x"] }), says: "collection Order_data is removed" },
    { case: "another shape", given: odgm({}, { state_spec: { shape: "singleton" } }), says: "Order_data is removed" },
    { case: "other nodes", given: odgm({ node_id: 7, env_node_ids: { here: [7, 8, 9] } }), says: "node ids " },
    { case: "other generated ids", given: odgm({ node_id_prefix: "b" }), says: "node ids " },
    { case: "no store", given: { spec: { ...STATE, addons: [] } }, says: "the state store is removed" },
    { case: "no state", given: { spec: { ...STATE, state_spec: undefined } }, says: "the state store is removed" },
    { case: "a disabled store", given: odgm({ enabled: false }), says: "the state store is removed" },
  ])("keeps its layout when the class states $case, and says what would be lost", ({ given, says }) => {
    const next = update(running, given);
    expect(dataOf(next)["collections.json"]).toBe(dataOf(running)["collections.json"]);
    expect(dataOf(next)["layout.json"]).toBe(dataOf(running)["layout.json"]);
    expect(storeSets(next)).toEqual(storeSets(running));
    expect(next.odgm?.refusedLayout?.message).toContain(says);
    expect(next.odgm?.refusedLayout?.message).toMatch(/objects would be lost.*oaas state copy.*allow_layout_change/);
    expect(next.odgm?.refusedLayout?.stated).toBe(next.odgm?.refusedLayout?.message);
  });

  test("changes its layout when the class allows it", () => {
    const next = update(running, odgm({ replica_count: 5, allow_layout_change: true }));
    expect(next.odgm).toMatchObject({ replicas: 5, collections: [{ replicaCount: 5 }] });
    expect(next.odgm?.refusedLayout).toBeUndefined();
    expect(
      update(running, { spec: { ...STATE, odgm_config: { enabled: false, allow_layout_change: true } } }).odgm,
    ).toBe(undefined);
  });

  test("has the layout of the same class again after a refused change", () => {
    const refused = update(running, odgm({ replica_count: 5 }));
    const restored = update(refused, raft);
    expect(restored.odgm?.refusedLayout).toBeUndefined();
    expect(restored.children).toEqual(running.children);
  });

  test.each<{ case: string; given: PartialInput }>([
    { case: "requirements", given: odgm({}, { nfr_requirements: { min_throughput_rps: 30_000, max_latency_ms: 5 } }) },
    { case: "routes", given: odgm({ invocations: { disabled_fn: ["x"] } }) },
    {
      case: "partition strategies",
      given: { ...raft, environment: environmentOf({ partition_strategies: STRATEGIES }) },
    },
  ])("keeps its layout without a refusal when the $case change", ({ given }) => {
    const next = update(running, given);
    expect(next.odgm?.refusedLayout).toBeUndefined();
    expect(dataOf(next)["layout.json"]).toBe(dataOf(running)["layout.json"]);
    expect(next.odgm?.collections).toEqual(running.odgm?.collections);
  });

  test("reports what its environment or template would change, which the class does not state", () => {
    const one = render(inputOf({ spec: STATE }));
    const environments = [
      { defaults: { replication_factor: 3 } },
      { collection_templates: { normal_state: { partition_count: 9 } } },
      { defaults: { shard_type: "mst" } },
      { defaults: { node_id_prefix: "b" } },
    ];
    for (const settings of environments) {
      const next = update(one, { spec: STATE, environment: environmentOf(settings) });
      expect(next.odgm?.refusedLayout?.message, JSON.stringify(settings)).toMatch(/→/);
      expect(next.odgm?.refusedLayout?.stated).toBeUndefined();
      expect(dataOf(next)["layout.json"]).toBe(dataOf(one)["layout.json"]);
    }
    const full = update(one, { spec: { ...STATE, selected_template: "full" } });
    expect(full.odgm?.refusedLayout?.message).toContain("replica_count of Order_data 1 → 2");
    expect(full.odgm?.refusedLayout?.stated).toBeUndefined();
    expect(storeSets(full)).toMatchObject([{ spec: { replicas: 1 } }]);
  });

  test("grows with mst, and keeps its shards where they are", () => {
    const mst = (copies: number) => odgm({ shard_type: "mst", replica_count: copies });
    const two = render(inputOf(mst(2)));
    const three = update(two, mst(3));
    expect(three.odgm?.refusedLayout).toBeUndefined();
    const templateOf = (rendered: Rendered) =>
      (storeSets(rendered)[0]?.["spec"] as { template: unknown } | undefined)?.template;
    expect(templateOf(three)).toEqual(templateOf(two));
    const [before, after] = [two, three].map(shardsOf);
    for (const [partition, { replica, shard_ids: ids }] of before!.entries()) {
      expect(after![partition]?.replica.slice(0, 2)).toEqual(replica);
      expect(after![partition]?.shard_ids.slice(0, 2)).toEqual(ids);
      expect(after![partition]?.replica).toHaveLength(3);
    }
    expect(update(three, mst(2)).odgm?.refusedLayout?.message).toContain("replica_count of Order_data 3 → 2");
  });

  test("of an earlier version keeps nodes that assign the shards themselves", () => {
    const config = {
      ...configOf(running),
      data: { "collections.json": withoutAssignments(running), "events.json": "{}" },
    };
    const layout = storedLayout(config as unknown as Manifest, [legacySet()], undefined);
    expect(layout).toMatchObject({ nodes: [4710, 4711, 4712], members: [9, 4710, 4711, 4712], persistent: false });
    const next = render({ ...inputOf(raft), storedLayout: layout! });
    expect(shardsOf(next)).toEqual([]);
    expect(next.odgm?.refusedLayout).toBeUndefined();
    expect(dataOf(next)["members"]).toBe("9,4710,4711,4712");
  });

  test("is known from the status when its ConfigMap is gone", () => {
    const status = {
      odgm_cluster_status: {
        shard_type: "raft" as const,
        collections_status: [{ name: "Order_data", partition_count: 4, replica_count: 3 }],
      },
    };
    const layout = storedLayout(undefined, [], status);
    const next = render({ ...inputOf(odgm({ replica_count: 5 })), storedLayout: layout! });
    expect(next.odgm?.refusedLayout?.message).toContain("replica_count of Order_data 3 → 5");
    expect(storedLayout(undefined, [], undefined)).toBeUndefined();
  });
});

describe("persistent state", () => {
  const persistent = { spec: { ...STATE, state_spec: { persistent: true } } };
  const refusalOf = (given: PartialInput) => {
    const chosen = chooseAndRender(inputOf(given), BUILTIN_TEMPLATES);
    return chosen.ok ? undefined : chosen.error.violations;
  };

  test("is refused with the field and the fix where objects are in memory", () => {
    expect(refusalOf(persistent)).toEqual([
      {
        path: "$.state_spec.persistent",
        message: "this state store keeps objects in memory",
        fix: expect.stringContaining("OPRC_CRM_ODGM_PERSISTENCE=true"),
      },
    ]);
    const collections = [{ name: "a" }, { name: "b", persistence_mode: "persistent" as const }];
    expect(refusalOf({ spec: { ...STATE, odgm_config: { collections } } })).toMatchObject([
      { path: "$.odgm_config.collections[1].persistence_mode" },
    ]);
    const settings = { collection_templates: { normal_state: { persistence_mode: "persistent" } } };
    expect(refusalOf({ spec: STATE, environment: environmentOf(settings) })).toMatchObject([
      { path: "$.target_environment", message: expect.stringContaining("environment e makes collections persistent") },
    ]);
  });

  test("has volumes where the operator declared a persistent store, and keeps them when that ends", () => {
    const cluster = { odgm: { ...CLUSTER.odgm, keepsObjectsOnVolumes: true } };
    const before = render(inputOf({ ...persistent, cluster }));
    expect(storeSets(before)).toMatchObject([{ spec: { volumeClaimTemplates: [{}] } }]);
    const after = update(before, persistent);
    expect(storeSets(after)).toEqual(storeSets(before));
    expect(after.warnings).toMatchObject([{ message: "this state store keeps objects in memory" }]);
  });
});

describe("a workload that cannot be updated in place", () => {
  const deployment = { ...storeSets(running)[0]!, kind: "Deployment" };
  const live = (odgm_config: object) => render({ ...inputOf(odgm(odgm_config)), storeWorkloads: [deployment] }).odgm!;

  test("stays, and nothing runs beside it", () => {
    const rendered = render({ ...inputOf(raft), storeWorkloads: [deployment] });
    expect(storeSets(rendered)).toEqual([]);
    expect(rendered.odgm).toMatchObject({
      workloads: [{ kind: "Deployment", name: "order-odgm" }],
      held: [{ kind: "Deployment", name: "order-odgm" }],
      replaced: [],
    });
  });

  test.each(["allow_restart", "allow_layout_change"])("is replaced with %s", (permission) => {
    expect(live({ [permission]: true })).toMatchObject({
      workloads: [{ kind: "StatefulSet", name: "order-odgm" }],
      held: [],
      replaced: [{ kind: "Deployment", name: "order-odgm" }],
    });
  });

  test("is a StatefulSet with another selector", () => {
    const [set] = storeSets(running);
    const other = { ...set!, spec: { ...(set!["spec"] as object), selector: { matchLabels: { app: "x" } } } };
    const rendered = render({ ...inputOf(raft), storeWorkloads: [other] });
    expect(storeSets(rendered)).toEqual([]);
    expect(rendered.odgm).toMatchObject({ held: [{ kind: "StatefulSet" }], workloads: [{ kind: "StatefulSet" }] });
    expect(render({ ...inputOf(raft), storeWorkloads: [set!] }).odgm?.held).toEqual([]);
  });
});

const STRATEGIES = { low_throughput: 2, standard: 3, high_throughput: 5, very_high: 7 };

function environmentOf(settings: object): NonNullable<PartialInput["environment"]> {
  return { name: "e", spec: { kind: "cloud", default_template: "dev", odgm: settings } };
}

interface Shards {
  readonly replica: readonly number[];
  readonly shard_ids: readonly number[];
}

function shardsOf(rendered: Rendered): readonly Shards[] {
  const [first] = JSON.parse(dataOf(rendered)["collections.json"] ?? "") as { shard_assignments: Shards[] }[];
  return first?.shard_assignments ?? [];
}

function withoutAssignments(rendered: Rendered): string {
  const all = JSON.parse(dataOf(rendered)["collections.json"] ?? "") as object[];
  return JSON.stringify(all.map((one) => ({ ...one, shard_assignments: [] })));
}

/** A StatefulSet as earlier versions rendered it, as far as it says which nodes run. */
function legacySet(): Manifest {
  const env = [
    { name: "POD_INDEX", valueFrom: {} },
    { name: "ODGM_NODE_ID", value: "471$(POD_INDEX)" },
    { name: "ODGM_MEMBERS", value: "9,4710,4711,4712" },
  ];
  const template = { spec: { containers: [{ name: "odgm", env }] } };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "order-odgm" },
    spec: { replicas: 3, template },
  };
}
