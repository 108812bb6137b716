import { env, perName, type ConfigOf } from "@oaas/config";
import { clustersFromJson } from "./clusters-json.ts";

const urlOf = (name: string) => env(name).url("http", "https").optional();

/** The settings of clusters; `clustersFrom` turns them into registrations. */
export const clusterVariables = {
  clustersJson: env("CRM_CLUSTERS_JSON")
    .json("clusters by name, or a list of them", clustersFromJson)
    .optional()
    .secret({ members: ["api_key"] })
    .fileKey("clusters")
    .reloads()
    .doc(
      "Clusters as an object from name to settings, or a list of settings with a name. Settings: url, timeout (seconds), retry_attempts, api_key, api_key_file, labels, tls {ca_cert, client_cert, client_key, insecure}. Overrides CRM_CLUSTERS and CRM_DEFAULT_URL.",
    )
    .example('{"edge":{"url":"http://crm.edge:8088","labels":{"env":"edge"}}}'),
  clusters: env("CRM_CLUSTERS")
    .list()
    .optional()
    .fileKey(false)
    .doc("Cluster names, each configured by CRM_CLUSTER_<NAME>_ variables. Overrides CRM_DEFAULT_URL.")
    .example("edge,cloud"),
  perCluster: perName("CRM_CLUSTER_<NAME>_", {
    url: urlOf("URL").doc("URL of the class runtime manager of the cluster."),
    timeoutMs: env("TIMEOUT")
      .duration({ bare: "s", max: "1h" })
      .optional()
      .doc("Deadline of every call. Unset or 0: 5 s for reads, 15 s for writes."),
    retryAttempts: env("RETRY_ATTEMPTS")
      .int({ min: 0, max: 100 })
      .default(3)
      .doc("Maximum attempts per read or health check, including the first, within its deadline."),
    labels: env("LABELS")
      .keyValues()
      .default({})
      .doc("Labels of the cluster; the label env is its environment.")
      .example("env=edge"),
    apiKey: env("API_KEY").string().optional().secret({ fromFile: false }).doc("Bearer token sent with every call."),
    apiKeyFile: env("API_KEY_FILE").path().optional().doc("File with the token, reloaded when it changes."),
    tlsEnabled: env("TLS_ENABLED")
      .bool()
      .optional()
      .doc("Must match the scheme of the URL. Accepted for compatibility."),
    tlsCaFile: env("TLS_CA_CERT_PATH")
      .path()
      .optional()
      .doc("CA bundle to verify the server certificate. Default: the system CAs."),
    tlsCertificateFile: env("TLS_CLIENT_CERT_PATH").path().optional().doc("Client certificate (mTLS)."),
    tlsKeyFile: env("TLS_CLIENT_KEY_PATH").path().optional().doc("Private key of the client certificate."),
    tlsInsecure: env("TLS_INSECURE").bool().default(false).doc("Skip certificate verification. For tests only."),
  }),
  pmCrm: perName("OPRC_PM_CRM_<NAME>_", {
    url: urlOf("URL").doc("URL of an additional cluster. Its name is NAME in lower case, with - for _."),
    token: env("TOKEN").string().optional().secret({ fromFile: false }).doc("Bearer token sent with every call."),
    tokenFile: env("TOKEN_FILE").path().optional().doc("File with the token, reloaded when it changes."),
  }),
  defaultUrl: urlOf("CRM_DEFAULT_URL")
    .reloads()
    .doc("URL of a single cluster named default. Used if no other setting configures clusters.")
    .example("http://localhost:8088"),
  defaultTimeoutMs: env("CRM_DEFAULT_TIMEOUT")
    .duration({ bare: "s", max: "1h" })
    .optional()
    .reloads()
    .doc("Deadline of every call to the cluster of CRM_DEFAULT_URL."),
  defaultRetryAttempts: env("CRM_DEFAULT_RETRY_ATTEMPTS")
    .int({ min: 0, max: 100 })
    .default(3)
    .reloads()
    .doc("Maximum attempts per read or health check for the cluster of CRM_DEFAULT_URL, including the first."),
  defaultCluster: env("CRM_DEFAULT_CLUSTER")
    .string()
    .alias("OPRC_PM_CRM_DEFAULT_CLUSTER")
    .optional()
    .reloads()
    .doc(
      "Cluster to prefer when a request for a unit does not name a cluster and several clusters have the unit. Default: the cluster named default.",
    ),
  secretsDir: env("CRM_SECRETS_DIR")
    .path()
    .optional()
    .doc(
      "Folder of the token and TLS files that clusters added through the API may use. Unset: they cannot use files. Configured clusters can use any file.",
    )
    .example("/run/secrets/clusters"),
  healthIntervalMs: env("CRM_HEALTH_CHECK_INTERVAL")
    .duration({ bare: "s", min: "100ms" })
    .default("60s")
    .doc("Interval of background health checks; failing clusters are checked more often."),
  healthTtlMs: env("CRM_HEALTH_CACHE_TTL")
    .duration({ bare: "s" })
    .default("15s")
    .doc("How long a health reading is cached; 0 disables the cache."),
  breakerThreshold: env("CRM_CIRCUIT_BREAKER_FAILURE_THRESHOLD")
    .int({ min: 1 })
    .default(5)
    .doc("Consecutive failures that open the circuit breaker of a cluster."),
  breakerOpenMs: env("CRM_CIRCUIT_BREAKER_TIMEOUT")
    .duration({ bare: "s", min: "100ms" })
    .default("60s")
    .doc("How long an open circuit breaker rejects calls, unless a health check succeeds earlier."),
  maxCalls: env("OPRC_PM_CRM_MAX_CALLS")
    .int({ min: 1, max: 10_000 })
    .default(64)
    .doc("Maximum concurrent calls per cluster; further calls wait."),
  pollIntervalMs: env("OPRC_PM_CRM_POLL_INTERVAL")
    .duration({ bare: "s", min: "100ms" })
    .default("15s")
    .doc("Interval of listing class runtimes where the manager does not support watch."),
} as const;

export type ClusterConfig = ConfigOf<typeof clusterVariables>;
