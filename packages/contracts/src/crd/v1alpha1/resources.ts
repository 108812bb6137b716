import { checkPodSettings, checkProvisionBounds, type PodSettings } from "@oaas/models";
import { z } from "zod";
import { podSettings } from "../../pod/settings.ts";
import { withRules, type Rule } from "../rule.ts";
import { count, image, moduleUrl, port, positive, quantity } from "./scalars.ts";

const cpuAndMemory = {
  cpu_request: quantity.optional().describe("CPU request of one replica, e.g. 200m."),
  memory_request: quantity.optional().describe("Memory request of one replica, e.g. 256Mi."),
  cpu_limit: quantity.optional().describe("CPU limit of one replica."),
  memory_limit: quantity.optional().describe("Memory limit of one replica."),
};

type Bounded = Parameters<typeof checkProvisionBounds>[0];

/** A bound of `checkProvisionBounds` as a rule; the upper field is reported. */
const bounded = (upper: keyof Bounded, lower: keyof Bounded, holdsInOrder: string): Rule<Bounded> => ({
  cel: `!has(self.${lower}) || !has(self.${upper}) || ${holdsInOrder}`,
  message: `${upper} must not be below ${lower}`,
  at: upper,
  holds: (value) => checkProvisionBounds({ [lower]: value[lower], [upper]: value[upper] }).length === 0,
});

const limitCoversRequest = (what: "cpu" | "memory"): Rule<Bounded> => {
  const [request, limit] = [`self.${what}_request`, `self.${what}_limit`];
  return bounded(
    `${what}_limit`,
    `${what}_request`,
    `!isQuantity(${request}) || !isQuantity(${limit}) || quantity(${request}).compareTo(quantity(${limit})) <= 0`,
  );
};

const maxCoversMin = bounded("max_scale", "min_scale", "self.min_scale <= self.max_scale");

/** CPU and memory of one replica. */
export const resourceRequirements = withRules(
  z.object(cpuAndMemory),
  limitCoversRequest("cpu"),
  limitCoversRequest("memory"),
);

type Optional<Shape extends z.ZodRawShape> = { readonly [Name in keyof Shape]: z.ZodOptional<Shape[Name]> };

function optionalMembers<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape): Optional<Shape> {
  const entries = Object.entries(shape).map(([name, schema]) => {
    const { description = "" } = schema;
    return [name, schema.optional().describe(description)] as const;
  });
  return Object.fromEntries(entries) as unknown as Optional<Shape>;
}

/** The API server checks the mounts; the manager reports the remaining violations of `checkPodSettings` when it plans. */
const podSettingsFit: Rule<PodSettings> = {
  cel: "!has(self.volumeMounts) || self.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",
  message: "every entry of volumeMounts must reference one of volumes",
  at: "volumeMounts",
  fix: "add the volume to volumes",
  holds: ({ volumes, volumeMounts }) => checkPodSettings({ volumes, volumeMounts }).length === 0,
};

/** Image or module, port, resources, scale and pod of a function. */
export const provisionConfig = withRules(
  z.object({
    container_image: image.optional().describe("Container image."),
    wasm_module_url: moduleUrl
      .optional()
      .describe("URL of the WebAssembly module that the state store runs; takes precedence over container_image."),
    port: port.optional().describe("Port the container listens on. Default: the template's port."),
    max_concurrency: count.default(0).describe("Maximum concurrent requests per replica. 0: unlimited."),
    need_http2: z.boolean().default(false).describe("Whether the function requires HTTP/2 without TLS (h2c)."),
    ...cpuAndMemory,
    min_scale: count
      .optional()
      .describe(
        "Minimum replicas; 0 scales to zero and needs a template that can (Knative, or a user template with KEDA).",
      ),
    max_scale: count.optional().describe("Maximum replicas."),
    ...optionalMembers(podSettings),
  }),
  podSettingsFit,
  maxCoversMin,
  limitCoversRequest("cpu"),
  limitCoversRequest("memory"),
);

/** Sizing computed by the package manager. */
export const resourceAllocation = withRules(
  z.object({
    replication_factor: positive.max(100).optional().describe("Replicas of the state store."),
    min_replicas: count.optional().describe("Minimum replicas of each function."),
    max_replicas: count.optional().describe("Maximum replicas of each function."),
    ...cpuAndMemory,
    storage_request: quantity.optional().describe("Storage per replica of persistent state, e.g. 10Gi."),
  }),
  {
    cel: "!has(self.min_replicas) || !has(self.max_replicas) || self.min_replicas <= self.max_replicas",
    message: "max_replicas must not be below min_replicas",
    at: "max_replicas",
    holds: ({ min_replicas: min, max_replicas: max }) => min === undefined || max === undefined || min <= max,
  },
  limitCoversRequest("cpu"),
  limitCoversRequest("memory"),
);

/** Default scale bounds of an environment. */
export const scaleDefaults = withRules(
  z.object({
    min_scale: count.optional().describe("Default minimum replicas."),
    max_scale: count.optional().describe("Default maximum replicas."),
  }),
  maxCoversMin,
);
