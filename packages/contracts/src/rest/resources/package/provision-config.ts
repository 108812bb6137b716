import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import {
  checkProvisionBounds,
  COUNT_RANGE,
  IMAGE_REFERENCE,
  MODULE_URL,
  PORT_RANGE,
  RESOURCE_QUANTITY,
  type ProvisionConfig,
  type ProvisionFields,
} from "@oaas/models";
import { z } from "zod";
import { flag, input, optional, present, textOf, unlessEmpty, view, whole, withDefault } from "../../reading/fields.ts";

/** CPU and memory, in the members that a provision and the earlier `resource_requirements` share. */
const resourceMembers = {
  cpu_request: unlessEmpty(textOf(RESOURCE_QUANTITY)),
  memory_request: unlessEmpty(textOf(RESOURCE_QUANTITY)),
  cpu_limit: unlessEmpty(textOf(RESOURCE_QUANTITY)),
  memory_limit: unlessEmpty(textOf(RESOURCE_QUANTITY)),
};

const PROVISION = {
  container_image: "Container image.",
  wasm_module_url: "URL of the WebAssembly module, for functions of type `WASM`.",
  port: "Port the container listens on.",
  max_concurrency: "Maximum concurrent requests per replica. 0: unlimited.",
  need_http2: "Whether the function requires HTTP/2.",
  cpu_request: "CPU request as a Kubernetes quantity, such as `100m`.",
  memory_request: "Memory request as a Kubernetes quantity, such as `64Mi`.",
  cpu_limit: "CPU limit; must not be below the request.",
  memory_limit: "Memory limit; must not be below the request.",
  min_scale: "Minimum replicas in each cluster; the planner may raise it.",
  max_scale: "Maximum replicas in each cluster; planning fails when more are needed.",
};

/** What may be sent as a provision. */
export const provisionConfigInput = input(
  {
    container_image: unlessEmpty(textOf(IMAGE_REFERENCE)),
    wasm_module_url: unlessEmpty(textOf(MODULE_URL)),
    port: optional(whole(PORT_RANGE)),
    max_concurrency: withDefault(whole(COUNT_RANGE), 0),
    need_http2: withDefault(flag(), false),
    ...resourceMembers,
    min_scale: optional(whole(COUNT_RANGE)),
    max_scale: optional(whole(COUNT_RANGE)),
  },
  PROVISION,
  boundsOf,
).transform((wire): ProvisionConfig =>
  present({
    containerImage: wire.container_image,
    wasmModuleUrl: wire.wasm_module_url,
    port: wire.port,
    maxConcurrency: wire.max_concurrency,
    needHttp2: wire.need_http2,
    cpuRequest: wire.cpu_request,
    memoryRequest: wire.memory_request,
    cpuLimit: wire.cpu_limit,
    memoryLimit: wire.memory_limit,
    minScale: wire.min_scale,
    maxScale: wire.max_scale,
  }),
);

/** The resources that peers of mid-August 2025 sent outside the provision. */
export const resourceRequirementsInput = input(
  resourceMembers,
  {
    cpu_request: "Deprecated location of the same field of `provision_config`.",
    memory_request: "Deprecated location of the same field of `provision_config`.",
    cpu_limit: "Deprecated location of the same field of `provision_config`.",
    memory_limit: "Deprecated location of the same field of `provision_config`.",
  },
  boundsOf,
).transform((wire) =>
  present({
    cpuRequest: wire.cpu_request,
    memoryRequest: wire.memory_request,
    cpuLimit: wire.cpu_limit,
    memoryLimit: wire.memory_limit,
  }),
);

/** A member that was refused already is not judged again. */
function boundsOf(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const quantity = (name: keyof ProvisionFields) => textIn(members[name]);
  const count = (name: keyof ProvisionFields) => numberIn(members[name]);
  return checkProvisionBounds({
    cpu_request: quantity("cpu_request"),
    cpu_limit: quantity("cpu_limit"),
    memory_request: quantity("memory_request"),
    memory_limit: quantity("memory_limit"),
    min_scale: count("min_scale"),
    max_scale: count("max_scale"),
  });
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/**
 * Fills a provision from members that older peers wrote beside it.
 *
 * Returns a violation when both say something and it is not the same: one of them would be lost.
 */
export function provisionWithOlder(
  provision: ProvisionConfig | undefined,
  older: Partial<ProvisionConfig>,
  wireNames: Readonly<Partial<Record<keyof ProvisionConfig, string>>>,
): { readonly provision: ProvisionConfig | undefined; readonly violations: readonly Violation[] } {
  const given = Object.entries(older) as [keyof ProvisionConfig, unknown][];
  if (given.length === 0) return { provision, violations: [] };
  const violations = given
    .filter(([member, value]) => provision?.[member] !== undefined && provision[member] !== value)
    .map(([member, value]) => ({
      path: pathOf(ROOT_PATH, ...(wireNames[member] ?? member).split(".")),
      message: `${String(value)} conflicts with provision_config (${String(provision?.[member])})`,
      fix: "set it in provision_config only",
    }));
  return { provision: { maxConcurrency: 0, needHttp2: false, ...older, ...provision }, violations };
}

/** A provision as it is sent. */
export const provisionConfigView = view(
  {
    container_image: z.string().optional(),
    wasm_module_url: z.string().optional(),
    port: z.int().nullable(),
    max_concurrency: z.int(),
    need_http2: z.boolean(),
    cpu_request: z.string().nullable(),
    memory_request: z.string().nullable(),
    cpu_limit: z.string().nullable(),
    memory_limit: z.string().nullable(),
    min_scale: z.int().nullable(),
    max_scale: z.int().nullable(),
  },
  PROVISION,
);

/** Writes a provision in the contract's JSON. */
export function provisionConfigToWire(provision: ProvisionConfig): z.output<typeof provisionConfigView> {
  return present({
    container_image: provision.containerImage,
    wasm_module_url: provision.wasmModuleUrl,
    port: provision.port ?? null,
    max_concurrency: provision.maxConcurrency,
    need_http2: provision.needHttp2,
    cpu_request: provision.cpuRequest ?? null,
    memory_request: provision.memoryRequest ?? null,
    cpu_limit: provision.cpuLimit ?? null,
    memory_limit: provision.memoryLimit ?? null,
    min_scale: provision.minScale ?? null,
    max_scale: provision.maxScale ?? null,
  });
}
