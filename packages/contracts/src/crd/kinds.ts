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

const lifecycleColumns: readonly PrinterColumn[] = [
  { name: "Template", type: "string", jsonPath: ".status.template.name", description: "Template in use." },
  { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Lifecycle phase." },
  conditionColumn("Available", "Available", "Whether the class is available."),
  conditionColumn("State", "OdgmReady", "Whether the state store is ready.", 1),
  {
    name: "NFR",
    type: "string",
    jsonPath: ".status.nfr_compliance.overall_status",
    description: "Compliance with the requirements.",
    priority: 1,
  },
  { name: "Message", type: "string", jsonPath: ".status.message", description: "Human-readable status.", priority: 1 },
];

/** The oldest Kubernetes whose API the platform uses as it is: the CRDs have rules and defaults of this release. */
export const MIN_KUBERNETES_VERSION = "1.30";

/** All kinds, in reading order. */
export const KINDS = [
  {
    kind: "ClassRuntime",
    plural: "classruntimes",
    shortNames: ["crt"],
    description: "One class in this cluster: its desired state and its status.",
    schema: classRuntime,
    columns: [
      { name: "Class", type: "string", jsonPath: ".spec.package_class_key", description: "Package and class." },
      ...lifecycleColumns,
    ],
  },
  {
    kind: "DeploymentRecord",
    plural: "deploymentrecords",
    shortNames: ["dr"],
    description: "Deprecated form of ClassRuntime, served by the same reconciler.",
    schema: deploymentRecord,
    columns: lifecycleColumns,
  },
  {
    kind: "DeploymentTemplate",
    plural: "deploymenttemplates",
    shortNames: ["dtpl"],
    description:
      "A user-defined template: manifests with placeholders, their NFR capabilities and the selection criteria.",
    schema: deploymentTemplate,
    columns: [
      { name: "Type", type: "string", jsonPath: ".spec.template_type", description: "Workload kind." },
      conditionColumn("Ready", "Ready", "Whether it can be used by classes."),
      { name: "Used", type: "integer", jsonPath: ".status.used_by", description: "Number of classes that use it." },
      {
        name: "Message",
        type: "string",
        jsonPath: ".status.message",
        description: "Human-readable status.",
        priority: 1,
      },
    ],
  },
  {
    kind: "EnvironmentConfig",
    plural: "environmentconfigs",
    shortNames: ["envcfg"],
    description: "Defaults, quotas and images of one environment; a cluster may have several.",
    schema: environmentConfig,
    columns: [
      { name: "Kind", type: "string", jsonPath: ".spec.kind", description: "Environment kind." },
      {
        name: "Default",
        type: "boolean",
        jsonPath: ".spec.default",
        description: "Whether it is the default for classes without an environment.",
      },
      conditionColumn("Ready", "Ready", "Whether it can be used by classes."),
      { name: "Classes", type: "integer", jsonPath: ".status.usage.classes", description: "Number of class runtimes." },
      {
        name: "Message",
        type: "string",
        jsonPath: ".status.message",
        description: "Human-readable status.",
        priority: 1,
      },
    ],
  },
] as const satisfies readonly KindDefinition[];
