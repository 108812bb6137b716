import type {
  ClassRuntimeInput,
  DeploymentRecordInput,
  DeploymentTemplateInput,
  EnvironmentConfigInput,
} from "../index.ts";

/** The sample of the manager's original README, to the letter. */
export const README_SAMPLE = `apiVersion: oaas.io/v1alpha1
kind: DeploymentRecord
metadata:
  name: hello-class
spec:
  selected_template: dev
  addons: ["odgm"]
  function:
    image: ghcr.io/pawissanutt/oprc-function:latest
    port: 8080
  odgm_config:
    collections: ["orders", "users"]
`;

/**
 * A ClassRuntime as the Rust manager writes it: every field its CRD has, absent options as null. It is text because
 * that is what crosses the wire; the nulls are not part of our own types.
 */
export const UPSTREAM_CLASS_RUNTIME = `{
  "apiVersion": "oaas.io/v1alpha1",
  "kind": "ClassRuntime",
  "metadata": {
    "name": "record-k3x9f2ab",
    "labels": { "oaas.io/deployment-id": "record-k3x9f2ab" },
    "annotations": { "oaas.io/correlation-id": "c-1" }
  },
  "spec": {
    "package_class_key": "example.Record",
    "selected_template": null,
    "addons": null,
    "odgm_config": {
      "collections": ["example.Record"],
      "partition_count": 2,
      "replica_count": 1,
      "shard_type": "mst",
      "invocations": {
        "fn_routes": {
          "echo": { "url": "http://record-k3x9f2ab-fn-0:80/", "stateless": true, "standby": null, "active_group": [], "function_key": "Record.echo" },
          "run": { "url": "wasm://Record.run", "wasm_module_url": "http://pm/artifacts/1", "stateless": null, "active_group": [], "function_key": "Record.run" }
        },
        "disabled_fn": []
      },
      "options": {},
      "log": null,
      "env_node_ids": { "edge-1": [2894718273], "edge-2": [1] },
      "node_id": 2894718273,
      "collection_assignments": {
        "example.Record": [
          { "primary": 11, "replica": [2894718273], "shard_ids": [11] },
          { "primary": 12, "replica": [2894718273], "shard_ids": [12] }
        ]
      }
    },
    "functions": [
      {
        "function_key": "Record.echo",
        "description": null,
        "available_location": null,
        "qos_requirement": null,
        "provision_config": {
          "container_image": "ghcr.io/pawissanutt/oaas-rs/echo-fn:latest",
          "port": 80,
          "max_concurrency": 0,
          "need_http2": true,
          "cpu_request": "50m",
          "memory_request": "64Mi",
          "cpu_limit": null,
          "memory_limit": null,
          "min_scale": 1,
          "max_scale": null
        },
        "config": { "HTTP_PORT": "80" }
      },
      {
        "function_key": "Record.run",
        "provision_config": { "wasm_module_url": "http://pm/artifacts/1", "port": null, "max_concurrency": 0, "need_http2": false },
        "config": {}
      }
    ],
    "nfr_requirements": { "min_throughput_rps": 500, "max_latency_ms": 100, "availability_pct": 99.9, "consistency": "strong" },
    "enforcement": { "mode": "enforce", "dimensions": ["replicas"] },
    "telemetry": { "enabled": true, "traces": null, "sampling_rate": 0.1, "resource_attributes": { "team": "a" } }
  }
}
`;

/** A small ClassRuntime of our own. */
export const classRuntimeSample: ClassRuntimeInput = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "order" },
  spec: {
    package_class_key: "shop.Order",
    functions: [{ function_key: "Order.place", provision_config: { container_image: "registry.local/order:1" } }],
  },
};

/** A DeploymentRecord with every field of the design documents. */
export const fullRecord: DeploymentRecordInput = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "DeploymentRecord",
  metadata: { name: "order-full" },
  spec: {
    deployment_unit: {
      id: "order-full",
      package_name: "shop",
      class_key: "Order",
      target_env: "edge",
      target_cluster: "edge-1",
      functions: [
        {
          function_key: "Order.place",
          replicas: 2,
          image: "registry.local/order:1",
          resource_requirements: { cpu_request: "100m", memory_request: "128Mi", cpu_limit: "1", memory_limit: "1Gi" },
        },
      ],
      created_at: "2025-08-14T12:34:56Z",
    },
    selected_template: "edge",
    template_hint: "edge",
    target_environment: "edge",
    addons: ["odgm"],
    nfr_requirements: { throughput: 2000, max_latency: 80, availability: 0.999 },
    nfr: { enforcement: { mode: "observe", dimensions: ["replicas", "memory"] } },
    resource_allocation: { replication_factor: 3, min_replicas: 2, max_replicas: 6, cpu_request: "200m" },
    odgm_config: {
      enabled: true,
      cluster_id: "oaas-prod-order",
      node_id_prefix: "crm-edge-shop",
      collections: [
        {
          name: "Order_data",
          partition_count: 4,
          replica_count: 2,
          persistence_mode: "Persistent",
          access_patterns: ["ReadWrite", "batch_read"],
        },
        "audit",
      ],
      replication_factor: 3,
      shard_type: "raft",
      event_processing: {
        enabled: true,
        max_trigger_depth: 5,
        trigger_timeout_ms: 1000,
        event_triggers: [{ function_key: "Order.place", trigger_type: "StateChange", collection_filters: ["Order_*"] }],
        batch_processing: { enabled: true, batch_size: 100, batch_timeout_ms: 1000 },
      },
    },
    function_containers: [
      {
        function_key: "Order.place",
        container_image: "registry.local/order:1",
        container_type: "Container",
        resource_requirements: { cpu_request: "100m", cpu_limit: "500m" },
        environment_variables: { MODE: "fast" },
        volumes: [
          { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
          { name: "settings", configMap: { name: "order-settings", optional: true } },
        ],
        volume_mounts: [
          { name: "cache", mountPath: "/cache" },
          { name: "settings", mountPath: "/etc/order", readOnly: true },
        ],
        health_check: { type: "http", path: "/ready", initial_delay_seconds: 10, period_seconds: 5 },
        odgm_integration: {
          collections: ["Order_data"],
          access_mode: "ReadWrite",
          caching_strategy: "write_through",
          event_triggers: [{ function_key: "Order.place", async_execution: true }],
        },
      },
      { function_key: "Order.check", container_type: "wasm", wasm_module_url: "http://pm/artifacts/2" },
    ],
  },
};

/** A template with every field of the design documents, and placeholders of the kind users write. */
export const templateSample: DeploymentTemplateInput = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "DeploymentTemplate",
  metadata: { name: "gpu" },
  spec: {
    name: "gpu",
    description: "Functions on GPU nodes.",
    template_type: "Deployment",
    aliases: ["cuda"],
    nfr_capabilities: { max_throughput: 5000, min_latency: 5, max_latency: 200, auto_scaling: true },
    resource_requirements: { cpu_request: "1", memory_request: "4Gi" },
    manifests: [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "{{ function.name }}", labels: { app: "{{ function.name }}" } },
        spec: { replicas: "{{ function.replicas }}", template: { spec: { containers: [{ name: "function" }] } } },
      },
    ],
    selection_criteria: { profiles: ["full"], environments: ["cloud"], min_throughput_rps: 1000, stateful: false },
  },
};

/** An environment that states little and inherits the rest. */
export const environmentSample: EnvironmentConfigInput = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "EnvironmentConfig",
  metadata: { name: "edge" },
  spec: {
    kind: "edge",
    images: { odgm: "registry.local/odgm:1", mirrors: [{ from: "ghcr.io/", to: "registry.local/" }] },
    quotas: { max_classes: 100, max_replicas: 20, memory: "64Gi" },
    imagePullSecrets: [{ name: "registry" }],
    nodeSelector: { "kubernetes.io/arch": "arm64" },
    tolerations: [{ key: "edge", operator: "Exists", effect: "NoSchedule" }],
    odgm: { health_checks: { function: { period_seconds: 7 } } },
  },
};

/** Objects that open every block which has defaults and state nothing in it. */
export const SPARSE_OBJECTS = [
  {
    ...classRuntimeSample,
    spec: {
      functions: [{ function_key: "a", provision_config: { container_image: "a" }, health_check: {} }],
      enforcement: {},
      state_spec: {},
      odgm_config: { event_processing: { event_triggers: [{ function_key: "a" }], batch_processing: {} } },
    },
  },
  {
    ...fullRecord,
    spec: {
      function_containers: [{ function_key: "a", container_image: "a", health_check: {} }],
      nfr: { enforcement: {} },
    },
  },
  { ...fullRecord, spec: { function: {} } },
  {
    ...templateSample,
    spec: {
      template_type: "Job",
      kubernetes_manifests: [{ apiVersion: "batch/v1", kind: "Job" }],
      nfr_capabilities: {},
      selection_criteria: {},
    },
  },
  { ...environmentSample, spec: { kind: "dev" } },
  environmentSample,
];
