import { z } from "zod";
import { keyedList, setList } from "../collections.ts";
import { consistency, enforcement, nfr, nfrRequirements } from "./nfr.ts";
import { odgmConfig } from "./odgm.ts";
import type { Rule } from "../rule.ts";
import { functionBinding } from "./function.ts";
import { resourceAllocation } from "./resources.ts";
import { quantity, share, shortName, templateName, textByName, word } from "./scalars.ts";

/** OpenTelemetry switches of one class; what is absent comes from the cluster. */
export const telemetry = z.object({
  enabled: z.boolean().optional().describe("Master switch; on when the block is there."),
  traces: z.boolean().optional().describe("Whether traces are sent."),
  metrics: z.boolean().optional().describe("Whether metrics are sent."),
  logs: z.boolean().optional().describe("Whether logs are sent."),
  sampling_rate: share.optional().describe("Share of traces kept, 0 to 1."),
  service_name: z.string().min(1).max(253).optional().describe("Name in traces; the object's name when absent."),
  resource_attributes: textByName.optional().describe("Attributes added to everything sent."),
});

/** The state of a class, from which collections are derived when none are named. */
export const stateSpec = z.object({
  key_specs: z
    .array(
      z.object({
        name: z.string().min(1).max(253).describe("Name of the entry."),
        key_type: z.string().min(1).max(253).describe("Its type."),
        nullable: z.boolean().optional().describe("Whether it may be absent."),
      }),
    )
    .max(256)
    .optional()
    .describe("Entries of an object."),
  default_provider: z.string().max(253).optional().describe("Storage provider."),
  consistency_model: consistency.optional().describe("Consistency reads and writes need."),
  persistent: z.boolean().default(false).describe("Whether state survives its pods, on a volume."),
  serialization_format: z.string().max(253).optional().describe("Format of values."),
  shape: word("data", "singleton", "collection")
    .optional()
    .describe("How objects are used, which decides name and partitions of their collection; data when absent."),
  storage_request: quantity.optional().describe("Size of one volume, when persistent."),
});

/** What both kinds of class object may ask for. */
export const classRequests = {
  selected_template: templateName
    .optional()
    .describe("Template to use, by name or alias; an unknown one is refused, never replaced."),
  template_hint: templateName
    .optional()
    .describe("A wish: taken when selected_template is absent and the template can serve the class here."),
  target_environment: shortName.optional().describe("EnvironmentConfig it belongs to; the default one when absent."),
  addons: setList(shortName, 16)
    .optional()
    .describe('Addons, e.g. ["odgm"]; when absent, odgm for a class with state. An empty list means none.'),
  odgm_config: odgmConfig.optional().describe("The class's state store."),
  state_spec: stateSpec.optional().describe("The class's state, as its package describes it."),
  nfr_requirements: nfrRequirements.optional().describe("What the class must sustain."),
  enforcement: enforcement.optional().describe("How far CRM may go to keep the requirements."),
  nfr: nfr.optional().describe("Older place of enforcement."),
  telemetry: telemetry.optional().describe("OpenTelemetry switches."),
  function_bindings: keyedList(functionBinding, "name", 256)
    .optional()
    .describe("Functions the class offers, by name."),
  resource_allocation: resourceAllocation.optional().describe("What Package Manager sized."),
};

interface Enforced {
  readonly enforcement?: unknown;
  readonly nfr?: { readonly enforcement?: unknown } | undefined;
}

/** Enforcement is stated in one place. */
export const oneEnforcement: Rule<Enforced> = {
  cel: "!(has(self.enforcement) && has(self.nfr) && has(self.nfr.enforcement))",
  message: "nfr.enforcement is the older place of enforcement: give one of them",
  at: "nfr",
  holds: (spec) => spec.enforcement === undefined || spec.nfr?.enforcement === undefined,
};
