import type { EveryField } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import {
  checkProvisionBounds,
  EMPTY_PROVISION,
  FunctionType,
  type ClassDefinition,
  type ClassDeployment,
  type FunctionDefinition,
  type FunctionDeployment,
  type FunctionKey,
  type NfrRequirements,
  type Package,
  type ProvisionConfig,
} from "@oaas/models";
import type { FunctionSpec } from "../plan-types.ts";

/** A function of the deployment, with the inputs of its size. */
export interface RequestedFunction {
  readonly spec: FunctionSpec;
  /** Its index in `functions` of the deployment; absent if that list is empty and the class binds the function. */
  readonly listedAt?: number;
  /** The availability that the function itself requires. */
  readonly ownAvailability?: number;
  /** It runs in its own pods; other functions run inside the data grid or not at all. */
  readonly hasReplicas: boolean;
}

/**
 * The functions that a deployment runs: those it lists, merged with their definition in the package, or else every
 * function that the class binds. All violations are returned together.
 */
export function resolveFunctions(
  from: Package,
  definition: ClassDefinition | undefined,
  deployment: ClassDeployment,
): Result<readonly RequestedFunction[], readonly Violation[]> {
  const defined = new Map(from.functions.map((one) => [one.key, one]));
  const violations: Violation[] = [];
  const seen = new Set<FunctionKey>();
  const resolved = listedFunctions(definition, deployment).flatMap(({ listed, listedAt }) => {
    const { functionKey } = listed;
    const found = defined.get(functionKey);
    const missing = found === undefined ? missingFunction(from, functionKey) : undefined;
    const twice = seen.has(functionKey)
      ? { message: `${functionKey} is listed twice`, fix: "list it once" }
      : undefined;
    seen.add(functionKey);
    if (found === undefined || twice !== undefined) {
      violations.push({ path: pathIn(listedAt, "function_key"), ...(twice ?? missing ?? { message: "" }) });
      return [];
    }
    const one = resolveFunction(found, { listed, listedAt }, deployment.nfr);
    violations.push(...provisionViolations(one, from));
    return [one];
  });
  return violations.length === 0 ? ok(resolved) : err(violations);
}

function missingFunction(from: Package, key: FunctionKey): Omit<Violation, "path"> {
  const known = from.functions.map((one) => one.key).join(", ");
  return {
    message: `package ${from.name} has no function ${key}`,
    fix: known === "" ? "add it to the package" : `use one of ${known}`,
  };
}

interface Listed {
  readonly listed: FunctionDeployment;
  readonly listedAt: number | undefined;
}

/** The settings that a deployment has for each function. */
function listedFunctions(definition: ClassDefinition | undefined, { functions }: ClassDeployment): readonly Listed[] {
  if (functions.length > 0) return functions.map((listed, listedAt) => ({ listed, listedAt }));
  const bound = new Set((definition?.bindings ?? []).map(({ functionKey }) => functionKey));
  return [...bound].map((functionKey) => ({ listed: { functionKey, config: {} }, listedAt: undefined }));
}

/** The path of a function in the request, or of the list if it has no entry. */
export function pathIn(listedAt: number | undefined, ...members: readonly string[]): string {
  const list = pathOf(ROOT_PATH, "functions");
  return listedAt === undefined ? list : pathOf(list, listedAt, ...members);
}

function resolveFunction(
  defined: FunctionDefinition,
  { listed, listedAt }: Listed,
  ofClass: NfrRequirements,
): RequestedFunction {
  const provision = mergeProvision(defined.provision, listed.provision);
  const own = ownRequirements(listed);
  return {
    spec: omitUndefined({
      functionKey: defined.key,
      functionType: defined.functionType,
      description: listed.description ?? defined.description,
      availableLocation: listed.availableLocation,
      nfr: { ...ofClass, ...own },
      provision,
      config: { ...defined.config, ...listed.config },
    } satisfies EveryField<FunctionSpec>),
    ...(listedAt === undefined ? {} : { listedAt }),
    ...(own.availability === undefined ? {} : { ownAvailability: own.availability }),
    hasReplicas: isCode(defined.functionType) && provision.wasmModuleUrl === undefined,
  };
}

/** The requirements of the function; `nfr` wins over the older `qos`. */
function ownRequirements({ qos, nfr }: FunctionDeployment): NfrRequirements {
  return {
    ...(qos === undefined || qos.throughput === 0 ? {} : { minThroughputRps: qos.throughput }),
    ...(qos === undefined ? {} : { availability: qos.availability }),
    ...nfr,
  };
}

/** Settings of the deployment win; an image replaces a module and the other way round. */
function mergeProvision(defined: ProvisionConfig = EMPTY_PROVISION, listed?: ProvisionConfig): ProvisionConfig {
  if (listed === undefined) return defined;
  const { containerImage, wasmModuleUrl, ...rest } = defined;
  const replaced = listed.containerImage !== undefined || listed.wasmModuleUrl !== undefined;
  return {
    ...rest,
    ...(replaced || containerImage === undefined ? {} : { containerImage }),
    ...(replaced || wasmModuleUrl === undefined ? {} : { wasmModuleUrl }),
    ...listed,
    maxConcurrency: listed.maxConcurrency === 0 ? defined.maxConcurrency : listed.maxConcurrency,
    needHttp2: listed.needHttp2 || defined.needHttp2,
  };
}

export function isCode(type: FunctionType): boolean {
  return type === FunctionType.custom || type === FunctionType.wasm;
}

/** Violations that only the merged settings show. */
function provisionViolations({ spec, listedAt }: RequestedFunction, from: Package): Violation[] {
  const { provision, functionKey, functionType } = spec;
  const bounds = checkProvisionBounds(
    {
      cpu_request: provision.cpuRequest,
      cpu_limit: provision.cpuLimit,
      memory_request: provision.memoryRequest,
      memory_limit: provision.memoryLimit,
      min_scale: provision.minScale,
      max_scale: provision.maxScale,
    },
    pathIn(listedAt, "provision_config"),
  );
  const hasNoCode = provision.containerImage === undefined && provision.wasmModuleUrl === undefined;
  if (!hasNoCode || !isCode(functionType)) return bounds;
  return [
    ...bounds,
    {
      path: pathIn(listedAt, "provision_config"),
      message: `${functionKey} of package ${from.name} has neither container_image nor wasm_module_url`,
      fix: "set one of them in the package or in functions",
    },
  ];
}
