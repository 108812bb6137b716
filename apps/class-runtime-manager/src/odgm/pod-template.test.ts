import { hashJson } from "@oaas/foundation/hash";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClusterFacts } from "../rendering/model/cluster-facts.ts";
import { CLUSTER, containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import { BUILTIN_TEMPLATES } from "../templates/builtin/registry.ts";
import { chooseAndRender } from "../templates/selection/choose-and-render.ts";
import { storedLayout } from "./plan/stored-layout.ts";

/** Everything that is not a setting of the store itself. */
const changes = fc.record({
  functions: fc.uniqueArray(fc.constantFrom("place", "cancel", "list", "audit"), { minLength: 1 }),
  image: fc.constantFrom("registry.local/order:1", "registry.local/order:2"),
  disabled: fc.subarray(["place", "list"]),
  log: fc.option(fc.constantFrom("debug", "warn,openraft=info"), { nil: undefined }),
  routers: fc.array(fc.record({ service: fc.constantFrom("router", "other"), port: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 2,
  }),
  telemetry: fc.boolean(),
  requirements: fc.record(
    {
      min_throughput_rps: fc.integer({ min: 1, max: 900 }),
      max_latency_ms: fc.integer({ min: 160, max: 9000 }),
      consistency: fc.constantFrom("eventual" as const, "strong" as const, "none" as const),
    },
    { requiredKeys: [] },
  ),
  events: fc.record({
    enabled: fc.boolean(),
    max_trigger_depth: fc.integer({ min: 1, max: 9 }),
    trigger_timeout_ms: fc.integer({ min: 1, max: 9 }),
  }),
  environment: fc.constantFrom("staging", "production"),
  copiesOfEnvironment: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  clusterId: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  resize: fc.boolean(),
  prometheus: fc.boolean(),
  revision: fc.nat(9),
  copies: fc.constantFrom(2, 3, 5),
});
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;

function inputFor(one: Change): PartialInput {
  const { log, clusterId, copiesOfEnvironment } = one;
  return {
    spec: {
      package_class_key: "shop.Order",
      selected_template: "edge",
      origin: { revision: one.revision },
      functions: one.functions.map((name) => containerFunction(`Order.${name}`, one.image)),
      state_spec: {},
      nfr_requirements: one.requirements,
      telemetry: { enabled: one.telemetry, service_name: one.log ?? "order" },
      odgm_config: {
        replica_count: one.copies,
        invocations: { disabled_fn: [...one.disabled] },
        event_processing: one.events,
        ...(log === undefined ? {} : { log }),
        ...(clusterId === undefined ? {} : { cluster_id: clusterId }),
      },
    },
    environment: {
      name: one.environment,
      spec: {
        kind: one.environment === "staging" ? "dev" : "cloud",
        network_policy: { enabled: one.telemetry },
        odgm: copiesOfEnvironment === undefined ? {} : { defaults: { replication_factor: copiesOfEnvironment } },
      },
    },
    cluster: {
      routers: one.routers,
      telemetry: { enabled: one.telemetry, endpoint: "http://collector:4317" },
      capabilities: { podResize: one.resize },
      features: { prometheus: one.prometheus },
      ...(one.prometheus ? { waitImage: "wait:1" } : {}),
    } satisfies Partial<Omit<ClusterFacts, "capabilities" | "features">> & PartialInput["cluster"],
  };
}

/** The children of the store that decide whether its pods restart, after an update of the running one. */
function templateAfter(before: Change, after: Change): readonly [unknown, unknown] {
  const first = rendered(inputOf(inputFor(before)));
  const config = first.find(({ kind }) => kind === "ConfigMap");
  const layout = storedLayout(config, first.filter(isStore), undefined);
  const next = rendered({
    ...inputOf(inputFor(after)),
    storeWorkloads: first.filter(isStore),
    ...(layout && { storedLayout: layout }),
  });
  return [first.filter(isStore).map(templateOf), next.filter(isStore).map(templateOf)];
}

function rendered(input: ReturnType<typeof inputOf>) {
  const chosen = chooseAndRender(input, BUILTIN_TEMPLATES);
  if (!chosen.ok) throw new Error(chosen.error.message);
  return chosen.value.rendered.children;
}

type Child = ReturnType<typeof rendered>[number];
const isStore = ({ kind, metadata }: Child): boolean =>
  kind === "StatefulSet" && metadata.labels?.["oaas.io/component"] === "odgm";
const templateOf = (child: Child): unknown => (child["spec"] as { readonly template: unknown }).template;

test("does not depend on anything but the settings of the store", () => {
  fc.assert(
    fc.property(changes, changes, (before, after) => {
      const [first, next] = templateAfter(before, after);
      expect(next).toEqual(first);
    }),
    { numRuns: 200 },
  );
});

test("is the same in two versions of the manager: another template restarts every running state store", () => {
  const templates = rendered(inputOf({ spec: { functions: [containerFunction("a")], state_spec: {} } }))
    .filter(isStore)
    .map(templateOf);
  // Change the digest only on purpose, with a line in the changelog.
  expect(hashJson(templates)).toBe("f8d6973f27aa91940a72c5af5af3dec051a48d53");
});

test("differs with the image, resources and nodes of the environment", () => {
  const templateWith = (spec: object) =>
    rendered(
      inputOf({
        spec: { functions: [containerFunction("a")], state_spec: {} },
        environment: { name: "e", spec: { kind: "cloud", default_template: "dev", ...spec } },
      }),
    )
      .filter(isStore)
      .map(templateOf);
  const same = templateWith({});
  expect(templateWith({})).toEqual(same);
  for (const spec of [
    { images: { odgm: "example.test/odgm:2" } },
    { nodeSelector: { disk: "fast" } },
    { odgm: { container_resources: { odgm: { memory_limit: "2Gi" } } } },
  ]) {
    expect(templateWith(spec), JSON.stringify(spec)).not.toEqual(same);
  }
});

test("waits for the shards of the node where the manager reports them", () => {
  const gatesOf = (gatesReadiness: boolean) => {
    const input = inputOf({
      spec: { functions: [containerFunction("a")], state_spec: {} },
      cluster: { odgm: { ...CLUSTER.odgm, gatesReadiness } },
    });
    return rendered(input).filter(isStore).map(templateOf);
  };
  expect(gatesOf(true)).toMatchObject([{ spec: { readinessGates: [{ conditionType: "oaas.io/shards" }] } }]);
  expect(JSON.stringify(gatesOf(false))).not.toContain("readinessGates");
});
