import { toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { snapshotOf, type FileJson } from "./snapshot.ts";
import { FILE_DESCRIPTORS } from "./descriptors.ts";

/*
 * What peers that already run expect, typed by hand from their contract and from nothing else: `name=number type`, with
 * `?` for optional, `[]` for repeated, `map<k,v>` for maps, and message types without their package.
 */
const MESSAGES: Readonly<Record<string, string>> = {
  "oaas.common.Timestamp": "seconds=1 int64, nanos=2 int32",
  "oaas.common.ResourceRequirements":
    "cpu_request=1 string, memory_request=2 string, cpu_limit=3 string?, memory_limit=4 string?",
  "oaas.common.ProvisionConfig":
    "container_image=1 string?, port=2 uint32?, max_concurrency=3 uint32, need_http2=4 bool, cpu_request=5 string?, memory_request=6 string?, cpu_limit=7 string?, memory_limit=8 string?, min_scale=9 uint32?, max_scale=10 uint32?, wasm_module_url=11 string?",
  "oaas.common.NfrRequirements":
    "max_latency_ms=1 uint32?, min_throughput_rps=2 uint32?, availability=3 double?, cpu_utilization_target=4 double?",
  "oaas.common.TelemetrySpec":
    "enabled=1 bool, traces=2 bool?, metrics=3 bool?, logs=4 bool?, sampling_rate=5 double?, service_name=6 string?, resource_attributes=7 map<string,string>",

  "oaas.deployment.FunctionDeploymentSpec":
    "function_key=1 string, description=5 string?, available_location=6 string?, nfr_requirements=7 NfrRequirements?, provision_config=8 ProvisionConfig?, config=9 map<string,string>",
  "oaas.deployment.ResourceReference": "kind=1 string, name=2 string, namespace=3 string?, uid=4 string?",
  "oaas.deployment.InvocationRoutes": "fn_routes=1 map<string,FunctionRoute>, disabled_fn=2 string[]",
  "oaas.deployment.FunctionRoute":
    "url=1 string, stateless=2 bool?, standby=3 bool?, active_group=4 uint64[], function_key=5 string?",
  "oaas.deployment.OdgmConfig":
    "collections=1 string[], partition_count=2 uint32?, replica_count=3 uint32?, shard_type=4 string?, invocations=5 InvocationRoutes, options=6 map<string,string>, log=7 string?, env_node_ids=8 map<string,OdgmNodeIds>, odgm_node_id=9 uint64?, collection_assignments=10 map<string,CollectionShardAssignments>",
  "oaas.deployment.OdgmNodeIds": "ids=1 uint64[]",
  "oaas.deployment.CollectionShardAssignments": "assignments=1 ShardAssignmentSpec[]",
  "oaas.deployment.ShardAssignmentSpec": "primary=1 uint64?, replica=2 uint64[], shard_ids=3 uint64[]",
  "oaas.deployment.ClassFunctionBinding":
    "name=1 string, function_key=2 string, access_modifier=3 string?, stateless=4 bool?, parameters=5 string[]",
  "oaas.deployment.DeploymentUnit":
    "id=1 string, package_name=2 string, class_key=3 string, functions=5 FunctionDeploymentSpec[], target_env=6 string, function_bindings=7 ClassFunctionBinding[], created_at=8 Timestamp, odgm_config=9 OdgmConfig, selected_template=11 string?, telemetry=12 TelemetrySpec?",
  "oaas.deployment.DeployRequest": "deployment_unit=1 DeploymentUnit",
  "oaas.deployment.DeployResponse": "status=1 StatusCode, deployment_id=2 string, message=3 string?",
  "oaas.deployment.GetDeploymentStatusRequest": "deployment_id=1 string",
  "oaas.deployment.GetDeploymentStatusResponse":
    "status=1 StatusCode, deployment=2 DeploymentUnit?, message=3 string?, status_resource_refs=4 ResourceReference[]",
  "oaas.deployment.DeleteDeploymentRequest": "deployment_id=1 string",
  "oaas.deployment.DeleteDeploymentResponse": "status=1 StatusCode, message=2 string?",
  "oaas.deployment.ListClassRuntimesRequest":
    "package_name=1 string?, class_key=2 string?, target_env=3 string?, status=4 string?, limit=10 uint32?, offset=11 uint32?",
  "oaas.deployment.ListClassRuntimesResponse": "items=1 ClassRuntimeSummary[]",
  "oaas.deployment.GetClassRuntimeRequest": "deployment_id=1 string",
  "oaas.deployment.GetClassRuntimeResponse": "deployment=1 ClassRuntimeSummary?",

  "oaas.runtime.ClassRuntimeStatus":
    "condition=1 DeploymentCondition, phase=2 DeploymentPhase, message=3 string?, last_updated=4 string, functions=5 FunctionStatus[]",
  "oaas.runtime.FunctionStatus":
    "function_key=1 string, service=2 string, port=3 uint32, predicted_url=4 string, observed_url=5 string?, template=6 string, ready=7 bool?, reason=8 string?, message=9 string?, last_transition_time=10 string?",
  "oaas.runtime.NfrCompliance":
    "overall_status=1 string, throughput_status=2 string?, latency_status=3 string?, availability_status=4 string?, last_checked=5 string",
  "oaas.runtime.ClassRuntimeSummary":
    "id=1 string, deployment_unit_id=2 string, package_name=3 string, class_key=4 string, target_environment=5 string, cluster_name=6 string?, status=7 ClassRuntimeStatus, nfr_compliance=8 NfrCompliance?, resource_refs=9 ResourceReference[], created_at=10 string, updated_at=11 string, partition_count=12 uint32",
  "oaas.runtime.ClassRuntimeSpec":
    "selected_template=1 string?, addons=2 string[], odgm_config=3 OdgmConfigSpec?, functions=4 FunctionDeploymentSpec[], nfr_requirements=5 NfrRequirementsSpec?, nfr=6 NfrSpec?",
  "oaas.runtime.OdgmConfigSpec":
    "collections=1 string[], partition_count=2 uint32?, replica_count=3 uint32?, shard_type=4 string?, invocations=5 InvocationRoutes?, options=6 map<string,string>",
  "oaas.runtime.NfrRequirementsSpec":
    "min_throughput_rps=1 uint32?, max_latency_ms=2 uint32?, availability_pct=3 float?, consistency=4 string?",
  "oaas.runtime.NfrSpec": "enforcement=1 NfrEnforcementSpec?",
  "oaas.runtime.NfrEnforcementSpec": "mode=1 string?, dimensions=2 string[]",
  "oaas.runtime.RouterEndpoint": "service=1 string, port=2 int32",
  "oaas.runtime.RuntimeState":
    "instance_id=1 string, deployment_id=2 string, status=3 string, current_resources=4 ResourceRequirements, last_heartbeat=5 Timestamp, metadata=6 map<string,string>",
  "oaas.runtime.GetRuntimeStateRequest": "instance_id=1 string",
  "oaas.runtime.GetRuntimeStateResponse": "status=1 StatusCode, runtime_state=2 RuntimeState?, message=3 string?",
  "oaas.runtime.UpdateRuntimeStateRequest": "runtime_state=1 RuntimeState",
  "oaas.runtime.UpdateRuntimeStateResponse": "status=1 StatusCode, message=2 string?",
  "oaas.runtime.ListActiveInstancesRequest": "deployment_id=1 string?, limit=2 uint32, offset=3 uint32",
  "oaas.runtime.ListActiveInstancesResponse":
    "status=1 StatusCode, instances=2 RuntimeState[], total_count=3 uint32, message=4 string?",

  "oaas.health.HealthCheckRequest": "service=1 string",
  "oaas.health.HealthCheckResponse": "status=1 ServingStatus",
  "oaas.health.CrmEnvRequest": "env=1 string",
  "oaas.health.CrmEnvHealth":
    "env_name=1 string, status=2 string, crm_version=3 string?, last_seen=4 Timestamp, node_count=5 uint32?, ready_nodes=6 uint32?, availability=7 double?",
  "oaas.health.CrmClusterRequest": "cluster=1 string",
  "oaas.health.CrmClusterHealth":
    "cluster_name=1 string, status=2 string, crm_version=3 string?, last_seen=4 Timestamp, node_count=5 uint32?, ready_nodes=6 uint32?, availability=7 double?",
  "oaas.topology.TopologyRequest": "source=1 string",
  "oaas.topology.TopologySnapshot": "nodes=1 TopologyNode[], edges=2 TopologyEdge[], timestamp=3 Timestamp",
  "oaas.topology.TopologyNode":
    "id=1 string, node_type=2 string, status=3 string, metadata=4 map<string,string>, deployed_classes=5 string[]",
  "oaas.topology.TopologyEdge": "from_id=1 string, to_id=2 string, metadata=3 map<string,string>",

  "oaas.package.PackageMetadata":
    "author=1 string, description=2 string, tags=3 string[], created_at=4 Timestamp, updated_at=5 Timestamp",
  "oaas.package.FunctionMetadata":
    "description=1 string, parameters=2 string[], return_type=3 string, resource_requirements=4 ResourceRequirements",
  "oaas.package.StateSpecification": "type=1 string, persistent=2 bool, serialization_format=3 string",
  "oaas.package.FunctionBinding": "function_key=1 string, access_modifier=2 string, parameters=3 string[]",
  "oaas.package.OPackage":
    "name=1 string, version=2 string?, classes=3 OClass[], functions=4 OFunction[], dependencies=5 string[], metadata=6 PackageMetadata, disabled=7 bool",
  "oaas.package.OClass":
    "key=1 string, name=2 string, package=3 string, functions=4 FunctionBinding[], state_spec=5 StateSpecification?, disabled=6 bool",
  "oaas.package.OFunction":
    "key=1 string, name=2 string, package=3 string, runtime=4 string, handler=5 string, metadata=6 FunctionMetadata, disabled=7 bool",
  "oaas.package.CreatePackageRequest": "package=1 OPackage",
  "oaas.package.CreatePackageResponse": "status=1 StatusCode, package_id=2 string, message=3 string?",
  "oaas.package.GetPackageRequest": "name=1 string",
  "oaas.package.GetPackageResponse": "status=1 StatusCode, package=2 OPackage?, message=3 string?",
  "oaas.package.ListPackagesRequest": "filter=1 string?, limit=2 uint32, offset=3 uint32",
  "oaas.package.ListPackagesResponse":
    "status=1 StatusCode, packages=2 OPackage[], total_count=3 uint32, message=4 string?",
  "oaas.package.DeletePackageRequest": "name=1 string",
  "oaas.package.DeletePackageResponse": "status=1 StatusCode, message=2 string?",
  "oaas.package.DeployClassRequest":
    "package_name=1 string, class_key=2 string, target_env=3 string, nfr_requirements=5 NfrRequirements, target_envs=6 string[]",
  "oaas.package.DeployClassResponse": "status=1 StatusCode, deployment_id=2 string, message=3 string?",
  "oaas.package.ReportStatusRequest": "deployment_id=1 string, status=2 DeploymentStatus",
  "oaas.package.ReportStatusResponse": "status=1 StatusCode, message=2 string?",
  "oaas.package.DeploymentStatus": "deployment_id=1 string, status=2 string, message=3 string?, updated_at=4 Timestamp",

  "oprc.StatsResponse": "shards=1 ShardStats[]",
  "oprc.ShardStats": "collection=1 string, partition_id=2 uint32, shard_id=3 uint64, count=4 uint64",
  "oprc.CapabilitiesResponse":
    "string_ids=1 bool, string_entry_keys=2 bool, granular_entry_storage=3 bool, event_pipeline_v2=4 bool",
  "oprc.CreateCollectionRequest":
    "name=1 string, partition_count=2 int32, replica_count=3 int32, shard_assignments=4 ShardAssignment[], shard_type=6 string, options=7 map<string,string>, invocations=8 InvocationRoute?",
  "oprc.ShardAssignment": "primary=1 uint64?, replica=2 uint64[], shard_ids=3 uint64[]",
  "oprc.InvocationRoute": "fn_routes=1 map<string,FuncInvokeRoute>, disabled_fn=2 string[]",
  "oprc.FuncInvokeRoute":
    "url=1 string, stateless=2 bool, standby=3 bool, active_group=4 uint64[], wasm_module_url=5 string?",
};

const RESERVED: Readonly<Record<string, readonly number[]>> = {
  "oaas.deployment.FunctionDeploymentSpec": [2, 4],
  "oaas.deployment.DeploymentUnit": [4],
  "oaas.package.DeployClassRequest": [4],
};

const ENUMS: Readonly<Record<string, string>> = {
  "oaas.common.StatusCode": "OK=0, ERROR=1, NOT_FOUND=2, INVALID_REQUEST=3, INTERNAL_ERROR=4",
  "oaas.runtime.DeploymentCondition":
    "DEPLOYMENT_CONDITION_UNKNOWN=0, PENDING=1, DEPLOYING=2, RUNNING=3, DOWN=4, DELETED=5",
  "oaas.runtime.DeploymentPhase": "DEPLOYMENT_PHASE_UNKNOWN=0, RESOURCE_PROVISIONING=1, PHASE_RUNNING=2, FAILED=3",
  "oaas.health.HealthCheckResponse.ServingStatus": "UNKNOWN=0, SERVING=1, NOT_SERVING=2, SERVICE_UNKNOWN=3",
  "grpc.health.v1.HealthCheckResponse.ServingStatus": "UNKNOWN=0, SERVING=1, NOT_SERVING=2, SERVICE_UNKNOWN=3",
  "oprc.ResponseStatus": "OKAY=0, INVALID_REQUEST=1, APP_ERROR=2, SYSTEM_ERROR=3",
};

/** Full method paths, as HTTP/2 sends them; a trailing `~` marks a server stream, a leading one a client stream. */
const METHODS = [
  "/oaas.deployment.DeploymentService/Deploy",
  "/oaas.deployment.DeploymentService/GetDeploymentStatus",
  "/oaas.deployment.DeploymentService/DeleteDeployment",
  "/oaas.deployment.DeploymentService/ListClassRuntimes",
  "/oaas.deployment.DeploymentService/GetClassRuntime",
  "/oaas.health.HealthService/Check",
  "/oaas.health.HealthService/Watch~",
  "/oaas.health.CrmInfoService/GetEnvHealth",
  "/oaas.health.CrmInfoService/GetClusterHealth",
  "/oaas.topology.TopologyService/GetTopology",
  "/oaas.package.PackageService/CreatePackage",
  "/oaas.package.PackageService/GetPackage",
  "/oaas.package.PackageService/ListPackages",
  "/oaas.package.PackageService/DeletePackage",
  "/oaas.package.PackageService/DeployClass",
  "/oaas.package.PackageService/ReportDeploymentStatus",
  "/oaas.runtime.RuntimeService/GetRuntimeState",
  "/oaas.runtime.RuntimeService/UpdateRuntimeState",
  "/oaas.runtime.RuntimeService/ListActiveInstances",
  "/grpc.health.v1.Health/Check",
  "/grpc.health.v1.Health/Watch~",
  "~/grpc.reflection.v1.ServerReflection/ServerReflectionInfo~",
  "~/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo~",
  "/oprc.DataService/Stats",
  "/oprc.DataService/Capabilities",
  "/oprc.DataService/ListObjects~",
  "/oprc.DataService/ListValues~",
  "/oprc.OprcFunction/InvokeFn",
  "/oprc.OprcFunction/InvokeObj",
  "/oprc.RoutingService/GetClsRouting",
  "/oprc.RoutingService/WatchClsRouting~",
];

const actual = snapshotOf(FILE_DESCRIPTORS.map((file) => toJson(FileDescriptorProtoSchema, file.proto) as FileJson));

/** A snapshot line in the notation of the table above. */
function asFact(number: string, line: string): string {
  const [, key, value, mapName] = /^map<(\w+), ([\w.]+)> (\w+)$/.exec(line) ?? [];
  if (mapName !== undefined) return `${mapName}=${number} map<${key},${lastPart(value)}>`;
  const [name = "", type, label] = line.split(" ").toReversed();
  const suffix = { repeated: "[]", optional: "?" }[label ?? ""] ?? "";
  return `${name}=${number} ${lastPart(type)}${suffix}`;
}

function lastPart(type: string | undefined): string {
  return type?.split(".").at(-1) ?? "";
}

describe("messages of earlier peers", () => {
  test.each(Object.entries(MESSAGES))("%s", (type, facts) => {
    const fields = Object.entries(actual.messages[type] ?? {}).filter(([, line]) => line !== "reserved");
    const known = fields.filter(([number]) => Number(number) < 100);
    expect(known.map(([number, line]) => asFact(number, line))).toEqual(facts.split(", "));
  });

  test.each(Object.entries(RESERVED))("%s keeps its reserved numbers", (type, numbers) => {
    for (const number of numbers) expect(actual.messages[type]?.[number]).toBe("reserved");
  });
});

test.each(Object.entries(ENUMS))("enum %s", (type, facts) => {
  const values = Object.entries(actual.enums[type] ?? {}).map(([number, name]) => `${name}=${number}`);
  expect(values).toEqual(facts.split(", "));
});

test.each(METHODS)("method %s", (method) => {
  const [, clientStream, service = "", name = "", serverStream] = /^(~?)\/([\w.]+)\/(\w+)(~?)$/.exec(method) ?? [];
  const [input, output] = actual.services[service]?.[name]?.split(" -> ") ?? [];
  expect(input?.startsWith("stream ")).toBe(clientStream === "~");
  expect(output?.startsWith("stream ")).toBe(serverStream === "~");
});

test("CrmClusterHealth equals CrmEnvHealth except for one field name", () => {
  const env = { ...actual.messages["oaas.health.CrmEnvHealth"] };
  expect(actual.messages["oaas.health.CrmClusterHealth"]).toEqual({ ...env, 1: "string cluster_name" });
  expect(env[1]).toBe("string env_name");
});
