import { create, type JsonObject } from "@bufbuild/protobuf";
import type { ClassFunction, ClassRuntimeInput, ClassRuntimeSpec } from "@oaas/contracts/crd";
import {
  accessModifierFromWire,
  accessModifierToWire,
  ClassFunctionBindingSchema,
  consistencyWords,
  FunctionDeploymentSpecSchema,
  functionTypeWords,
  NfrRequirementsSchema,
  ProvisionConfigSchema,
  type ClassFunctionBinding,
  type EveryField,
  type FunctionDeploymentSpec,
  type NfrRequirements,
  type ProvisionConfig,
} from "@oaas/contracts/grpc";
import { pathOf } from "@oaas/foundation";
import { POD_SETTINGS, podSettingsOf, type ConsistencyModel, type PodSettings } from "@oaas/models";
import { nonEmptyList, omitUndefined, nonEmptyMap } from "../omit-empty.ts";
import type { WireReader } from "./wire-reader.ts";

type SpecInput = ClassRuntimeInput["spec"];
type FunctionInput = NonNullable<SpecInput["functions"]>[number];
type BindingInput = NonNullable<SpecInput["function_bindings"]>[number];
type NfrInput = NonNullable<SpecInput["nfr_requirements"]>;
type Consistency = NonNullable<NonNullable<ClassRuntimeSpec["nfr_requirements"]>["consistency"]>;

/** Fields of a function that the wire format does not have. */
type NotOnWire = "qos_requirement" | "volumes" | "volume_mounts" | "health_check" | "odgm_integration";

/** Converts a function from the wire format. */
export function functionFromWire(wire: FunctionDeploymentSpec, path: string, reader: WireReader): FunctionInput {
  const { nfrRequirements: nfr, provisionConfig: provision } = wire;
  return omitUndefined({
    function_key: wire.functionKey,
    function_type: reader.enumWord(functionTypeWords, wire.functionType, pathOf(path, "function_type")),
    description: wire.description,
    available_location: wire.availableLocation,
    nfr_requirements: nfr === undefined ? undefined : nfrFromWire(nfr, pathOf(path, "nfr_requirements"), reader),
    provision_config:
      provision === undefined ? undefined : provisionFromWire(provision, pathOf(path, "provision_config"), reader),
    config: nonEmptyMap(wire.config),
  } satisfies EveryField<Omit<FunctionInput, NotOnWire>>);
}

type ProvisionInput = NonNullable<FunctionInput["provision_config"]>;

function provisionFromWire(wire: ProvisionConfig, path: string, reader: WireReader): ProvisionInput {
  const { pod = {} } = wire;
  for (const name of Object.keys(pod)) {
    if ((POD_SETTINGS as readonly string[]).includes(name)) continue;
    reader.addViolation(pathOf(path, name), "unknown field", `use one of ${POD_SETTINGS.join(", ")}`);
  }
  return omitUndefined({
    // The schema of the object checks their shape.
    ...(pod as PodSettings as Pick<ProvisionInput, keyof PodSettings>),
    container_image: wire.containerImage,
    wasm_module_url: wire.wasmModuleUrl,
    port: wire.port,
    max_concurrency: wire.maxConcurrency,
    need_http2: wire.needHttp2,
    cpu_request: wire.cpuRequest,
    memory_request: wire.memoryRequest,
    cpu_limit: wire.cpuLimit,
    memory_limit: wire.memoryLimit,
    min_scale: wire.minScale,
    max_scale: wire.maxScale,
  } satisfies EveryField<Omit<ProvisionInput, keyof PodSettings>>);
}

/** The inverse of `functionFromWire`; fields that the wire format does not have (probes, volumes) are omitted. */
export function functionToWire(one: ClassFunction): FunctionDeploymentSpec {
  const { function_type: type, provision_config: provision, nfr_requirements: nfr } = one;
  return create(
    FunctionDeploymentSpecSchema,
    omitUndefined({
      functionKey: one.function_key,
      functionType: type === undefined ? undefined : functionTypeWords.toWire(type),
      description: one.description,
      availableLocation: one.available_location,
      nfrRequirements: nfr === undefined ? undefined : nfrToWire(nfr),
      provisionConfig: provision === undefined ? undefined : provisionToWire(provision),
      config: one.config ?? {},
    } satisfies EveryField<FunctionDeploymentSpec>),
  );
}

function provisionToWire(one: NonNullable<ClassFunction["provision_config"]>): ProvisionConfig {
  return create(
    ProvisionConfigSchema,
    omitUndefined({
      containerImage: one.container_image,
      wasmModuleUrl: one.wasm_module_url,
      port: one.port,
      maxConcurrency: one.max_concurrency,
      needHttp2: one.need_http2,
      cpuRequest: one.cpu_request,
      memoryRequest: one.memory_request,
      cpuLimit: one.cpu_limit,
      memoryLimit: one.memory_limit,
      minScale: one.min_scale,
      maxScale: one.max_scale,
      pod: podSettingsOf(one) as JsonObject | undefined,
    } satisfies EveryField<ProvisionConfig>),
  );
}

/** Converts requirements from the wire format. */
export function nfrFromWire(wire: NfrRequirements, path: string, reader: WireReader): NfrInput {
  return omitUndefined({
    min_throughput_rps: wire.minThroughputRps,
    max_latency_ms: wire.maxLatencyMs,
    availability: wire.availability,
    cpu_utilization_target: wire.cpuUtilizationTarget,
    consistency: consistencyFromWire(wire.consistency, pathOf(path, "consistency"), reader),
  } satisfies EveryField<Omit<NfrInput, "throughput" | "max_latency" | "availability_pct">>);
}

/** The inverse of `nfrFromWire`, for every spelling. */
export function nfrToWire(nfr: NonNullable<ClassRuntimeSpec["nfr_requirements"]>): NfrRequirements {
  const { availability_pct: percent } = nfr;
  return create(
    NfrRequirementsSchema,
    omitUndefined({
      minThroughputRps: nfr.min_throughput_rps ?? nfr.throughput,
      maxLatencyMs: nfr.max_latency_ms ?? nfr.max_latency,
      availability: nfr.availability ?? (percent === undefined ? undefined : percent / 100),
      cpuUtilizationTarget: nfr.cpu_utilization_target,
      consistency: nfr.consistency === undefined ? undefined : consistencyToWire(nfr.consistency),
    } satisfies EveryField<NfrRequirements>),
  );
}

/** Converts a consistency model from the wire format. */
export function consistencyFromWire(value: number | undefined, path: string, reader: WireReader) {
  const word = reader.enumWord(consistencyWords, value, path);
  return word === undefined ? undefined : (word.replaceAll("-", "_") as Exclude<Consistency, "eventual">);
}

/** Converts a consistency model to the wire format, which has no "eventual": "none" gives the same guarantee. */
export function consistencyToWire(word: Consistency) {
  const known = word === "eventual" ? "none" : word.replaceAll("_", "-");
  return consistencyWords.toWire(known as ConsistencyModel);
}

/** Converts a binding from the wire format. */
export function bindingFromWire(wire: ClassFunctionBinding, path: string, reader: WireReader): BindingInput {
  const { accessModifier: given } = wire;
  const modifier = given === undefined || given === "" ? undefined : accessModifierFromWire(given);
  if (given !== undefined && given !== "" && modifier === undefined) {
    reader.addViolation(
      pathOf(path, "access_modifier"),
      `"${given}" is not an access modifier`,
      "use Public, Internal or Private",
    );
  }
  return omitUndefined({
    name: wire.name,
    function_key: wire.functionKey,
    access_modifier: modifier,
    stateless: wire.stateless,
    parameters: nonEmptyList(wire.parameters),
    trigger_on_state_change: wire.triggerOnStateChange,
    async_execution: wire.asyncExecution,
  } satisfies EveryField<BindingInput>);
}

/** The inverse of `bindingFromWire`. */
export function bindingToWire(one: NonNullable<ClassRuntimeSpec["function_bindings"]>[number]): ClassFunctionBinding {
  return create(
    ClassFunctionBindingSchema,
    omitUndefined({
      name: one.name,
      functionKey: one.function_key,
      accessModifier: one.access_modifier === undefined ? undefined : accessModifierToWire(one.access_modifier),
      stateless: one.stateless,
      parameters: one.parameters ?? [],
      triggerOnStateChange: one.trigger_on_state_change,
      asyncExecution: one.async_execution,
    } satisfies EveryField<ClassFunctionBinding>),
  );
}
