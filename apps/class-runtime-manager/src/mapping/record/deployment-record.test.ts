import { deploymentRecord, type DeploymentRecordInput } from "@oaas/contracts/crd";
import { describe, expect, test } from "vitest";
import { classStatusToRecordStatus } from "./deployment-record.ts";
import { deploymentRecordToClassRuntime, type RecordDefaults } from "./deployment-record.ts";

/** The sample of the first README, as the API server returns it. */
const README_SAMPLE: DeploymentRecordInput = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "DeploymentRecord",
  metadata: { name: "hello-class" },
  spec: {
    selected_template: "dev",
    addons: ["odgm"],
    function: { image: "ghcr.io/pawissanutt/oprc-function:latest", port: 8080 },
    odgm_config: { collections: ["orders", "users"] },
  },
};

function mapped(spec: DeploymentRecordInput["spec"], defaults?: RecordDefaults) {
  const record = deploymentRecord.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentRecord",
    metadata: { name: "order", namespace: "shop", uid: "u-1" },
    spec,
  });
  return deploymentRecordToClassRuntime(record, defaults);
}

describe("converts a record", () => {
  test("the sample of the README", () => {
    expect(deploymentRecordToClassRuntime(deploymentRecord.parse(README_SAMPLE))).toEqual({
      ok: true,
      value: {
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "hello-class" },
        spec: {
          selected_template: "dev",
          addons: ["odgm"],
          functions: [
            {
              function_key: "hello-class",
              provision_config: {
                container_image: "ghcr.io/pawissanutt/oprc-function:latest",
                port: 8080,
                max_concurrency: 0,
                need_http2: false,
              },
            },
          ],
          odgm_config: { collections: ["orders", "users"] },
        },
      },
    });
  });

  test.each([
    {
      case: "the short form uses the image of the environment",
      spec: { function: {} },
      defaults: { functionImage: "registry.local/default:1" },
      want: { functions: [{ provision_config: { container_image: "registry.local/default:1", port: 8080 } }] },
    },
    {
      case: "a unit in its oldest form",
      spec: {
        deployment_unit: {
          id: "order-1",
          package_name: "shop",
          class_key: "Order",
          target_env: "edge",
          target_cluster: "edge-1",
          functions: [
            {
              function_key: "f",
              replicas: 2,
              image: "registry.local/f:1",
              resource_requirements: { cpu_request: "100m" },
            },
          ],
          created_at: "2025-08-14T12:34:56Z",
        },
      },
      want: {
        package_class_key: "shop.Order",
        target_environment: "edge",
        origin: { deployment_id: "order-1", target_env: "edge-1", created_at: "2025-08-14T12:34:56Z" },
        functions: [
          {
            function_key: "f",
            provision_config: { container_image: "registry.local/f:1", min_scale: 2, cpu_request: "100m" },
          },
        ],
      },
    },
    {
      case: "the newer members win over the oldest ones",
      spec: {
        deployment_unit: {
          id: "order-1",
          functions: [
            {
              function_key: "f",
              image: "registry.local/f:1",
              provision_config: { container_image: "registry.local/f:2" },
            },
          ],
        },
      },
      want: { functions: [{ provision_config: { container_image: "registry.local/f:2" } }] },
    },
    {
      case: "a container adds to the unit's function of the same key",
      spec: {
        deployment_unit: {
          id: "order-1",
          functions: [{ function_key: "f", replicas: 2, image: "registry.local/f:1", config: { A: "1", B: "1" } }],
        },
        function_containers: [
          {
            function_key: "f",
            container_image: "registry.local/f:2",
            port: 9000,
            environment_variables: { B: "2" },
            health_check: { type: "http", path: "/ready" },
          },
        ],
      },
      want: {
        functions: [
          {
            function_key: "f",
            provision_config: { container_image: "registry.local/f:2", port: 9000, min_scale: 2 },
            config: { A: "1", B: "2" },
            health_check: { type: "http", path: "/ready" },
          },
        ],
      },
    },
    {
      case: "a module has neither image nor port",
      spec: {
        function_containers: [
          { function_key: "f", container_type: "wasm", wasm_module_url: "https://modules.local/f.wasm" },
        ],
      },
      want: {
        functions: [
          {
            function_type: "wasm",
            provision_config: { wasm_module_url: "https://modules.local/f.wasm", max_concurrency: 0 },
          },
        ],
      },
    },
    {
      case: "enforcement in its legacy field",
      spec: { state_spec: {}, nfr: { enforcement: { mode: "enforce", dimensions: ["replicas"] } } },
      want: { enforcement: { mode: "enforce", dimensions: ["replicas"] } },
    },
    {
      case: "the record's own requests win over the unit's",
      spec: {
        selected_template: "edge",
        nfr_requirements: { throughput: 10 },
        odgm_config: { collections: ["own"] },
        deployment_unit: {
          id: "order-1",
          selected_template: "dev",
          nfr_requirements: { throughput: 20 },
          odgm_config: { collections: ["unit"] },
          telemetry: { enabled: true },
        },
      },
      want: {
        selected_template: "edge",
        nfr_requirements: { throughput: 10 },
        odgm_config: { collections: ["own"] },
        telemetry: { enabled: true },
      },
    },
  ] satisfies { case: string; spec: DeploymentRecordInput["spec"]; defaults?: RecordDefaults; want: object }[])(
    "$case",
    ({ spec, defaults, want }) => {
      const result = mapped(spec, defaults);
      expect(result).toMatchObject({ ok: true, value: { metadata: { name: "order", uid: "u-1" }, spec: want } });
    },
  );
});

describe("reports violations with paths in the record", () => {
  test.each([
    { case: "no image anywhere", spec: { function: {} }, path: "$.spec.function.image" },
    {
      case: "a unit's function that cannot run",
      spec: {
        deployment_unit: { id: "order-1", functions: [{ function_key: "a" }, { function_key: "b", image: "b" }] },
      },
      path: "$.spec.deployment_unit.functions[0].provision_config",
    },
    { case: "nothing to run and no state", spec: { deployment_unit: { id: "order-1" } }, path: "$.spec" },
    {
      case: "a container whose request exceeds the limit of its unit",
      spec: {
        deployment_unit: {
          id: "order-1",
          functions: [{ function_key: "f", image: "registry.local/f:1", resource_requirements: { cpu_request: "2" } }],
        },
        function_containers: [
          { function_key: "f", container_image: "registry.local/f:1", resource_requirements: { cpu_limit: "1" } },
        ],
      },
      path: "$.spec.function_containers[0].resource_requirements.cpu_limit",
    },
  ] satisfies { case: string; spec: DeploymentRecordInput["spec"]; path: string }[])("$case", ({ spec, path }) => {
    const result = mapped(spec);
    expect(result).toMatchObject({ ok: false, error: [{ path }] });
  });
});

test("adds the legacy function status to a record", () => {
  const one = { service: "a", predicted_url: "http://a", template: "dev" };
  expect(
    classStatusToRecordStatus({
      phase: "degraded",
      odgm_cluster_status: { ready: true },
      nfr_recommendations: [
        {
          component: "a",
          dimension: "cpu",
          target: 1,
          evidence: { window: "1h", query: "q", values: { p90_millicores: 120.4 } },
        },
        {
          component: "a",
          dimension: "memory",
          target: 1,
          evidence: { window: "1h", query: "q", values: { p90_bytes: 1e9 } },
        },
        { component: "b", dimension: "replicas", target: 1 },
      ],
      functions: [
        { ...one, function_key: "a", ready: true, ready_replicas: 1 },
        { ...one, function_key: "b", ready: false, ready_replicas: 0 },
      ],
    }),
  ).toMatchObject({
    phase: "degraded",
    function_container_status: [
      {
        function_key: "a",
        container_status: "Running",
        health_status: "healthy",
        odgm_connection_status: "Available",
        resource_usage: { cpu: "121m", memory: "1000000000" },
      },
      { function_key: "b", container_status: "Waiting", health_status: "degraded" },
    ],
  });
});
