import { z } from "zod";
import { setList } from "../collections.ts";
import { withRules, type Rule } from "../rule.ts";
import { volumeMounts, volumes } from "./kubernetes.ts";
import { nfrRequirements } from "./nfr.ts";
import { eventTriggers } from "./odgm.ts";
import { provisionConfig, resourceRequirements } from "./resources.ts";
import {
  bindingName,
  collectionName,
  count,
  functionKey,
  image,
  moduleUrl,
  port,
  positive,
  fraction,
  text,
  stringMap,
  word,
} from "./scalars.ts";

/** Timing of a probe; defaults come from the environment or the template. */
export const probeTiming = {
  initial_delay_seconds: count.describe("Delay before the first probe, in seconds.").optional(),
  period_seconds: positive.describe("Interval between probes, in seconds.").optional(),
  timeout_seconds: positive.describe("Probe timeout, in seconds.").optional(),
  failure_threshold: positive.describe("Consecutive failures before the probe counts as failed.").optional(),
  success_threshold: positive.describe("Consecutive successes before the probe counts as successful.").optional(),
};

/** Readiness and liveness probes of a function. */
export const healthCheck = withRules(
  z.object({
    type: word("http", "tcp", "grpc", "none").prefault("tcp").describe("Probe type; none disables the probe."),
    path: z.string().max(1024).regex(/^\//).optional().describe("Request path, for type http. Default: /health."),
    port: port.optional().describe("Port to probe. Default: the function's port."),
    ...probeTiming,
  }),
  {
    cel: "!has(self.path) || self.type.lowerAscii() == 'http'",
    message: "path requires type http",
    at: "path",
    holds: ({ path, type }) => path === undefined || type === "http",
  },
);

const odgmIntegration = z.object({
  collections: setList(collectionName, 64)
    .optional()
    .describe("Collections the function uses. Default: all collections of the class."),
  access_mode: word("read_write", "read_only", "write_only").optional().describe("Access to the collections."),
  caching_strategy: word("none", "read_through", "write_through", "write_back", "write_around")
    .optional()
    .describe("Caching strategy of the function runtime."),
  event_triggers: eventTriggers.optional().describe("State changes that trigger the function."),
});

/** Pod settings of a function. */
const podExtras = {
  volumes: volumes.optional().describe("Pod volumes, as in a Kubernetes pod spec."),
  volume_mounts: volumeMounts.optional().describe("Volume mounts, as in a Kubernetes container."),
  health_check: healthCheck.optional().describe("Readiness and liveness probes."),
  odgm_integration: odgmIntegration.optional().describe("Access of the function to the class's state."),
};

interface Mounting {
  readonly volumes?: readonly { readonly name: string }[] | undefined;
  readonly volume_mounts?: readonly { readonly name: string }[] | undefined;
}

const mountsHaveVolumes: Rule<Mounting> = {
  cel: "!has(self.volume_mounts) || self.volume_mounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",
  message: "every entry of volume_mounts must reference one of volumes",
  at: "volume_mounts",
  holds: ({ volumes: given = [], volume_mounts: mounts = [] }) =>
    mounts.every((mount) => given.some((one) => one.name === mount.name)),
};

const functionFields = {
  function_key: functionKey.describe("Key of the function in its package, e.g. Record.update."),
  function_type: word("custom", "wasm", "builtin", "macro", "logical")
    .optional()
    .describe("Function type; builtin, macro and logical functions have no workload."),
  description: text.optional().describe("Human-readable description."),
  available_location: z.string().max(253).optional().describe("Location hint from the package."),
  qos_requirement: z
    .object({
      throughput: count.default(0).describe("Requests per second."),
      availability: fraction.describe("Share of time, 0 to 1."),
    })
    .optional()
    .describe("Deprecated form of nfr_requirements."),
  nfr_requirements: nfrRequirements.optional().describe("Requirements of this function."),
  provision_config: provisionConfig.optional().describe("Image, port, resources and scale."),
  config: stringMap.optional().describe("Environment variables of the container."),
};

/** A function of a class runtime. */
export const classFunction = withRules(
  z.object({ ...functionFields, ...podExtras }),
  {
    cel: "(has(self.function_type) && self.function_type.lowerAscii() in ['builtin', 'macro', 'logical']) || (has(self.provision_config) && (has(self.provision_config.container_image) || has(self.provision_config.wasm_module_url)))",
    message: "provision_config must name a container_image or a wasm_module_url",
    at: "provision_config",
    holds: ({ function_type: type, provision_config: config }) =>
      type === "builtin" ||
      type === "macro" ||
      type === "logical" ||
      config?.container_image !== undefined ||
      config?.wasm_module_url !== undefined,
  },
  mountsHaveVolumes,
);

/** A function of a deployment unit, with its deprecated fields. */
export const unitFunction = z.object({
  ...functionFields,
  replicas: count.optional().describe("Deprecated alias of provision_config.min_scale."),
  image: image.optional().describe("Deprecated alias of provision_config.container_image."),
  resource_requirements: resourceRequirements
    .optional()
    .describe("Deprecated location of the resources in provision_config."),
});

/** A function container of a deployment record. */
export const functionContainer = withRules(
  z.object({
    function_key: functionFields.function_key,
    container_type: word("container", "wasm")
      .prefault("container")
      .describe("Container, or WebAssembly module in the state store."),
    container_image: image.optional().describe("Container image, for type container."),
    wasm_module_url: moduleUrl.optional().describe("URL of the module, for type wasm."),
    port: port.default(8080).describe("Port the container listens on."),
    resource_requirements: resourceRequirements.optional().describe("CPU and memory of one replica."),
    environment_variables: stringMap.optional().describe("Environment variables of the container."),
    ...podExtras,
  }),
  {
    cel: "self.container_type.lowerAscii() == 'wasm' || has(self.container_image)",
    message: "a container needs container_image",
    at: "container_image",
    holds: ({ container_type: type, container_image: given }) => type === "wasm" || given !== undefined,
  },
  {
    cel: "self.container_type.lowerAscii() != 'wasm' || has(self.wasm_module_url)",
    message: "container_type wasm needs wasm_module_url",
    at: "wasm_module_url",
    holds: ({ container_type: type, wasm_module_url: given }) => type !== "wasm" || given !== undefined,
  },
  mountsHaveVolumes,
);

/** A method of a class. */
export const functionBinding = z.object({
  name: bindingName.describe("Method name."),
  function_key: functionKey.describe("Function key."),
  access_modifier: word("public", "internal", "private").optional().describe("Visibility of the method."),
  stateless: z.boolean().optional().describe("Whether the method does not access state."),
  parameters: z.array(z.string().max(253)).max(64).optional().describe("Parameter names."),
  trigger_on_state_change: z.boolean().optional().describe("Whether a state change triggers the function."),
  async_execution: z.boolean().optional().describe("Whether the state change does not wait for the function."),
});
