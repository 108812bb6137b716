import { z } from "zod";
import { mapOf, setList } from "../collections.ts";
import { withRules } from "../rule.ts";
import { consistency } from "./nfr.ts";
import { kubernetesObject, type ObjectInput } from "./object.ts";
import { resourceRequirements } from "./resources.ts";
import { count, positive, share, shortName, templateName, text } from "./scalars.ts";
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
    max_throughput: positive.optional().describe("Requests per second it can sustain."),
    min_latency: count.optional().describe("Best response time it can reach, in milliseconds."),
    max_latency: count.optional().describe("Worst response time under load, in milliseconds. Accepted, not used yet."),
    max_availability: share.optional().describe("Availability it can reach, 0 to 1."),
    auto_scaling: z.boolean().default(false).describe("Whether it scales by itself."),
    persistent_storage: z
      .boolean()
      .default(false)
      .describe("Whether it keeps state on a volume. Accepted, not used yet."),
    network_policies: z
      .boolean()
      .default(false)
      .describe("Whether it includes network policies. Accepted, not used yet."),
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
    profiles: setList(shortName, 16).optional().describe("Profiles of CRM in which it is considered; all when absent."),
    environments: setList(z.enum(ENVIRONMENT_KINDS), 3)
      .optional()
      .describe("Kinds of environment in which it is considered; all when absent."),
    match_labels: mapOf(z.string().max(63), 32).optional().describe("Labels the class's object must carry."),
    min_throughput_rps: count.optional().describe("Considered from this throughput on."),
    max_throughput_rps: count.optional().describe("Considered up to this throughput."),
    max_latency_ms: positive.optional().describe("Considered when the class demands this latency or less."),
    min_availability: share.optional().describe("Considered when the class demands this availability or more."),
    consistency: z.array(consistency).max(10).optional().describe("Considered for these consistency models."),
    stateful: z.boolean().optional().describe("Considered only for classes with state (true) or without (false)."),
    priority: z.int32().default(0).describe("Added to its score."),
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
    name: templateName.optional().describe("Name by which classes select it; the object's name when absent."),
    description: text.optional().describe("For people."),
    template_type: templateType.describe("Kind of workload, which decides how readiness is read."),
    aliases: setList(templateName, 16).optional().describe("Other names for it."),
    nfr_capabilities: nfrCapabilities.optional().describe("What it can promise; compared with what classes demand."),
    resource_requirements: resourceRequirements.optional().describe("Resources of functions that state none."),
    manifests: manifests
      .optional()
      .describe("Kubernetes objects to render; texts in them may hold placeholders. What they hold is kept as it is."),
    kubernetes_manifests: manifests.optional().describe("Another spelling of manifests."),
    selection_criteria: selectionCriteria.optional().describe("When it is considered, and how it scores."),
  }),
  {
    cel: "has(self.manifests) != has(self.kubernetes_manifests)",
    message: "give manifests, or kubernetes_manifests, which is another spelling of it, and not both",
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
  revision: z.string().max(128).optional().describe("Digest of the spec that classes are rendered with."),
  used_by: count.optional().describe("Classes that use it."),
});

/** A template of a user's own. */
export const deploymentTemplate = kubernetesObject("DeploymentTemplate", spec, status);

/** A DeploymentTemplate as CRM reads it, defaults filled in. */
export type DeploymentTemplate = z.output<typeof deploymentTemplate>;
/** A DeploymentTemplate as one may write it. */
export type DeploymentTemplateInput = ObjectInput<typeof deploymentTemplate>;
export type DeploymentTemplateSpec = DeploymentTemplate["spec"];
