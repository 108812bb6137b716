import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import {
  checkPodSettings,
  checkProvisionBounds,
  COUNT_RANGE,
  EMPTY_PROVISION,
  IMAGE_REFERENCE,
  MODULE_URL,
  PORT_RANGE,
  RESOURCE_QUANTITY,
  type PodSettings,
  type ProvisionConfig,
} from "@oaas/models";
import type { z } from "zod";
import { podSettings } from "../../../pod/settings.ts";
import { kubernetesValue } from "../../reading/kubernetes-value.ts";
import {
  boolean,
  defaulted,
  emptyIsAbsent,
  integer,
  nullable,
  optional,
  resource,
  string,
} from "../../reading/resource.ts";

const image = emptyIsAbsent(string(IMAGE_REFERENCE));
const moduleUrl = emptyIsAbsent(string(MODULE_URL));
const quantity = emptyIsAbsent(string(RESOURCE_QUANTITY));
const count = integer(COUNT_RANGE);

/** A pod setting, with the schema that the custom resources use. */
function kubernetes<const Name extends keyof PodSettings>(name: Name) {
  const schema: z.ZodType<NonNullable<PodSettings[Name]>> = podSettings[name] as never;
  return optional(name, schema.description ?? "", kubernetesValue(schema));
}

/** Image, port, resources, scale and pod of a function. */
export const provisionConfig = resource<ProvisionConfig>()(
  {
    containerImage: optional("container_image", "Container image.", image),
    wasmModuleUrl: optional(
      "wasm_module_url",
      "URL of the WebAssembly module, for functions of type `WASM`.",
      moduleUrl,
    ),
    port: nullable("port", "Port the container listens on.", integer(PORT_RANGE)),
    maxConcurrency: defaulted(
      "max_concurrency",
      "Maximum concurrent requests per replica. 0: unlimited.",
      count,
      EMPTY_PROVISION.maxConcurrency,
    ),
    needHttp2: defaulted("need_http2", "Whether the function requires HTTP/2.", boolean(), EMPTY_PROVISION.needHttp2),
    cpuRequest: nullable("cpu_request", "CPU request as a Kubernetes quantity, such as `100m`.", quantity),
    memoryRequest: nullable("memory_request", "Memory request as a Kubernetes quantity, such as `64Mi`.", quantity),
    cpuLimit: nullable("cpu_limit", "CPU limit; must not be below the request.", quantity),
    memoryLimit: nullable("memory_limit", "Memory limit; must not be below the request.", quantity),
    minScale: nullable(
      "min_scale",
      "Minimum replicas in each cluster; the planner may raise it. 0 scales to zero.",
      count,
    ),
    maxScale: nullable("max_scale", "Maximum replicas in each cluster; planning fails when more are needed.", count),
    env: kubernetes("env"),
    envFrom: kubernetes("envFrom"),
    command: kubernetes("command"),
    args: kubernetes("args"),
    startupProbe: kubernetes("startupProbe"),
    readinessProbe: kubernetes("readinessProbe"),
    livenessProbe: kubernetes("livenessProbe"),
    volumes: kubernetes("volumes"),
    volumeMounts: kubernetes("volumeMounts"),
    resources: kubernetes("resources"),
    securityContext: kubernetes("securityContext"),
    imagePullSecrets: kubernetes("imagePullSecrets"),
    serviceAccountName: kubernetes("serviceAccountName"),
    topologySpreadConstraints: kubernetes("topologySpreadConstraints"),
    priorityClassName: kubernetes("priorityClassName"),
  },
  (json) => [...boundsViolations(json), ...podViolations(json)],
);

type Resources = Pick<ProvisionConfig, "cpuRequest" | "memoryRequest" | "cpuLimit" | "memoryLimit">;

const MOVED = "Deprecated location of the same field of `provision_config`.";

/** The resources that peers of August 2025 send outside of `provision_config`. */
export const resourceRequirements = resource<Resources>()(
  {
    cpuRequest: optional("cpu_request", MOVED, quantity),
    memoryRequest: optional("memory_request", MOVED, quantity),
    cpuLimit: optional("cpu_limit", MOVED, quantity),
    memoryLimit: optional("memory_limit", MOVED, quantity),
  },
  boundsViolations,
);

/** Skips fields that were rejected already: they are not of their type. */
function boundsViolations(json: Readonly<Record<string, unknown>>): readonly Violation[] {
  const quantityOf = (name: string) => (typeof json[name] === "string" ? json[name] : undefined);
  const countOf = (name: string) => (typeof json[name] === "number" ? json[name] : undefined);
  return checkProvisionBounds({
    cpu_request: quantityOf("cpu_request"),
    cpu_limit: quantityOf("cpu_limit"),
    memory_request: quantityOf("memory_request"),
    memory_limit: quantityOf("memory_limit"),
    min_scale: countOf("min_scale"),
    max_scale: countOf("max_scale"),
  });
}

/** Skips pod settings that do not have their shape: they were rejected already. */
function podViolations(json: Readonly<Record<string, unknown>>): readonly Violation[] {
  const valid = Object.entries(podSettings).flatMap(([name, schema]) => {
    const value = json[name];
    return value !== undefined && value !== null && schema.safeParse(value).success ? [[name, value] as const] : [];
  });
  return valid.length === 0 ? [] : checkPodSettings(Object.fromEntries(valid));
}

type DeprecatedField = Exclude<keyof ProvisionConfig, keyof PodSettings>;

/**
 * Fills a provision from the deprecated fields beside it. Reports a violation when both are set and differ: one of
 * them would be lost.
 */
export function withDeprecatedFields(
  provision: ProvisionConfig | undefined,
  deprecated: Partial<ProvisionConfig>,
  jsonPaths: Readonly<Partial<Record<keyof ProvisionConfig, string>>>,
): { readonly provision: ProvisionConfig | undefined; readonly violations: readonly Violation[] } {
  const given = Object.entries(deprecated) as [keyof ProvisionConfig, unknown][];
  if (given.length === 0) return { provision, violations: [] };
  const violations = given
    .filter(([name, value]) => provision?.[name] !== undefined && provision[name] !== value)
    .map(([name, value]) => ({
      path: pathOf(ROOT_PATH, ...(jsonPaths[name] ?? name).split(".")),
      message: `${String(value)} conflicts with provision_config (${String(provision?.[name as DeprecatedField])})`,
      fix: "set it in provision_config only",
    }));
  return { provision: { ...EMPTY_PROVISION, ...deprecated, ...provision }, violations };
}
export const provisionConfigToWire = provisionConfig.toJson;
