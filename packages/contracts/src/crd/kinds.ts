import type { KindDefinition, PrinterColumn } from "./manifest.ts";
import { classRuntime } from "./v1alpha1/class-runtime.ts";
import { deploymentRecord } from "./v1alpha1/deployment-record.ts";
import { deploymentTemplate } from "./v1alpha1/deployment-template.ts";
import { environmentConfig } from "./v1alpha1/environment-config.ts";

const conditionColumn = (name: string, type: string, description: string, priority = 0): PrinterColumn => ({
  name,
  type: "string",
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
  description,
  ...(priority === 0 ? {} : { priority }),
});

const lifeColumns: readonly PrinterColumn[] = [
  { name: "Template", type: "string", jsonPath: ".status.template.name", description: "Template in use." },
  { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Where it is in its life." },
  conditionColumn("Available", "Available", "Whether it serves."),
  conditionColumn("State", "OdgmReady", "Whether its state store serves.", 1),
  {
    name: "NFR",
    type: "string",
    jsonPath: ".status.nfr_compliance.overall_status",
    description: "Whether its requirements are met.",
    priority: 1,
  },
  { name: "Message", type: "string", jsonPath: ".status.message", description: "Its state in words.", priority: 1 },
];

/** Every kind of ours, in the order a reader meets them. */
export const KINDS = [
  {
    kind: "ClassRuntime",
    plural: "classruntimes",
    shortNames: ["crt"],
    description: "One class in this cluster: what it should be, and what CRM made of it.",
    schema: classRuntime,
    columns: [
      { name: "Class", type: "string", jsonPath: ".spec.package_class_key", description: "Package and class." },
      ...lifeColumns,
    ],
  },
  {
    kind: "DeploymentRecord",
    plural: "deploymentrecords",
    shortNames: ["dr"],
    description: "The older form of a ClassRuntime, served by the same reconciler.",
    schema: deploymentRecord,
    columns: lifeColumns,
  },
  {
    kind: "DeploymentTemplate",
    plural: "deploymenttemplates",
    shortNames: ["dtpl"],
    description: "A template of your own: manifests with placeholders, what they can promise, and when to choose them.",
    schema: deploymentTemplate,
    columns: [
      { name: "Type", type: "string", jsonPath: ".spec.template_type", description: "Kind of workload." },
      conditionColumn("Ready", "Ready", "Whether classes may use it."),
      { name: "Used", type: "integer", jsonPath: ".status.used_by", description: "Classes that use it." },
      { name: "Message", type: "string", jsonPath: ".status.message", description: "Its state in words.", priority: 1 },
    ],
  },
  {
    kind: "EnvironmentConfig",
    plural: "environmentconfigs",
    shortNames: ["envcfg"],
    description: "Defaults, quotas and images of one environment; a cluster may hold several.",
    schema: environmentConfig,
    columns: [
      { name: "Kind", type: "string", jsonPath: ".spec.kind", description: "Kind of environment." },
      {
        name: "Default",
        type: "boolean",
        jsonPath: ".spec.default",
        description: "Whether unassigned classes use it.",
      },
      conditionColumn("Ready", "Ready", "Whether classes may use it."),
      { name: "Classes", type: "integer", jsonPath: ".status.usage.classes", description: "Class runtimes in it." },
      { name: "Message", type: "string", jsonPath: ".status.message", description: "Its state in words.", priority: 1 },
    ],
  },
] as const satisfies readonly KindDefinition[];
