import { create } from "@bufbuild/protobuf";
import {
  DeploymentUnitSchema,
  EnforcementDimension,
  EnforcementMode,
  StateShape,
  type DeploymentUnit,
} from "@oaas/contracts/grpc";
import { describe, expect, test } from "vitest";
import { ANNOTATIONS, DEPLOYMENT_ID_LABEL, isObjectOf, objectName, upstreamObjectName } from "../object-identity.ts";
import { isUnchanged, unitToClassRuntime, type UnitObject } from "./unit-to-class-runtime.ts";

type UnitInit = Parameters<typeof create<typeof DeploymentUnitSchema>>[1];

const HERE = { namespace: "shop", correlationId: "c-1", profile: "full" };

function unitOf(init: UnitInit = {}): DeploymentUnit {
  return create(DeploymentUnitSchema, {
    id: "order-k3x9f2ab",
    packageName: "shop",
    classKey: "Order",
    functions: [{ functionKey: "Order.place", provisionConfig: { containerImage: "registry.local/order:1" } }],
    ...init,
  });
}

function accepted(unit: DeploymentUnit): UnitObject {
  const result = unitToClassRuntime(unit, HERE);
  if (!result.ok) throw new Error(JSON.stringify(result.error, null, 1));
  return result.value;
}

function pathsOf(unit: DeploymentUnit): string[] {
  const result = unitToClassRuntime(unit, HERE);
  return result.ok ? [] : result.error.map(({ path }) => path);
}

describe("a valid unit", () => {
  test("keeps all fields, and copies some to metadata", () => {
    const { manifest } = accepted(
      unitOf({
        targetEnv: "edge-1",
        environment: "edge",
        templateHint: "edge",
        enforcement: { mode: EnforcementMode.ENFORCE, dimensions: [EnforcementDimension.REPLICAS] },
        state: { persistent: true, shape: StateShape.SINGLETON },
        createdAt: { seconds: 1_755_174_896n, nanos: 500_000_000 },
        revision: 7n,
      }),
    );
    expect(manifest).toEqual({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: {
        name: "order-k3x9f2ab",
        namespace: "shop",
        labels: { [DEPLOYMENT_ID_LABEL]: "order-k3x9f2ab" },
        annotations: {
          [ANNOTATIONS.correlationId]: "c-1",
          [ANNOTATIONS.enforcement]: "enforce",
          [ANNOTATIONS.templateHint]: "edge",
          [ANNOTATIONS.profile]: "full",
        },
      },
      spec: {
        package_class_key: "shop.Order",
        functions: [
          {
            function_key: "Order.place",
            provision_config: { container_image: "registry.local/order:1", max_concurrency: 0, need_http2: false },
          },
        ],
        origin: {
          deployment_id: "order-k3x9f2ab",
          target_env: "edge-1",
          revision: 7,
          created_at: "2025-08-14T12:34:56.5Z",
        },
        template_hint: "edge",
        target_environment: "edge",
        state_spec: { persistent: true, shape: "singleton" },
        enforcement: { mode: "enforce", dimensions: ["replicas"] },
      },
    });
  });

  test.each([
    { unit: unitOf({ packageName: "" }), case: "no package, as the Rust package manager may send" },
    { unit: unitOf({ functions: [], state: {} }), case: "a class with only state" },
    { unit: unitOf({ functions: [], odgmConfig: { collections: ["a"] } }), case: "a class with only a state store" },
    { unit: unitOf({ addons: { names: [] } }), case: "an empty list disables implied addons" },
    { unit: unitOf({ functions: [{ functionKey: "f", functionType: 3 }] }), case: "a macro has no workload" },
    { unit: unitOf({ id: "Shop.Order_1" }), case: "capitals, dots and underscores are legal in a label" },
  ])("$case", ({ unit }) => {
    expect(pathsOf(unit)).toEqual([]);
  });
});

describe("an invalid unit is rejected with all violations", () => {
  const image = { containerImage: "registry.local/a:1" };
  test.each([
    {
      case: "a cpu request that is not a quantity",
      unit: unitOf({ functions: [{ functionKey: "f", provisionConfig: { ...image, cpuRequest: "lots" } }] }),
      paths: ["$.deployment_unit.functions[0].provision_config.cpu_request"],
    },
    { case: "neither functions nor state", unit: unitOf({ functions: [] }), paths: ["$.deployment_unit.functions"] },
    { case: "an id of 80 characters", unit: unitOf({ id: "a".repeat(80) }), paths: ["$.deployment_unit.id"] },
    { case: "an empty id", unit: unitOf({ id: "" }), paths: ["$.deployment_unit.id"] },
    { case: "an id that is not a label value", unit: unitOf({ id: "-a b" }), paths: ["$.deployment_unit.id"] },
    { case: "no class", unit: unitOf({ classKey: "" }), paths: ["$.deployment_unit.class_key"] },
    { case: "a class key with a dot", unit: unitOf({ classKey: "a.B" }), paths: ["$.deployment_unit.class_key"] },
    {
      case: "a function twice",
      unit: unitOf({
        functions: [
          { functionKey: "f", provisionConfig: image },
          { functionKey: "f", provisionConfig: image },
        ],
      }),
      paths: ["$.deployment_unit.functions[1]"],
    },
    {
      case: "a binding and a collection twice",
      unit: unitOf({
        functionBindings: [
          { name: "a", functionKey: "Order.place" },
          { name: "a", functionKey: "Order.place" },
        ],
        odgmConfig: { collections: ["a", "a"] },
      }),
      paths: ["$.deployment_unit.odgm_config.collections[1]", "$.deployment_unit.function_bindings[1]"],
    },
    {
      case: "a function without image or module, which upstream dropped silently",
      unit: unitOf({ functions: [{ functionKey: "f" }] }),
      paths: ["$.deployment_unit.functions[0].provision_config"],
    },
    {
      case: "minimum above maximum",
      unit: unitOf({
        functions: [
          {
            functionKey: "f",
            provisionConfig: { ...image, minScale: 3, maxScale: 1, cpuRequest: "2", cpuLimit: "1", port: 70_000 },
          },
        ],
      }),
      paths: [
        "$.deployment_unit.functions[0].provision_config.port",
        "$.deployment_unit.functions[0].provision_config.max_scale",
        "$.deployment_unit.functions[0].provision_config.cpu_limit",
      ],
    },
    {
      case: "an invalid variable name",
      unit: unitOf({ functions: [{ functionKey: "f", provisionConfig: image, config: { "a=b": "" } }] }),
      paths: ["$.deployment_unit.functions[0].config['a=b']"],
    },
    {
      case: "numbers that a JSON number cannot hold",
      unit: unitOf({
        revision: 2n ** 60n,
        odgmConfig: {
          odgmNodeId: 2n ** 64n - 1n,
          envNodeIds: { e: { ids: [1n, 2n ** 60n] } },
          collectionAssignments: { c: { assignments: [{ replica: [2n ** 60n] }] } },
        },
      }),
      paths: [
        "$.deployment_unit.revision",
        "$.deployment_unit.odgm_config.env_node_ids.e.ids[1]",
        "$.deployment_unit.odgm_config.odgm_node_id",
        "$.deployment_unit.odgm_config.collection_assignments.c.assignments[0].replica[0]",
      ],
    },
    {
      case: "unknown words",
      unit: unitOf({
        functions: [{ functionKey: "f", provisionConfig: image, functionType: 99 as never }],
        functionBindings: [{ name: "a", functionKey: "f", accessModifier: "Protected" }],
        odgmConfig: { shardType: "paxos" },
        enforcement: { mode: 9 as never, dimensions: [7 as never] },
      }),
      paths: [
        "$.deployment_unit.functions[0].function_type",
        "$.deployment_unit.function_bindings[0].access_modifier",
        "$.deployment_unit.odgm_config.shard_type",
        "$.deployment_unit.enforcement.dimensions[0]",
        "$.deployment_unit.enforcement.mode",
      ],
    },
    {
      case: "fields with another path in the object",
      unit: unitOf({
        environment: "a b",
        addons: { names: ["o d"] },
        state: { storageRequest: "much" },
        odgmConfig: { events: { maxTriggerDepth: 0 }, partitionCount: 0 },
        nfrRequirements: { availability: 1.5 },
        createdAt: { seconds: 2n ** 62n },
      }),
      paths: [
        "$.deployment_unit.created_at",
        "$.deployment_unit.environment",
        "$.deployment_unit.addons.names[0]",
        "$.deployment_unit.odgm_config.partition_count",
        "$.deployment_unit.odgm_config.events.max_trigger_depth",
        "$.deployment_unit.state.storage_request",
        "$.deployment_unit.nfr_requirements.availability",
      ],
    },
    {
      case: "several violations at once",
      unit: unitOf({
        id: "a".repeat(80),
        packageName: "!",
        classKey: "?",
        functions: [
          { functionKey: "f", provisionConfig: { containerImage: "NO IMAGE", memoryLimit: "-1" } },
          { functionKey: "f", provisionConfig: image },
        ],
      }),
      paths: [
        "$.deployment_unit.id",
        "$.deployment_unit.package_name",
        "$.deployment_unit.class_key",
        "$.deployment_unit.functions[0].provision_config.container_image",
        "$.deployment_unit.functions[0].provision_config.memory_limit",
        "$.deployment_unit.functions[1]",
      ],
    },
  ])("$case", ({ unit, paths }) => {
    expect(new Set(pathsOf(unit))).toEqual(new Set(paths));
  });

  test("reports the problem and the fix", () => {
    const result = unitToClassRuntime(
      unitOf({ functions: [{ functionKey: "f", provisionConfig: { ...image, cpuRequest: "lots" } }] }),
      HERE,
    );
    expect(result).toMatchObject({
      error: [{ message: '"lots" is not a Kubernetes quantity', fix: expect.stringContaining("500m") }],
    });
  });
});

describe("identity", () => {
  test.each([
    { id: "order-k3x9f2ab", name: "order-k3x9f2ab", case: "uses a DNS label unchanged, as upstream" },
    { id: "My.App", name: /^my-app-[0-9a-z]{12}$/, case: "converts as upstream, with a hash" },
    { id: "V1StGXR8_Z5jdHi6B-myT", name: /^v1stgxr8-z5jdhi6b-myt-[0-9a-z]{12}$/, case: "an id of the first PM" },
    { id: "a".repeat(63), name: "a".repeat(63), case: "the maximum length of a label" },
  ])("$id: $case", ({ id, name }) => {
    expect(objectName(id)).toMatch(name);
    expect(objectName(id).length).toBeLessThanOrEqual(63);
  });

  test("creates two objects for ids that the Rust manager confused", () => {
    expect(upstreamObjectName("My.App")).toBe(upstreamObjectName("my-app"));
    expect(objectName("My.App")).not.toBe(objectName("my-app"));
  });

  test("finds the object of an id with capitals and dots", () => {
    const { desired } = accepted(unitOf({ id: "My.App" }));
    expect(isObjectOf(desired, "My.App")).toBe(true);
    expect(isObjectOf(desired, "my-app")).toBe(false);
  });

  test("finds an object of the Rust manager by its converted id", () => {
    const upstream = { metadata: { name: "my-app", labels: { [DEPLOYMENT_ID_LABEL]: "my-app" } }, spec: {} };
    expect(isObjectOf(upstream, "My.App")).toBe(true);
    expect(isObjectOf(upstream, "other")).toBe(false);
    expect(isObjectOf({ metadata: { name: "my-app" } }, "my-app")).toBe(false);
  });
});

describe("unchanged units", () => {
  const { desired } = accepted(unitOf({ createdAt: { seconds: 1n } }));
  test.each([
    { case: "the same unit", unit: unitOf({ createdAt: { seconds: 1n } }), same: true },
    { case: "planned at another time", unit: unitOf({ createdAt: { seconds: 2n } }), same: true },
    { case: "another revision", unit: unitOf({ revision: 2n }), same: false },
    { case: "another template", unit: unitOf({ selectedTemplate: "edge" }), same: false },
    { case: "another hint", unit: unitOf({ templateHint: "edge" }), same: false },
  ])("$case", ({ unit, same }) => {
    const result = unitToClassRuntime(unit, { ...HERE, correlationId: "c-2" });
    expect(result.ok && isUnchanged(desired, result.value.desired)).toBe(same);
  });

  test("ignores metadata of the server and of other writers", () => {
    const stored = {
      ...desired,
      metadata: { ...desired.metadata, uid: "u", annotations: { ...desired.metadata.annotations, other: "x" } },
    };
    expect(isUnchanged(stored, desired)).toBe(true);
  });
});
