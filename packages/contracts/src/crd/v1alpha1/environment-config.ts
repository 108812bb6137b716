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

/** The environment kinds. */
export const ENVIRONMENT_KINDS = ["dev", "edge", "cloud"] as const;

const images = z.object({
  odgm: image.optional().describe("State store image. Default: the template's image."),
  function: image.optional().describe("Default function image."),
  pull_policy: z.enum(["Always", "IfNotPresent", "Never"]).optional().describe("imagePullPolicy of all containers."),
  allowed_registries: setList(z.string().min(1).max(253), 64)
    .optional()
    .describe("Allowed image registries and paths, such as ghcr.io/acme. Default: any."),
  mirrors: keyedList(
    z.object({
      from: z.string().min(1).max(253).describe("Image reference prefix to replace."),
      to: z.string().min(1).max(253).describe("Replacement prefix."),
    }),
    "from",
    64,
  )
    .optional()
    .describe("Registry mirrors; the longest matching prefix applies."),
});

const quotas = z.object({
  max_classes: count.optional().describe("Maximum number of class runtimes."),
  max_functions_per_class: count.optional().describe("Maximum number of functions per class."),
  max_replicas: positive.optional().describe("Maximum replicas of one function, requested or enforced."),
  cpu: quantity.optional().describe("Maximum total CPU requests of all classes."),
  memory: quantity.optional().describe("Maximum total memory requests of all classes."),
  storage: quantity.optional().describe("Maximum total storage requests of all classes."),
});

const networkPolicy = z.object({
  enabled: z.boolean().default(false).describe("Whether to create network policies for functions and state stores."),
  allow_from_namespaces: setList(z.string().min(1).max(63), 64)
    .optional()
    .describe("Additional namespaces that may call functions."),
});

const metrics = z.object({
  queries: mapOf(z.string().min(1).max(8192), 32)
    .optional()
    .describe(
      "PromQL queries that replace those of the cluster (OPRC_CRM_PROM_QUERIES) for its classes, by signal. Every selector needs a matcher such as namespace=~$namespaces; $window is the window of rates. Signals: requests_per_second, errors_per_second, slow_requests_per_second, latency_p50_ms, latency_p95_ms, latency_p99_ms, cpu_millicores, cpu_throttled_ratio, memory_bytes, restarts, oom_kills, availability, queue_length, ready_replicas.",
    ),
});

const partitionStrategies = z.object({
  low_throughput: positive.default(1).describe("Partitions for up to 1,000 requests per second."),
  standard: positive.default(4).describe("Partitions for up to 5,000, and when no throughput is required."),
  high_throughput: positive.default(8).describe("Partitions for up to 20,000."),
  very_high: positive.default(16).describe("Partitions above that."),
});

const odgm = z.object({
  defaults: z
    .object({
      cluster_id_prefix: shortName.optional().describe("Prefix of cluster ids."),
      node_id_prefix: shortName
        .optional()
        .describe(
          "Default of odgm_config.node_id_prefix. Set it before the first class: a change gives nodes new ids.",
        ),
      replication_factor: positive.max(MAX_COPIES).optional().describe("Default number of replicas."),
      consistency_level: consistency.optional().describe("Default consistency."),
      shard_type: shardType.optional().describe("Default shard type."),
      event_processing: eventProcessing.optional().describe("Event triggers on state changes."),
    })
    .optional()
    .describe("Default state store settings."),
  collection_templates: mapOf(z.object(collectionSettings), 32)
    .optional()
    .describe("Collection settings by kind of state: normal_state, collection_state, singleton_state."),
  partition_strategies: partitionStrategies.prefault({}).describe("Number of partitions by required throughput."),
  container_resources: z
    .object({
      odgm: containerResources
        .default({ requests: { cpu: "200m", memory: "512Mi" }, limits: { cpu: "1000m", memory: "1Gi" } })
        .describe("State store container."),
      function: containerResources
        .default({ requests: { cpu: "100m", memory: "256Mi" }, limits: { cpu: "500m", memory: "512Mi" } })
        .describe("Default for function containers."),
    })
    .prefault({})
    .describe("Container resources."),
  health_checks: z
    .object({
      odgm: probe(30, 10, 5, 3).describe("State store probes."),
      function: probe(10, 5, 3, 3).describe("Default for function probes."),
    })
    .prefault({})
    .describe("Probe settings."),
  storage: z
    .object({
      storageClassName: z
        .string()
        .min(1)
        .max(253)
        .optional()
        .describe("Storage class. Default: the cluster's default."),
      size: quantity.default("1Gi").describe("Volume size per replica."),
    })
    .prefault({})
    .describe("Volumes for persistent state."),
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
    kind: z.enum(ENVIRONMENT_KINDS).describe("Environment kind."),
    default: z.boolean().default(false).describe("Whether it applies to classes that name no environment."),
    description: text.optional().describe("Human-readable description."),
    labels: mapOf(z.string().max(63), 64).optional().describe("Labels added to all objects created for its classes."),
    region: z.string().max(253).optional().describe("Region, used in template selection."),
    zone: z.string().max(253).optional().describe("Zone."),
    hw_class: z.string().max(253).optional().describe("Hardware class."),
    default_template: templateName.optional().describe("Default template."),
    default_addons: setList(shortName, 16).optional().describe("Default addons."),
    scale: scaleDefaults.optional().describe("Default scale bounds of functions."),
    enforcement: enforcement.optional().describe("Enforcement of classes that state none."),
    metrics: metrics.optional().describe("Measurement of its classes."),
    telemetry: telemetry.optional().describe("Default telemetry settings."),
    images: images.optional().describe("Images and registries."),
    quotas: quotas.optional().describe("Limits across all classes of the environment."),
    network_policy: networkPolicy.optional().describe("Network policies."),
    odgm: odgm.prefault({}).describe("State store settings."),
    imagePullSecrets: keyedList(localReference, "name", 16).optional().describe("Image pull secrets."),
    nodeSelector: nodeSelector.optional().describe("Required node labels."),
    tolerations: z.array(toleration).max(32).optional().describe("Tolerations of its pods."),
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
      classes: count.optional().describe("Number of class runtimes."),
      replicas: count.optional().describe("Total function replicas."),
      cpu: quantity.optional().describe("Total CPU requests."),
      memory: quantity.optional().describe("Total memory requests."),
      storage: quantity.optional().describe("Total storage requests."),
    })
    .optional()
    .describe("Quota usage of its classes."),
});

/** Defaults, quotas and images of one environment; a cluster may have several. */
export const environmentConfig = kubernetesObject("EnvironmentConfig", spec, status);

/** An EnvironmentConfig after parsing, with defaults. */
export type EnvironmentConfig = z.output<typeof environmentConfig>;
/** An EnvironmentConfig before parsing. */
export type EnvironmentConfigInput = ObjectInput<typeof environmentConfig>;
export type EnvironmentConfigSpec = EnvironmentConfig["spec"];
