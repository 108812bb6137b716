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

/** A function of the deployment, with what its size depends on. */
export interface RequestedFunction {
  readonly spec: FunctionSpec;
  /** Its place in the deployment's own list; absent when that list is empty and the class binds it. */
  readonly listedAt?: number;
  /** Its availability, where it states its own. */
  readonly ownAvailability?: number;
  /** It has pods of its own; others run inside the data grid or nowhere. */
  readonly hasReplicas: boolean;
}

/**
 * The functions that a deployment runs: those it lists, with the package's definition beneath, else every function that
 * the class binds, each once. All that is wrong with them is said at once.
 */
export function resolveFunctions(
  from: Package,
  definition: ClassDefinition | undefined,
  deployment: ClassDeployment,
): Result<readonly RequestedFunction[], readonly Violation[]> {
  const defined = new Map(from.functions.map((one) => [one.key, one]));
  const violations: Violation[] = [];
  const seen = new Set<FunctionKey>();
  const wanted = listedFunctions(definition, deployment).flatMap(({ listed, listedAt }) => {
    const { functionKey } = listed;
    const found = defined.get(functionKey);
    const wrong = found === undefined ? missingFunction(from, functionKey) : undefined;
    const twice = seen.has(functionKey)
      ? { message: `${functionKey} is listed twice`, fix: "list it once" }
      : undefined;
    seen.add(functionKey);
    if (found === undefined || twice !== undefined) {
      violations.push({ path: pathIn(listedAt, "function_key"), ...(twice ?? wrong ?? { message: "" }) });
      return [];
    }
    const one = resolveFunction(found, { listed, listedAt }, deployment.nfr);
    violations.push(...provisionViolations(one, from));
    return [one];
  });
  return violations.length === 0 ? ok(wanted) : err(violations);
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

/** What a deployment says about each function. */
function listedFunctions(definition: ClassDefinition | undefined, { functions }: ClassDeployment): readonly Listed[] {
  if (functions.length > 0) return functions.map((listed, listedAt) => ({ listed, listedAt }));
  const bound = new Set((definition?.bindings ?? []).map(({ functionKey }) => functionKey));
  return [...bound].map((functionKey) => ({ listed: { functionKey, config: {} }, listedAt: undefined }));
}

/** Where the user can say something about a function: in its entry, or by making one. */
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
  const description = listed.description ?? defined.description;
  const { availableLocation } = listed;
  return {
    spec: {
      functionKey: defined.key,
      functionType: defined.functionType,
      ...(description === undefined ? {} : { description }),
      ...(availableLocation === undefined ? {} : { availableLocation }),
      nfr: { ...ofClass, ...own },
      provision,
      config: { ...defined.config, ...listed.config },
    },
    ...(listedAt === undefined ? {} : { listedAt }),
    ...(own.availability === undefined ? {} : { ownAvailability: own.availability }),
    hasReplicas: isCode(defined.functionType) && provision.wasmModuleUrl === undefined,
  };
}

/** Its own requirements, over the earlier form of them. */
function ownRequirements({ qos, nfr }: FunctionDeployment): NfrRequirements {
  return {
    ...(qos === undefined || qos.throughput === 0 ? {} : { minThroughputRps: qos.throughput }),
    ...(qos === undefined ? {} : { availability: qos.availability }),
    ...nfr,
  };
}

/** What the deployment says wins member by member; an image in place of a module replaces it, and the other way round. */
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

function isCode(type: FunctionType): boolean {
  return type === FunctionType.custom || type === FunctionType.wasm;
}

/** What becomes wrong only when the deployment's words meet the package's. */
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
  const nothing = provision.containerImage === undefined && provision.wasmModuleUrl === undefined;
  if (!nothing || !isCode(functionType)) return bounds;
  return [
    ...bounds,
    {
      path: pathIn(listedAt, "provision_config"),
      message: `${functionKey} of package ${from.name} has neither an image nor a module to run`,
      fix: "set container_image or wasm_module_url in the package or in functions",
    },
  ];
}
