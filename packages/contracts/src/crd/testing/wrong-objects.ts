import { classRuntimeSample, environmentSample, fullRecord, templateSample } from "./samples.ts";

/** An object that must be refused, and the field that the refusal must name. */
export interface WrongObject {
  readonly why: string;
  readonly object: unknown;
  /** Path as the API server prints it, e.g. `spec.functions[0].function_key`. */
  readonly field: string;
  /** Who refuses it, when it is not both. Each such row is a listed difference between server and code. */
  readonly only?: "server" | "code";
}

interface Sample {
  readonly metadata: object;
  readonly spec: object;
}

const withSpec = (sample: Sample, spec: object) => ({ ...sample, spec: { ...sample.spec, ...spec } });
const crt = (spec: object) => withSpec(classRuntimeSample, spec);
const record = (spec: object) => ({
  ...fullRecord,
  spec: { function: { image: "registry.local/order:1" }, ...spec },
});
const template = (spec: object) => withSpec(templateSample, spec);
const environment = (spec: object) => withSpec(environmentSample, spec);

const fn = (extra: object, provision: object = {}) => [
  {
    function_key: "Order.place",
    provision_config: { container_image: "registry.local/order:1", ...provision },
    ...extra,
  },
];
const container = (extra: object) => ({
  function: undefined,
  function_containers: [{ function_key: "Order.place", container_image: "registry.local/order:1", ...extra }],
});

/** Every kind of mistake the schemas catch, one row each. */
export const WRONG_OBJECTS: readonly WrongObject[] = [
  // ClassRuntime
  { why: "no spec", object: { ...classRuntimeSample, spec: undefined }, field: "spec" },
  { why: "nothing to run", object: { ...classRuntimeSample, spec: {} }, field: "spec.functions" },
  { why: "empty list of functions", object: crt({ functions: [] }), field: "spec.functions" },
  { why: "functions not a list", object: crt({ functions: "Order.place" }), field: "spec.functions" },
  {
    why: "name longer than a label",
    object: { ...classRuntimeSample, metadata: { name: "a".repeat(64) } },
    field: "metadata.name",
  },
  {
    why: "function without key",
    object: crt({ functions: [{ provision_config: { container_image: "a" } }] }),
    field: "spec.functions[0].function_key",
  },
  {
    why: "two functions with the same key",
    object: crt({ functions: [...fn({}), ...fn({})] }),
    field: "spec.functions[1]",
  },
  {
    why: "function with neither image nor module",
    object: crt({ functions: [{ function_key: "a", provision_config: { port: 80 } }] }),
    field: "spec.functions[0].provision_config",
  },
  {
    why: "function without provision_config",
    object: crt({ functions: [{ function_key: "a" }] }),
    field: "spec.functions[0].provision_config",
  },
  {
    why: "key with a space",
    object: crt({ functions: fn({ function_key: "Order place" }) }),
    field: "spec.functions[0].function_key",
  },
  {
    why: "image with a space",
    object: crt({ functions: fn({}, { container_image: "my image" }) }),
    field: "spec.functions[0].provision_config.container_image",
  },
  {
    why: "port as text",
    object: crt({ functions: fn({}, { port: "80" }) }),
    field: "spec.functions[0].provision_config.port",
  },
  { why: "port 0", object: crt({ functions: fn({}, { port: 0 }) }), field: "spec.functions[0].provision_config.port" },
  {
    why: "port 65536",
    object: crt({ functions: fn({}, { port: 65536 }) }),
    field: "spec.functions[0].provision_config.port",
  },
  {
    why: "port with a fraction",
    object: crt({ functions: fn({}, { port: 80.5 }) }),
    field: "spec.functions[0].provision_config.port",
  },
  {
    why: "cpu request that is not a quantity",
    object: crt({ functions: fn({}, { cpu_request: "lots" }) }),
    field: "spec.functions[0].provision_config.cpu_request",
  },
  {
    why: "negative memory",
    object: crt({ functions: fn({}, { memory_request: "-1Gi" }) }),
    field: "spec.functions[0].provision_config.memory_request",
  },
  {
    why: "memory as number",
    object: crt({ functions: fn({}, { memory_limit: 1024 }) }),
    field: "spec.functions[0].provision_config.memory_limit",
  },
  {
    why: "cpu request above its limit",
    object: crt({ functions: fn({}, { cpu_request: "1.5", cpu_limit: "1200m" }) }),
    field: "spec.functions[0].provision_config.cpu_limit",
  },
  {
    why: "memory request above its limit",
    object: crt({ functions: fn({}, { memory_request: "1Gi", memory_limit: "1G" }) }),
    field: "spec.functions[0].provision_config.memory_limit",
  },
  {
    why: "min above max scale",
    object: crt({ functions: fn({}, { min_scale: 5, max_scale: 2 }) }),
    field: "spec.functions[0].provision_config.max_scale",
  },
  {
    why: "negative min scale",
    object: crt({ functions: fn({}, { min_scale: -1 }) }),
    field: "spec.functions[0].provision_config.min_scale",
  },
  {
    why: "concurrency beyond 32 bits",
    object: crt({ functions: fn({}, { max_concurrency: 2 ** 32 }) }),
    field: "spec.functions[0].provision_config.max_concurrency",
  },
  {
    why: "config value as number",
    object: crt({ functions: fn({ config: { HTTP_PORT: 80 } }) }),
    field: "spec.functions[0].config.HTTP_PORT",
  },
  {
    why: "availability above 1",
    object: crt({ nfr_requirements: { availability: 99.9 } }),
    field: "spec.nfr_requirements.availability",
  },
  {
    why: "percent above 100",
    object: crt({ nfr_requirements: { availability_pct: 101 } }),
    field: "spec.nfr_requirements.availability_pct",
  },
  {
    why: "availability in both units",
    object: crt({ nfr_requirements: { availability: 0.99, availability_pct: 99 } }),
    field: "spec.nfr_requirements.availability_pct",
  },
  {
    why: "throughput in both spellings",
    object: crt({ nfr_requirements: { throughput: 1, min_throughput_rps: 2 } }),
    field: "spec.nfr_requirements.throughput",
  },
  {
    why: "latency of zero",
    object: crt({ nfr_requirements: { max_latency_ms: 0 } }),
    field: "spec.nfr_requirements.max_latency_ms",
  },
  {
    why: "unknown consistency",
    object: crt({ nfr_requirements: { consistency: "very" } }),
    field: "spec.nfr_requirements.consistency",
  },
  { why: "unknown enforcement mode", object: crt({ enforcement: { mode: "basic" } }), field: "spec.enforcement.mode" },
  {
    why: "mode off unquoted, which YAML reads as false",
    object: crt({ enforcement: { mode: false } }),
    field: "spec.enforcement.mode",
  },
  {
    why: "unknown dimension",
    object: crt({ enforcement: { dimensions: ["disk"] } }),
    field: "spec.enforcement.dimensions[0]",
  },
  {
    why: "dimension twice",
    object: crt({ enforcement: { dimensions: ["cpu", "cpu"] } }),
    field: "spec.enforcement.dimensions[1]",
  },
  {
    why: "enforce without dimensions",
    object: crt({ enforcement: { mode: "enforce", dimensions: [] } }),
    field: "spec.enforcement.dimensions",
  },
  {
    why: "enforcement in both places",
    object: crt({ enforcement: { mode: "off" }, nfr: { enforcement: { mode: "enforce" } } }),
    field: "spec.nfr",
  },
  { why: "template name with a slash", object: crt({ selected_template: "a/b" }), field: "spec.selected_template" },
  { why: "addon name too long", object: crt({ addons: ["a".repeat(64)] }), field: "spec.addons[0]" },
  { why: "sampling above 1", object: crt({ telemetry: { sampling_rate: 2 } }), field: "spec.telemetry.sampling_rate" },
  {
    why: "unknown access modifier",
    object: crt({ function_bindings: [{ name: "a", function_key: "b", access_modifier: "protected" }] }),
    field: "spec.function_bindings[0].access_modifier",
  },
  {
    why: "unknown shard type",
    object: crt({ odgm_config: { shard_type: "paxos" } }),
    field: "spec.odgm_config.shard_type",
  },
  {
    why: "no partitions",
    object: crt({ odgm_config: { partition_count: 0 } }),
    field: "spec.odgm_config.partition_count",
  },
  {
    why: "replica count under both names",
    object: crt({ odgm_config: { replica_count: 1, replication_factor: 2 } }),
    field: "spec.odgm_config.replication_factor",
  },
  {
    why: "primary outside its shards",
    object: crt({ odgm_config: { collection_assignments: { a: [{ primary: 1, shard_ids: [2] }] } } }),
    field: "spec.odgm_config.collection_assignments[a][0].primary",
  },
  {
    why: "collection as number",
    object: crt({ odgm_config: { collections: [5] } }),
    field: "spec.odgm_config.collections[0]",
  },
  {
    why: "collection as list",
    object: crt({ odgm_config: { collections: [["a"]] } }),
    field: "spec.odgm_config.collections[0]",
  },
  {
    why: "collection as boolean",
    object: crt({ odgm_config: { collections: [true] } }),
    field: "spec.odgm_config.collections[0]",
  },
  {
    why: "collection with an empty name",
    object: crt({ odgm_config: { collections: [""] } }),
    field: "spec.odgm_config.collections[0]",
  },
  {
    why: "collection object without name",
    object: crt({ odgm_config: { collections: [{ partition_count: 1 }] } }),
    field: "spec.odgm_config.collections[0].name",
  },
  {
    why: "collection with zero partitions",
    object: crt({ odgm_config: { collections: [{ name: "a", partition_count: 0 }] } }),
    field: "spec.odgm_config.collections[0].partition_count",
  },
  {
    why: "65 collections",
    object: crt({ odgm_config: { collections: Array.from({ length: 65 }, (_, i) => `c${i}`) } }),
    field: "spec.odgm_config.collections",
  },
  // DeploymentRecord
  { why: "record without a unit", object: { ...fullRecord, spec: { selected_template: "dev" } }, field: "spec" },
  {
    why: "function in both forms",
    object: record({ function_containers: [{ function_key: "a", container_image: "b" }] }),
    field: "spec.function",
  },
  { why: "function port too large", object: record({ function: { port: 70000 } }), field: "spec.function.port" },
  { why: "unit without id", object: record({ deployment_unit: { class_key: "a" } }), field: "spec.deployment_unit.id" },
  {
    why: "unit date malformed",
    object: record({ deployment_unit: { id: "a", created_at: "yesterday" } }),
    field: "spec.deployment_unit.created_at",
  },
  {
    why: "container without image",
    object: record(container({ container_image: undefined })),
    field: "spec.function_containers[0].container_image",
  },
  {
    why: "wasm without module",
    object: record(container({ container_type: "wasm" })),
    field: "spec.function_containers[0].wasm_module_url",
  },
  {
    why: "mount without volume",
    object: record(container({ volume_mounts: [{ name: "a", mountPath: "/a" }] })),
    field: "spec.function_containers[0].volume_mounts",
  },
  {
    why: "relative mount path",
    object: record(
      container({ volumes: [{ name: "a", emptyDir: {} }], volume_mounts: [{ name: "a", mountPath: "a" }] }),
    ),
    field: "spec.function_containers[0].volume_mounts[0].mountPath",
  },
  {
    why: "volume with two sources",
    object: record(container({ volumes: [{ name: "a", emptyDir: {}, secret: { secretName: "b" } }] })),
    field: "spec.function_containers[0].volumes[0]",
  },
  {
    why: "volume without a source",
    object: record(container({ volumes: [{ name: "a" }] })),
    field: "spec.function_containers[0].volumes[0]",
  },
  {
    why: "size that is not a quantity",
    object: record(container({ volumes: [{ name: "a", emptyDir: { sizeLimit: "big" } }] })),
    field: "spec.function_containers[0].volumes[0].emptyDir.sizeLimit",
  },
  {
    why: "unknown kind of probe",
    object: record(container({ health_check: { type: "exec" } })),
    field: "spec.function_containers[0].health_check.type",
  },
  {
    why: "path of a probe without HTTP",
    object: record(container({ health_check: { type: "tcp", path: "/" } })),
    field: "spec.function_containers[0].health_check.path",
  },
  {
    why: "period of zero",
    object: record(container({ health_check: { period_seconds: 0 } })),
    field: "spec.function_containers[0].health_check.period_seconds",
  },
  {
    why: "unknown access mode",
    object: record(container({ odgm_integration: { access_mode: "append" } })),
    field: "spec.function_containers[0].odgm_integration.access_mode",
  },
  {
    why: "replication factor of zero",
    object: record({ resource_allocation: { replication_factor: 0 } }),
    field: "spec.resource_allocation.replication_factor",
  },
  {
    why: "min above max replicas",
    object: record({ resource_allocation: { min_replicas: 3, max_replicas: 2 } }),
    field: "spec.resource_allocation.max_replicas",
  },
  // DeploymentTemplate
  { why: "template without type", object: template({ template_type: undefined }), field: "spec.template_type" },
  { why: "unknown template type", object: template({ template_type: "ReplicaSet" }), field: "spec.template_type" },
  { why: "template without manifests", object: template({ manifests: undefined }), field: "spec.manifests" },
  {
    why: "manifests in both spellings",
    object: template({ kubernetes_manifests: [{ apiVersion: "v1", kind: "Service" }] }),
    field: "spec.manifests",
  },
  { why: "no manifest in the list", object: template({ manifests: [] }), field: "spec.manifests" },
  {
    why: "manifest without kind",
    object: template({ manifests: [{ apiVersion: "v1" }] }),
    field: "spec.manifests[0].kind",
  },
  { why: "alias that is the name", object: template({ aliases: ["gpu"] }), field: "spec.aliases" },
  {
    why: "best latency above worst",
    object: template({ nfr_capabilities: { min_latency: 9, max_latency: 1 } }),
    field: "spec.nfr_capabilities.min_latency",
  },
  {
    why: "criteria that nothing meets",
    object: template({ selection_criteria: { min_throughput_rps: 9, max_throughput_rps: 1 } }),
    field: "spec.selection_criteria.min_throughput_rps",
  },
  // EnvironmentConfig
  { why: "environment without kind", object: environment({ kind: undefined }), field: "spec.kind" },
  { why: "unknown kind of environment", object: environment({ kind: "moon" }), field: "spec.kind" },
  { why: "quota that is not a quantity", object: environment({ quotas: { cpu: "many" } }), field: "spec.quotas.cpu" },
  {
    why: "unknown pull policy",
    object: environment({ images: { pull_policy: "Sometimes" } }),
    field: "spec.images.pull_policy",
  },
  {
    why: "mirror twice",
    object: environment({
      images: {
        mirrors: [
          { from: "a", to: "b" },
          { from: "a", to: "c" },
        ],
      },
    }),
    field: "spec.images.mirrors[1]",
  },
  { why: "default scale above the quota", object: environment({ scale: { min_scale: 30 } }), field: "spec.scale" },
  {
    why: "unknown toleration effect",
    object: environment({ tolerations: [{ effect: "Never" }] }),
    field: "spec.tolerations[0].effect",
  },
  {
    why: "resources that are not quantities",
    object: environment({ odgm: { container_resources: { odgm: { limits: { cpu: "x" } } } } }),
    field: "spec.odgm.container_resources.odgm.limits.cpu",
  },
  // Differences between server and code
  {
    why: "id beyond 2^53, which JSON numbers in JavaScript cannot hold",
    object: crt({ odgm_config: { node_id: 2 ** 60 } }),
    field: "spec.odgm_config.node_id",
    only: "code",
  },
  {
    why: "list in place of a time, whose type only a rule checks",
    object: record({ deployment_unit: { id: "a", created_at: [] } }),
    field: "spec.deployment_unit.created_at",
  },
  {
    why: "list in place of a time in a class runtime",
    object: crt({ origin: { created_at: ["2026-01-31T12:00:00Z"] } }),
    field: "spec.origin.created_at",
  },
  {
    why: "null in a list that is not typed",
    object: crt({ odgm_config: { collections: [null] } }),
    field: "spec.odgm_config.collections[0]",
    only: "code",
  },
];
