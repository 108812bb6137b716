import {
  API_VERSION,
  classRuntime,
  type ClassRuntime,
  type ClassRuntimeInput,
  type ClassRuntimeStatus,
  type DeploymentRecord,
  type DeploymentRecordSpec,
  type DeploymentRecordStatus,
} from "@oaas/contracts/crd";
import type { EveryField } from "@oaas/contracts/grpc";
import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { nonEmptyList, omitUndefined } from "../omit-empty.ts";
import { schemaViolations, type Path } from "../schema-violations.ts";

/** Defaults of the cluster for records. */
export interface RecordDefaults {
  /** Image of the short `function` form without an image. */
  readonly functionImage?: string | undefined;
}

type SpecInput = ClassRuntimeInput["spec"];
type FunctionInput = NonNullable<SpecInput["functions"]>[number];
type UnitFunction = NonNullable<NonNullable<DeploymentRecordSpec["deployment_unit"]>["functions"]>[number];
type FunctionContainer = NonNullable<DeploymentRecordSpec["function_containers"]>[number];
type Provision = NonNullable<FunctionInput["provision_config"]>;

/**
 * Converts a record to the ClassRuntime that the reconciler uses, or returns all violations with paths in the record.
 * Metadata and status stay those of the record, which owns the children.
 */
export function deploymentRecordToClassRuntime(
  record: DeploymentRecord,
  defaults: RecordDefaults = {},
): Result<ClassRuntime, readonly Violation[]> {
  const { spec, metadata } = record;
  const functions = functionsOf(record, defaults);
  const manifest = {
    apiVersion: API_VERSION,
    kind: "ClassRuntime",
    metadata,
    spec: specOf(spec, functions),
    ...(record.status === undefined ? {} : { status: record.status }),
  };
  const parsed = classRuntime.safeParse(manifest, { reportInput: true });
  if (parsed.success) return ok(parsed.data);
  return err(schemaViolations(parsed.error, ROOT_PATH, (path) => recordPath(path, spec, functions)));
}

function specOf(spec: DeploymentRecordSpec, functions: readonly FunctionInput[]): SpecInput {
  const { deployment_unit: unit, nfr, enforcement = nfr?.enforcement } = spec;
  const classKey = [unit?.package_name, unit?.class_key].filter((part) => part !== undefined).join(".");
  return omitUndefined({
    package_class_key: classKey === "" ? undefined : classKey,
    functions: nonEmptyList(functions),
    origin:
      unit === undefined
        ? undefined
        : omitUndefined({ deployment_id: unit.id, target_env: unit.target_cluster, created_at: unit.created_at }),
    selected_template: spec.selected_template ?? unit?.selected_template,
    template_hint: spec.template_hint,
    target_environment: spec.target_environment ?? unit?.target_env,
    addons: spec.addons,
    odgm_config: spec.odgm_config ?? unit?.odgm_config,
    state_spec: spec.state_spec,
    nfr_requirements: spec.nfr_requirements ?? unit?.nfr_requirements,
    enforcement,
    telemetry: spec.telemetry ?? unit?.telemetry,
    function_bindings: spec.function_bindings ?? unit?.function_bindings,
    resource_allocation: spec.resource_allocation,
  } satisfies EveryField<Omit<SpecInput, "nfr">>);
}

/** Merges the functions of the unit and of the record; the record takes precedence. */
function functionsOf(record: DeploymentRecord, defaults: RecordDefaults): FunctionInput[] {
  const { deployment_unit: unit, function_containers: containers = [], function: short } = record.spec;
  const byKey = new Map<string, FunctionInput>();
  for (const one of unit?.functions ?? []) byKey.set(one.function_key, fromUnit(one));
  for (const one of containers) byKey.set(one.function_key, fromContainer(one, byKey.get(one.function_key)));
  if (short !== undefined) {
    const [only] = byKey.size === 1 ? byKey.keys() : [];
    const key = only ?? record.metadata.name;
    const provision = omitUndefined({ container_image: short.image ?? defaults.functionImage, port: short.port });
    byKey.set(key, merged({ function_key: key, provision_config: provision }, byKey.get(key)));
  }
  return [...byKey.values()];
}

/** A function of a unit, including the members that preceded `provision_config`. */
function fromUnit({ replicas, image, resource_requirements: resources, ...one }: UnitFunction): FunctionInput {
  const older: Provision = omitUndefined({ ...resources, container_image: image, min_scale: replicas });
  if (Object.keys(older).length === 0) return one;
  return { ...one, provision_config: { ...older, ...one.provision_config } };
}

function fromContainer(container: FunctionContainer, known: FunctionInput | undefined): FunctionInput {
  const {
    function_key,
    container_type: type,
    container_image: image,
    wasm_module_url: module,
    port,
    resource_requirements: resources,
    environment_variables: config,
    ...extras
  } = container;
  const isModule = type === "wasm";
  const provision = omitUndefined({
    ...resources,
    container_image: isModule ? undefined : image,
    wasm_module_url: isModule ? module : undefined,
    port: isModule ? undefined : port,
  });
  const own = omitUndefined({ function_key, provision_config: provision, config, ...extras });
  return merged(isModule ? { ...own, function_type: "wasm" } : own, known);
}

/** Merges two functions, with `own` taking precedence. */
function merged(own: FunctionInput, known: FunctionInput | undefined): FunctionInput {
  if (known === undefined) return own;
  const config = { ...known.config, ...own.config };
  return {
    ...known,
    ...own,
    provision_config: { ...known.provision_config, ...own.provision_config },
    ...(Object.keys(config).length === 0 ? {} : { config }),
  };
}

/** Maps a path in the class runtime to the path in the record. */
function recordPath(path: Path, spec: DeploymentRecordSpec, functions: readonly FunctionInput[]): Path {
  const [first, member, index, ...rest] = path;
  if (first !== "spec" || member === undefined) return path;
  if (member === "functions" && typeof index === "number") {
    return functionPath(functions[index]?.function_key ?? "", rest, spec);
  }
  if (member === "functions") return ["spec"];
  if (member === "package_class_key") return ["spec", "deployment_unit", "class_key"];
  if (member === "origin") return ["spec", "deployment_unit", index === "deployment_id" ? "id" : (index ?? "")];
  const isOwn = Object.hasOwn(spec, member) && (spec as Record<string | number, unknown>)[member] !== undefined;
  if (member === "enforcement" && !isOwn) return ["spec", "nfr", ...path.slice(1)];
  if (member === "target_environment" && !isOwn) return ["spec", "deployment_unit", "target_env"];
  return isOwn ? path : ["spec", "deployment_unit", ...path.slice(1)];
}

function functionPath(key: string, rest: Path, spec: DeploymentRecordSpec): Path {
  const container = spec.function_containers?.findIndex(({ function_key: one }) => one === key) ?? -1;
  if (container >= 0) return ["spec", "function_containers", container, ...containerPath(rest)];
  const unit = spec.deployment_unit?.functions?.findIndex(({ function_key: one }) => one === key) ?? -1;
  if (unit >= 0 && spec.function === undefined) return ["spec", "deployment_unit", "functions", unit, ...rest];
  return ["spec", "function", ...(rest[0] === "provision_config" ? ["image"] : [])];
}

/** Containers have flat fields where functions have nested ones. */
function containerPath(rest: Path): Path {
  const [member, field] = rest;
  if (member === "config") return ["environment_variables", ...rest.slice(1)];
  if (member !== "provision_config") return rest;
  if (field === undefined) return ["container_image"];
  return /^(cpu|memory)_/.test(String(field)) ? ["resource_requirements", ...rest.slice(1)] : rest.slice(1);
}

type ContainerStatus = NonNullable<DeploymentRecordStatus["function_container_status"]>[number];

/** Converts the status of a class runtime to that of a record. */
export function classStatusToRecordStatus(status: ClassRuntimeStatus): DeploymentRecordStatus {
  if (status.functions === undefined) return status;
  const store = status.odgm_cluster_status;
  return {
    ...status,
    function_container_status: status.functions.map(
      ({ function_key, ready, ready_replicas: running = 0 }): ContainerStatus => ({
        function_key,
        container_status: ready === true || running > 0 ? "Running" : "Waiting",
        health_status: ready === undefined ? "unknown" : ready ? "healthy" : "degraded",
        ...resourceUsage(status, function_key),
        ...(store === undefined ? {} : { odgm_connection_status: store.ready === true ? "Available" : "Unavailable" }),
      }),
    ),
  };
}

/** The usage of one replica behind the recommendations, so that it changes with them and needs no writes of its own. */
function resourceUsage(
  { nfr_recommendations: recommendations = [] }: ClassRuntimeStatus,
  functionKey: string,
): Pick<ContainerStatus, "resource_usage"> {
  const measured = (dimension: string, value: string): number | undefined =>
    recommendations.find((one) => one.component === functionKey && one.dimension === dimension)?.evidence?.values[
      value
    ];
  const millicores = measured("cpu", "p90_millicores");
  const bytes = measured("memory", "p90_bytes");
  if (millicores === undefined && bytes === undefined) return {};
  return {
    resource_usage: {
      ...(millicores === undefined ? {} : { cpu: `${Math.ceil(millicores)}m` }),
      ...(bytes === undefined ? {} : { memory: String(Math.ceil(bytes)) }),
    },
  };
}
