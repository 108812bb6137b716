import { z } from "zod";
import { mapOf, setList } from "../collections.ts";
import { withRules } from "../rule.ts";
import { consistency } from "./nfr.ts";
import { kubernetesObject, type ObjectInput } from "./object.ts";
import { resourceRequirements } from "./resources.ts";
import { count, positive, fraction, shortName, templateName, text } from "./scalars.ts";
import { ENVIRONMENT_KINDS } from "./environment-config.ts";
import { observed } from "./status.ts";

const TEMPLATE_TYPES = ["Knative", "Deployment", "StatefulSet", "DaemonSet", "Job"] as const;
type TemplateType = (typeof TEMPLATE_TYPES)[number];
const TYPE_BY_SPELLING = new Map(
  TEMPLATE_TYPES.flatMap((type): [string, TemplateType][] => [
    [type, type],
    [type.toLowerCase(), type],
  ]),
);

const templateType = z
  .enum([...TYPE_BY_SPELLING.keys()])
  .transform((spelling): TemplateType => TYPE_BY_SPELLING.get(spelling) ?? "Deployment");

const nfrCapabilities = withRules(
  z.object({
    max_throughput: positive.optional().describe("Requests per second the template can sustain."),
    min_latency: count.optional().describe("Lowest reachable latency, in milliseconds."),
    max_latency: count
      .optional()
      .describe("Worst latency under load, in milliseconds; preferred for classes that require this latency or more."),
    max_availability: fraction.optional().describe("Highest reachable availability, 0 to 1."),
    auto_scaling: z.boolean().default(false).describe("Whether the workload scales automatically."),
    persistent_storage: z
      .boolean()
      .default(false)
      .describe(
        "Whether functions keep files on volumes; preferred for classes with allocated storage. Its manifests must contain a volume claim.",
      ),
    network_policies: z
      .boolean()
      .default(false)
      .describe(
        "Whether pods of functions get network policies in every environment: those of its manifests, else those of the manager.",
      ),
  }),
  {
    cel: "!has(self.min_latency) || !has(self.max_latency) || self.min_latency <= self.max_latency",
    message: "min_latency must not exceed max_latency",
    at: "min_latency",
    holds: ({ min_latency: min, max_latency: max }) => min === undefined || max === undefined || min <= max,
  },
);

const selectionCriteria = withRules(
  z.object({
    profiles: setList(shortName, 16)
      .optional()
      .describe("Class runtime manager profiles in which the template is eligible. Default: all."),
    environments: setList(z.enum(ENVIRONMENT_KINDS), 3)
      .optional()
      .describe("Environment kinds in which the template is eligible. Default: all."),
    regions: setList(z.string().min(1).max(253), 64)
      .optional()
      .describe("Regions of the environment, or else of the cluster, in which the template is eligible. Default: all."),
    match_labels: mapOf(z.string().max(63), 32).optional().describe("Labels that the class's object must have."),
    min_throughput_rps: count.optional().describe("Minimum required throughput for which it is eligible."),
    max_throughput_rps: count.optional().describe("Maximum required throughput for which it is eligible."),
    max_latency_ms: positive.optional().describe("Eligible when the class requires this latency or less."),
    min_availability: fraction.optional().describe("Eligible when the class requires this availability or more."),
    consistency: z.array(consistency).max(10).optional().describe("Consistency models for which it is eligible."),
    stateful: z.boolean().optional().describe("Eligible only for classes with state (true) or without state (false)."),
    priority: z.int32().default(0).describe("Added to the template's score."),
  }),
  {
    cel: "!has(self.min_throughput_rps) || !has(self.max_throughput_rps) || self.min_throughput_rps <= self.max_throughput_rps",
    message: "min_throughput_rps must not exceed max_throughput_rps",
    at: "min_throughput_rps",
    holds: ({ min_throughput_rps: min, max_throughput_rps: max }) =>
      min === undefined || max === undefined || min <= max,
  },
);

const manifest = z.looseObject({
  apiVersion: z.string().min(1).max(253).describe("Group and version of the object."),
  kind: z.string().min(1).max(63).describe("Kind of the object."),
});

const manifests = z.array(manifest).min(1).max(32);

const spec = withRules(
  z.object({
    name: templateName.optional().describe("Name by which classes select the template. Default: the object's name."),
    description: text.optional().describe("Human-readable description."),
    template_type: templateType.describe("Workload kind; determines how readiness is observed."),
    aliases: setList(templateName, 16).optional().describe("Alternative names."),
    nfr_capabilities: nfrCapabilities
      .optional()
      .describe("NFR capabilities, matched against the requirements of classes."),
    resource_requirements: resourceRequirements.optional().describe("Default resources of functions."),
    manifests: manifests
      .optional()
      .describe("Kubernetes objects to render; strings in them may contain placeholders. Other content is preserved."),
    kubernetes_manifests: manifests.optional().describe("Alias of manifests."),
    selection_criteria: selectionCriteria.optional().describe("When the template is eligible, and its score."),
  }),
  {
    cel: "has(self.manifests) != has(self.kubernetes_manifests)",
    message: "set either manifests or its alias kubernetes_manifests",
    at: "manifests",
    holds: (value) => (value.manifests === undefined) !== (value.kubernetes_manifests === undefined),
  },
  {
    cel: "!has(self.name) || !has(self.aliases) || !(self.name in self.aliases)",
    message: "aliases must not repeat name",
    at: "aliases",
    holds: ({ name, aliases = [] }) => name === undefined || !aliases.includes(name),
  },
);

const status = z.object({
  ...observed,
  revision: z.string().max(128).optional().describe("Digest of the spec in use."),
  used_by: count.optional().describe("Number of classes that use the template."),
});

/** A user-defined template. */
export const deploymentTemplate = kubernetesObject("DeploymentTemplate", spec, status);

/** A DeploymentTemplate after parsing, with defaults. */
export type DeploymentTemplate = z.output<typeof deploymentTemplate>;
/** A DeploymentTemplate before parsing. */
export type DeploymentTemplateInput = ObjectInput<typeof deploymentTemplate>;
export type DeploymentTemplateSpec = DeploymentTemplate["spec"];
