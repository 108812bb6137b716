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
  share,
  text,
  textByName,
  word,
} from "./scalars.ts";

/** Numbers of a probe; what is absent comes from the environment or the template. */
export const probeTiming = {
  initial_delay_seconds: count.describe("Wait before the first probe.").optional(),
  period_seconds: positive.describe("Time between probes.").optional(),
  timeout_seconds: positive.describe("Longest wait for an answer.").optional(),
  failure_threshold: positive.describe("Failures in a row before it counts as failed.").optional(),
  success_threshold: positive.describe("Successes in a row before it counts as ready.").optional(),
};

/** How to find out whether a function is ready and alive. */
export const healthCheck = withRules(
  z.object({
    type: word("http", "tcp", "grpc", "none").prefault("tcp").describe("Kind of probe; none switches it off."),
    path: z.string().max(1024).regex(/^\//).optional().describe("Path asked, with type http; /health when absent."),
    port: port.optional().describe("Port probed; the function's when absent."),
    ...probeTiming,
  }),
  {
    cel: "!has(self.path) || self.type.lowerAscii() == 'http'",
    message: "path belongs to type http",
    at: "path",
    holds: ({ path, type }) => path === undefined || type === "http",
  },
);

const odgmIntegration = z.object({
  collections: setList(collectionName, 64)
    .optional()
    .describe("Collections the function uses; all of the class when absent."),
  access_mode: word("read_write", "read_only", "write_only").optional().describe("What it may do with them."),
  caching_strategy: word("none", "read_through", "write_through", "write_back", "write_around")
    .optional()
    .describe("How its runtime caches objects."),
  event_triggers: eventTriggers.optional().describe("Changes of state that run it."),
});

/** What a function's pod may have besides its container. */
const podExtras = {
  volumes: volumes.optional().describe("Volumes of the pod, as in a Kubernetes pod."),
  volume_mounts: volumeMounts.optional().describe("Where they appear in the container, as in a Kubernetes container."),
  health_check: healthCheck.optional().describe("How to find out whether it is ready and alive."),
  odgm_integration: odgmIntegration.optional().describe("How the function uses the class's state."),
};

interface Mounting {
  readonly volumes?: readonly { readonly name: string }[] | undefined;
  readonly volume_mounts?: readonly { readonly name: string }[] | undefined;
}

const mountsHaveVolumes: Rule<Mounting> = {
  cel: "!has(self.volume_mounts) || self.volume_mounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",
  message: "each of volume_mounts must name one of volumes",
  at: "volume_mounts",
  holds: ({ volumes: given = [], volume_mounts: mounts = [] }) =>
    mounts.every((mount) => given.some((one) => one.name === mount.name)),
};

const functionFields = {
  function_key: functionKey.describe("Key of the function in its package, e.g. Record.update."),
  function_type: word("custom", "wasm", "builtin", "macro", "logical")
    .optional()
    .describe("What kind of thing it is; builtin, macro and logical functions have no workload."),
  description: text.optional().describe("For people."),
  available_location: z.string().max(253).optional().describe("Where the function may run, as its package says."),
  qos_requirement: z
    .object({
      throughput: count.default(0).describe("Requests per second."),
      availability: share.describe("Share of time, 0 to 1."),
    })
    .optional()
    .describe("Older form of nfr_requirements."),
  nfr_requirements: nfrRequirements.optional().describe("Requirements of this function alone."),
  provision_config: provisionConfig.optional().describe("How it is run."),
  config: textByName.optional().describe("Environment variables of its container."),
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

/** A function of a deployment unit, with the fields it had at first. */
export const unitFunction = z.object({
  ...functionFields,
  replicas: count.optional().describe("Replicas, before provision_config existed."),
  image: image.optional().describe("Image, before provision_config existed."),
  resource_requirements: resourceRequirements.optional().describe("Resources, before provision_config existed."),
});

/** A function container of a deployment record. */
export const functionContainer = withRules(
  z.object({
    function_key: functionFields.function_key,
    container_type: word("container", "wasm").prefault("container").describe("A container, or a module in the grid."),
    container_image: image.optional().describe("Image, for a container."),
    wasm_module_url: moduleUrl.optional().describe("Where the module is fetched, for wasm."),
    port: port.default(8080).describe("Port the container listens on."),
    resource_requirements: resourceRequirements.optional().describe("CPU and memory of one replica."),
    environment_variables: textByName.optional().describe("Environment of the container."),
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

/** Under which name a class offers a function. */
export const functionBinding = z.object({
  name: bindingName.describe("Name callers use."),
  function_key: functionKey.describe("Function it stands for."),
  access_modifier: word("public", "internal", "private").optional().describe("Who may call it."),
  stateless: z.boolean().optional().describe("Whether it leaves state alone."),
  parameters: z.array(z.string().max(253)).max(64).optional().describe("Names of its parameters."),
  trigger_on_state_change: z.boolean().optional().describe("Whether a change of state runs it."),
  async_execution: z.boolean().optional().describe("Whether the change does not wait for it."),
});
