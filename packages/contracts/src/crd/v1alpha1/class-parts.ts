import { z } from "zod";
import { keyedList, setList } from "../collections.ts";
import { consistency, enforcement, nfr, nfrRequirements } from "./nfr.ts";
import { odgmConfig } from "./odgm.ts";
import type { Rule } from "../rule.ts";
import { functionBinding } from "./function.ts";
import { resourceAllocation } from "./resources.ts";
import { quantity, fraction, shortName, templateName, stringMap, word } from "./scalars.ts";

/** OpenTelemetry settings of one class; the cluster's settings are the default. */
export const telemetry = z.object({
  enabled: z.boolean().optional().describe("Enables telemetry. Default: true when the block is present."),
  traces: z.boolean().optional().describe("Whether to export traces."),
  metrics: z.boolean().optional().describe("Whether to export metrics."),
  logs: z.boolean().optional().describe("Whether to export logs."),
  sampling_rate: fraction.optional().describe("Share of traces to keep, 0 to 1."),
  service_name: z.string().min(1).max(253).optional().describe("Service name in traces. Default: the object's name."),
  resource_attributes: stringMap.optional().describe("Attributes added to all exported telemetry."),
});

/** The state of a class; collections are derived from it by default. */
export const stateSpec = z.object({
  key_specs: z
    .array(
      z.object({
        name: z.string().min(1).max(253).describe("Key name."),
        key_type: z.string().min(1).max(253).describe("Key type."),
        nullable: z.boolean().optional().describe("Whether the key may be absent."),
      }),
    )
    .max(256)
    .optional()
    .describe("Keys of an object's state."),
  default_provider: z.string().max(253).optional().describe("Storage provider."),
  consistency_model: consistency.optional().describe("Consistency of reads and writes."),
  persistent: z.boolean().default(false).describe("Whether the state is stored on persistent volumes."),
  serialization_format: z.string().max(253).optional().describe("Serialization format of values."),
  shape: word("data", "singleton", "collection")
    .optional()
    .describe("How objects are used; determines the name and the partitions of their collection. Default: data."),
  storage_request: quantity.optional().describe("Size of one volume when persistent."),
});

/** The fields that ClassRuntime and DeploymentRecord share. */
export const classRequests = {
  selected_template: templateName
    .optional()
    .describe("Template to use, by name or alias; an unknown template is rejected."),
  template_hint: templateName
    .optional()
    .describe(
      "Preferred template; used when selected_template is absent and the template is eligible in this cluster.",
    ),
  target_environment: shortName
    .optional()
    .describe("Name of the EnvironmentConfig; a missing one is rejected. Default: the default EnvironmentConfig."),
  addons: setList(shortName, 16)
    .optional()
    .describe('Addons, e.g. ["odgm"]. Default: odgm for a class with state. An empty list means none.'),
  odgm_config: odgmConfig.optional().describe("State store settings."),
  state_spec: stateSpec.optional().describe("State of the class, from its package."),
  nfr_requirements: nfrRequirements.optional().describe("Non-functional requirements of the class."),
  enforcement: enforcement
    .optional()
    .describe(
      "Whether recommendations are observed or enforced. The annotation oaas.io/enforcement overrides the mode.",
    ),
  nfr: nfr.optional().describe("Deprecated location of enforcement."),
  telemetry: telemetry.optional().describe("OpenTelemetry settings."),
  function_bindings: keyedList(functionBinding, "name", 256).optional().describe("Methods of the class, by name."),
  resource_allocation: resourceAllocation.optional().describe("Sizing computed by the package manager."),
};

interface Enforced {
  readonly enforcement?: unknown;
  readonly nfr?: { readonly enforcement?: unknown } | undefined;
}

/** Rejects both locations of enforcement set together. */
export const oneEnforcement: Rule<Enforced> = {
  cel: "!(has(self.enforcement) && has(self.nfr) && has(self.nfr.enforcement))",
  message: "nfr.enforcement is an alias of enforcement: set only one of them",
  at: "nfr",
  holds: (spec) => spec.enforcement === undefined || spec.nfr?.enforcement === undefined,
};
