import type { ClassFunction } from "@oaas/contracts/crd";
import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { checkText, CONFIG_KEY, type PodSettings } from "@oaas/models";
import { clusterDomainOf } from "../model/cluster-facts.ts";
import { resolveImage } from "./images.ts";
import { podSettingViolations } from "./pod-settings.ts";
import { baseName, functionNames } from "./names.ts";
import {
  containerResources,
  environmentAmounts,
  raiseForLatency,
  withEnforcedRequests,
  withOverrides,
  type StatedAmounts,
} from "./resources.ts";
import { planScale, statedEnforcement, type Scale } from "./scale.ts";
import type { Policy } from "./policy.ts";
import { classRequirements, functionRequirements, type Requirements } from "./requirements.ts";
import type { ContainerResources, FunctionRuntime } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";

/** Port of every function Service. */
export const SERVICE_PORT = 80;

/** A function with all decisions made. */
export interface FunctionPlan {
  readonly spec: ClassFunction;
  readonly key: string;
  readonly runtime: FunctionRuntime;
  /** Name of its children. */
  readonly name: string;
  /** Container port. */
  readonly port: number;
  /** The image with registry mirrors applied; empty without a container. */
  readonly image: string;
  readonly scale: Scale;
  /** Of the container in the pod template. */
  readonly resources: ContainerResources;
  /** Of running pods, with the requests that enforcement chose. */
  readonly runningResources: ContainerResources;
  readonly requirements: Requirements;
  /** Expected URL; empty for functions that cannot be called. */
  readonly url: string;
}

/** A class with all decisions made that do not depend on the kind of workload. */
export interface ClassPlan {
  readonly input: RenderInput;
  readonly policy: Policy;
  readonly base: string;
  readonly requirements: Requirements;
  readonly functions: readonly FunctionPlan[];
}

/** Settings that a kind of workload adds. */
export interface PlanOptions {
  /** Environment variables that the kind of workload sets. */
  readonly reservedEnv?: ReadonlySet<string>;
  /** Pod settings that the kind of workload cannot have; paths start at `provision_config`. */
  readonly podViolations?: (settings: PodSettings) => readonly Violation[];
  /** Whether functions of this kind can be called. */
  readonly callable?: boolean;
  /** Resources of functions that state none; they take precedence over the environment and the policy. */
  readonly resources?: StatedAmounts | undefined;
}

/** Plans the class, or returns all violations. Paths start at the spec of the class. */
export function planClass(
  input: RenderInput,
  policy: Policy,
  options: PlanOptions = {},
): Result<ClassPlan, readonly Violation[]> {
  const { spec, environment, owner } = input;
  const functions = spec.functions ?? [];
  const requirements = classRequirements(spec, environment);
  const names = functionNames(
    owner.name,
    functions.map((fn) => fn.function_key),
    input.assignedNames,
  );
  const violations = [...functionCountViolations(input), ...networkPolicyViolations(input)];
  const plans = functions.flatMap((fn, index) => {
    const plan = planFunction({ input, policy, options, fn, name: names[index] ?? "", classRequirement: requirements });
    if (plan.ok) return [plan.value];
    violations.push(...violationsUnder(pathOf(ROOT_PATH, "functions", index), plan.error));
    return [];
  });
  return violations.length > 0
    ? err(violations)
    : ok({ input, policy, base: baseName(owner.name), requirements, functions: plans });
}

function functionCountViolations({ spec, environment }: RenderInput): Violation[] {
  const limit = environment?.spec.quotas?.max_functions_per_class;
  const given = spec.functions?.length ?? 0;
  if (limit === undefined || given <= limit) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "functions"),
      message: `the class has ${given} functions, but environment ${environment?.name} allows ${limit} per class`,
      fix: "split the class or raise quotas.max_functions_per_class",
    },
  ];
}

/** A class must not run without the network policies that its environment requires. */
function networkPolicyViolations({ environment, cluster }: RenderInput): Violation[] {
  if (environment?.spec.network_policy?.enabled !== true || cluster.capabilities.networkPolicy) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "target_environment"),
      message: `environment ${environment.name} requires network policies, which this cluster does not serve`,
      fix: "serve networking.k8s.io/v1, or disable network_policy of the EnvironmentConfig",
    },
  ];
}

/** Where a function runs. A module takes precedence over an image. */
export function runtimeOf(fn: ClassFunction): FunctionRuntime {
  switch (fn.function_type) {
    case "builtin":
    case "macro":
    case "logical":
      return "none";
    case "custom":
    case "wasm":
    case undefined:
      return fn.provision_config?.wasm_module_url === undefined ? "workload" : "odgm";
  }
}

interface FunctionInput {
  readonly input: RenderInput;
  readonly policy: Policy;
  readonly options: PlanOptions;
  readonly fn: ClassFunction;
  readonly name: string;
  readonly classRequirement: Requirements;
}

function planFunction(given: FunctionInput): Result<FunctionPlan, readonly Violation[]> {
  const { input, policy, options, fn, name, classRequirement } = given;
  const runtime = runtimeOf(fn);
  const requirements = functionRequirements(fn, classRequirement);
  const image = runtime === "workload" ? imageOf(input, fn) : ok("");
  const scale = planScale({
    fn,
    allocation: input.spec.resource_allocation,
    environment: input.environment,
    requirements,
    policy,
    cluster: input.cluster,
    enforced: input.enforced?.get(fn.function_key),
    enforceable: statedEnforcement(input.spec, input.environment)?.max_replicas,
    isEnforced: input.isEnforced,
  });
  const config = checkConfig(fn, options.reservedEnv ?? new Set());
  const pod = podSettingViolations(fn, options);
  if (!image.ok || !scale.ok || !config.ok || pod.length > 0) {
    return err([
      ...(image.ok ? [] : [image.error]),
      ...(scale.ok ? [] : scale.error),
      ...(config.ok ? [] : config.error),
      ...pod,
    ]);
  }
  const runningResources = resourcesOf(given, requirements, input.enforced?.get(fn.function_key));
  return ok({
    spec: fn,
    key: fn.function_key,
    runtime,
    name,
    port: fn.provision_config?.port ?? policy.defaultPort,
    image: image.value,
    scale: scale.value,
    // Pods that are resized in place keep their template: another one would replace them.
    resources: input.cluster.capabilities.podResize ? resourcesOf(given, requirements, undefined) : runningResources,
    runningResources,
    requirements,
    url: urlOf(input, fn, runtime, options.callable === false ? "" : name),
  });
}

/** Checks the names of a function's own environment variables. Paths start at the function. */
function checkConfig(fn: ClassFunction, reserved: ReadonlySet<string>): Result<void, readonly Violation[]> {
  const violations = Object.keys(fn.config ?? {}).flatMap((name): Violation[] => {
    const path = pathOf(ROOT_PATH, "config", name);
    if (reserved.has(name)) {
      return [{ path, message: `${name} is reserved by the template`, fix: "use another name" }];
    }
    return checkText(CONFIG_KEY, name, path);
  });
  return violations.length === 0 ? ok(undefined) : err(violations);
}

function imageOf(input: RenderInput, fn: ClassFunction): Result<string, Violation> {
  const images = input.environment?.spec.images;
  const path = pathOf(ROOT_PATH, "provision_config", "container_image");
  const stated = fn.provision_config?.container_image ?? images?.function;
  if (stated === undefined) {
    return err({ path, message: "the function has no image", fix: "set container_image or wasm_module_url" });
  }
  const pulled = resolveImage(stated, images);
  return pulled.ok ? pulled : err({ ...pulled.error, path });
}

function resourcesOf(
  { input, policy, options, fn }: FunctionInput,
  requirements: Requirements,
  enforced: { readonly cpu?: number; readonly memory?: number } | undefined,
): ContainerResources {
  const environmentResources = environmentAmounts(input.environment?.spec.odgm.container_resources.function);
  const defaults = raiseForLatency(withOverrides(policy.resources, environmentResources), requirements.latencyMs);
  const { requests, limits } = containerResources(
    withEnforcedRequests(defaults, enforced),
    fn.provision_config,
    input.spec.resource_allocation,
    options.resources,
  );
  const others = fn.provision_config?.resources;
  return {
    requests: { ...requests, ...amountTexts(others?.requests) },
    limits: { ...limits, ...amountTexts(others?.limits) },
  };
}

function amountTexts(amounts: Readonly<Record<string, string | number>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
}

function urlOf(input: RenderInput, fn: ClassFunction, runtime: FunctionRuntime, service: string): string {
  switch (runtime) {
    case "workload":
      return service === "" ? "" : `http://${serviceHost(input, service)}/`;
    case "odgm":
      return `wasm://${fn.function_key}`;
    case "none":
      return "";
  }
}

/** The full host name of a Service of this class. */
export function serviceHost(input: RenderInput, service: string): string {
  return `${service}.${input.owner.namespace}.svc.${clusterDomainOf(input.cluster)}`;
}
