import { ok } from "@oaas/foundation";
import { defineConfig } from "../schema/define-config.ts";
import { perName } from "../schema/family.ts";
import { loggingVariables } from "../schema/standard-variables.ts";
import { env } from "../schema/variable.ts";

const logging = loggingVariables("OPRC_CRM_LOG", "SERVICE_LOG");

/** A schema with every feature, similar to the class runtime manager's. */
export const crmLike = defineConfig({
  title: "Class Runtime Manager",
  prefixes: ["OPRC_CRM_", "CRM_CLUSTER_"],
  profile: "profile",
  variables: {
    profile: env("OPRC_CRM_PROFILE")
      .oneOf(["dev", "edge", "full"], { prod: "full", production: "full" })
      .default("dev")
      .doc("Preset of defaults. Any other variable overrides it."),
    httpPort: env("HTTP_PORT").port().default(8088).doc("Port of gRPC and HTTP."),
    grpcPort: env("GRPC_PORT").port().optional().doc("Opens gRPC here as well."),
    token: env("OPRC_CRM_TOKEN").string().secret().optional().alias("CRM_TOKEN").doc("Bearer token of callers."),
    pin: env("OPRC_CRM_PIN").int().secret().optional().doc("A secret with an invalid value."),
    promUrl: env("OPRC_CRM_PROM_URL")
      .url()
      .optional()
      .doc("Prometheus base URL.")
      .example("http://prometheus.monitoring:9090"),
    matchLabels: env("OPRC_CRM_PROM_MATCH_LABELS").keyValues().default({}).doc("Labels on monitors | selectors."),
    clustersJson: env("OPRC_CRM_CLUSTERS").json("object", ok).secret().optional().doc("Clusters as a document."),
    log: { ...logging, level: logging.level.defaultIn({ dev: "debug" }) },
    features: {
      hpa: env("OPRC_CRM_FEATURES_HPA").bool().default(false).defaultIn({ edge: true, full: true }).doc("Uses HPAs."),
      nfrEnforcement: env("OPRC_CRM_FEATURES_NFR_ENFORCEMENT").bool().default(false).doc("Enforces NFRs."),
    },
    limits: {
      maxReplicas: env("OPRC_CRM_LIMITS_MAX_REPLICAS")
        .int({ min: 0 })
        .default(20)
        .defaultIn({ full: 50 })
        .alias("MAX_REPLICAS")
        .doc("Most replicas."),
    },
    enforcement: {
      cooldownMs: env("OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS")
        .duration({ bare: "s" })
        .default("2m")
        .doc("Least time between two enforcement actions on one class runtime."),
      maxReplicaDelta: env("OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA")
        .float({ min: 0, max: 100 })
        .default(30)
        .doc("Greatest change in percent."),
    },
    clusters: perName("CRM_CLUSTER_<NAME>_", {
      url: env("URL").url().doc("Address of the cluster's CRM."),
      timeoutMs: env("TIMEOUT").duration({ bare: "s" }).default("30s").doc("Deadline of a call."),
      token: env("TOKEN").string().secret().optional().doc("Bearer token."),
    }),
  },
  removedSettings: {
    "Memory has other margins.": ["OPRC_CRM_MEMORY_HEADROOM", "OPRC_CRM_MEMORY_LIMIT_FACTOR"],
    "Traces are not emitted.": ["TRACING_ENDPOINT"],
  },
  checks: [
    (config) =>
      config.features.nfrEnforcement && config.promUrl === undefined
        ? [{ path: "$.OPRC_CRM_PROM_URL", message: "is required when enforcement is on" }]
        : [],
  ],
});
