import { z } from "zod";
import { keyedList, mapOf, setList } from "../collections.ts";
import { withRules } from "../rule.ts";
import { telemetry } from "./class-parts.ts";
import { probeTiming } from "./function.ts";
import { containerResources, localReference, nodeSelector, toleration } from "./kubernetes.ts";
import { consistency, enforcement } from "./nfr.ts";
import { kubernetesObject, type ObjectInput } from "./object.ts";
import { collectionSettings, eventProcessing, MAX_COPIES, shardType } from "./odgm.ts";
import { scaleDefaults } from "./resources.ts";
import { count, image, positive, quantity, shortName, templateName, text } from "./scalars.ts";
import { observed } from "./status.ts";

/** What kinds of environment there are. */
export const ENVIRONMENT_KINDS = ["dev", "edge", "cloud"] as const;

const images = z.object({
  odgm: image.optional().describe("Image of the data grid; the template's default when absent."),
  function: image.optional().describe("Image of functions that name none."),
  pull_policy: z.enum(["Always", "IfNotPresent", "Never"]).optional().describe("imagePullPolicy of all containers."),
  allowed_registries: setList(z.string().min(1).max(253), 64)
    .optional()
    .describe("Registries images may come from, as prefixes; any when absent."),
  mirrors: keyedList(
    z.object({
      from: z.string().min(1).max(253).describe("Prefix of the reference to replace."),
      to: z.string().min(1).max(253).describe("What to replace it with."),
    }),
    "from",
    64,
  )
    .optional()
    .describe("Registries read in place of others; the longest prefix wins."),
});

const quotas = z.object({
  max_classes: count.optional().describe("Most class runtimes."),
  max_functions_per_class: count.optional().describe("Most functions of one class."),
  max_replicas: positive.optional().describe("Most replicas of one function, enforced or asked for."),
  cpu: quantity.optional().describe("Most CPU requested, over all classes."),
  memory: quantity.optional().describe("Most memory requested, over all classes."),
  storage: quantity.optional().describe("Most storage requested, over all classes."),
});

const networkPolicy = z.object({
  enabled: z.boolean().default(false).describe("Whether policies are made for functions and state stores."),
  allow_from_namespaces: setList(z.string().min(1).max(63), 64)
    .optional()
    .describe("Namespaces that may call functions, besides their own."),
});

const partitionStrategies = z.object({
  low_throughput: positive.default(1).describe("Partitions up to 1,000 requests per second."),
  standard: positive.default(4).describe("Partitions up to 5,000, and when no throughput is stated."),
  high_throughput: positive.default(8).describe("Partitions up to 20,000."),
  very_high: positive.default(16).describe("Partitions above."),
});

const odgm = z.object({
  defaults: z
    .object({
      cluster_id_prefix: shortName.optional().describe("Prefix of cluster ids."),
      node_id_prefix: shortName.optional().describe("Prefix of node names. Accepted, not used yet."),
      replication_factor: positive.max(MAX_COPIES).optional().describe("Copies of state that states none."),
      consistency_level: consistency.optional().describe("Consistency of state that states none."),
      shard_type: shardType.optional().describe("Shard type of state that states none."),
      event_processing: eventProcessing.optional().describe("Triggers on changes of state."),
    })
    .optional()
    .describe("Settings of state stores that state none."),
  collection_templates: mapOf(z.object(collectionSettings), 32)
    .optional()
    .describe("Settings of collections by kind of state: normal_state, collection_state, singleton_state."),
  partition_strategies: partitionStrategies.prefault({}).describe("Partitions by throughput."),
  container_resources: z
    .object({
      odgm: containerResources
        .default({ requests: { cpu: "200m", memory: "512Mi" }, limits: { cpu: "1000m", memory: "1Gi" } })
        .describe("The data grid's container."),
      function: containerResources
        .default({ requests: { cpu: "100m", memory: "256Mi" }, limits: { cpu: "500m", memory: "512Mi" } })
        .describe("Containers of functions that state none."),
    })
    .prefault({})
    .describe("Resources of containers."),
  health_checks: z
    .object({
      odgm: probe(30, 10, 5, 3).describe("Probes of the data grid."),
      function: probe(10, 5, 3, 3).describe("Probes of functions that state none."),
    })
    .prefault({})
    .describe("Numbers of probes."),
  storage: z
    .object({
      storageClassName: z
        .string()
        .min(1)
        .max(253)
        .optional()
        .describe("Storage class; the cluster's default when absent."),
      size: quantity.default("1Gi").describe("Size of one replica's volume."),
    })
    .prefault({})
    .describe("Volumes of persistent state."),
});

function probe(delay: number, period: number, timeout: number, failures: number) {
  return z
    .object({
      initial_delay_seconds: probeTiming.initial_delay_seconds.unwrap().default(delay),
      period_seconds: probeTiming.period_seconds.unwrap().default(period),
      timeout_seconds: probeTiming.timeout_seconds.unwrap().default(timeout),
      failure_threshold: probeTiming.failure_threshold.unwrap().default(failures),
      success_threshold: probeTiming.success_threshold,
    })
    .prefault({});
}

const spec = withRules(
  z.object({
    kind: z.enum(ENVIRONMENT_KINDS).describe("What kind of environment it is."),
    default: z.boolean().default(false).describe("Whether classes that name no environment belong to it."),
    description: text.optional().describe("For people."),
    labels: mapOf(z.string().max(63), 64).optional().describe("Labels put on everything made for its classes."),
    region: z.string().max(253).optional().describe("Region, for template choice."),
    zone: z.string().max(253).optional().describe("Zone."),
    hw_class: z.string().max(253).optional().describe("Class of hardware."),
    default_template: templateName.optional().describe("Template of classes that select none."),
    default_addons: setList(shortName, 16).optional().describe("Addons of classes that state none."),
    scale: scaleDefaults.optional().describe("Bounds of scale of functions that state none."),
    enforcement: enforcement.optional().describe("Enforcement of classes that state none."),
    telemetry: telemetry.optional().describe("Telemetry of classes that state none."),
    images: images.optional().describe("Images and where they come from."),
    quotas: quotas.optional().describe("Limits over all classes of the environment."),
    network_policy: networkPolicy.optional().describe("Network policies."),
    odgm: odgm.prefault({}).describe("State stores."),
    imagePullSecrets: keyedList(localReference, "name", 16).optional().describe("Secrets for pulling images."),
    nodeSelector: nodeSelector.optional().describe("Labels nodes must carry."),
    tolerations: z.array(toleration).max(32).optional().describe("Taints its pods tolerate."),
    priorityClassName: z.string().min(1).max(253).optional().describe("Priority class of its pods."),
    serviceAccountName: z.string().min(1).max(253).optional().describe("Service account of its pods."),
  }),
  {
    cel: "!has(self.scale) || !has(self.scale.min_scale) || !has(self.quotas) || !has(self.quotas.max_replicas) || self.scale.min_scale <= self.quotas.max_replicas",
    message: "scale.min_scale must not exceed quotas.max_replicas",
    at: "scale",
    holds: ({ scale, quotas: limits }) =>
      scale?.min_scale === undefined || limits?.max_replicas === undefined || scale.min_scale <= limits.max_replicas,
  },
);

const status = z.object({
  ...observed,
  usage: z
    .object({
      classes: count.optional().describe("Class runtimes in it."),
      replicas: count.optional().describe("Replicas of their functions."),
      cpu: quantity.optional().describe("CPU they request."),
      memory: quantity.optional().describe("Memory they request."),
      storage: quantity.optional().describe("Storage they request."),
    })
    .optional()
    .describe("What its classes take of the quotas."),
});

/** Defaults, quotas and images of one environment; a cluster may hold several. */
export const environmentConfig = kubernetesObject("EnvironmentConfig", spec, status);

/** An EnvironmentConfig as CRM reads it, defaults filled in. */
export type EnvironmentConfig = z.output<typeof environmentConfig>;
/** An EnvironmentConfig as one may write it. */
export type EnvironmentConfigInput = ObjectInput<typeof environmentConfig>;
export type EnvironmentConfigSpec = EnvironmentConfig["spec"];
