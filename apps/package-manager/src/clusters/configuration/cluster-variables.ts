import { env, perName, type ConfigOf } from "@oaas/config";
import { clustersFromJson } from "./clusters-json.ts";

const urlOf = (name: string) => env(name).url("http", "https").optional();

/** Everything about clusters that can be set; `clustersFrom` makes registrations of it. Place it as `crm` in the schema. */
export const clusterVariables = {
  clustersJson: env("CRM_CLUSTERS_JSON")
    .json("clusters by name, or a list of them", clustersFromJson)
    .optional()
    .secret()
    .doc(
      "The clusters: an object from name to settings, or a list of settings with a name. Settings: url, timeout (seconds), retry_attempts, api_key, api_key_file, labels, tls {ca_cert, client_cert, client_key, insecure}. Wins over CRM_CLUSTERS and CRM_DEFAULT_URL.",
    )
    .example('{"edge":{"url":"http://crm.edge:8088","labels":{"env":"edge"}}}'),
  clusters: env("CRM_CLUSTERS")
    .list()
    .optional()
    .doc("Names of the clusters, each with its own CRM_CLUSTER_<NAME>_ variables. Wins over CRM_DEFAULT_URL.")
    .example("edge,cloud"),
  perCluster: perName("CRM_CLUSTER_<NAME>_", {
    url: urlOf("URL").doc("Address of the cluster's class runtime manager."),
    timeoutMs: env("TIMEOUT")
      .duration({ bare: "s", max: "1h" })
      .optional()
      .doc("Deadline of every call to it. Without it, or with 0: 5 s for reads, 15 s for writes."),
    retryAttempts: env("RETRY_ATTEMPTS")
      .int({ min: 0, max: 100 })
      .default(3)
      .doc("Tries of one call, the first included, within its deadline."),
    labels: env("LABELS").keyValues().default({}).doc("Labels of the cluster; env says its kind.").example("env=edge"),
    apiKey: env("API_KEY").string().optional().secret({ fromFile: false }).doc("Bearer token sent with every call."),
    apiKeyFile: env("API_KEY_FILE").path().optional().doc("File that holds the token; read again when it changes."),
    tlsEnabled: env("TLS_ENABLED")
      .bool()
      .optional()
      .doc("Must agree with the address, whose https:// decides. Kept for older settings."),
    tlsCaFile: env("TLS_CA_CERT_PATH")
      .path()
      .optional()
      .doc("Authority that its certificate is checked against; without it those of the system."),
    tlsCertificateFile: env("TLS_CLIENT_CERT_PATH").path().optional().doc("Certificate shown to it (mTLS)."),
    tlsKeyFile: env("TLS_CLIENT_KEY_PATH").path().optional().doc("Key of that certificate."),
    tlsInsecure: env("TLS_INSECURE").bool().default(false).doc("Accepts any certificate. For tests only."),
  }),
  pmCrm: perName("OPRC_PM_CRM_<NAME>_", {
    url: urlOf("URL").doc(
      "Address of one more cluster, whose name is NAME in lower case with - for _. Adds to the other forms.",
    ),
    token: env("TOKEN").string().optional().secret({ fromFile: false }).doc("Bearer token sent with every call."),
    tokenFile: env("TOKEN_FILE").path().optional().doc("File that holds the token; read again when it changes."),
  }),
  defaultUrl: urlOf("CRM_DEFAULT_URL")
    .doc("Address of the one cluster, named default, when no other form names any.")
    .example("http://localhost:8088"),
  defaultTimeoutMs: env("CRM_DEFAULT_TIMEOUT")
    .duration({ bare: "s", max: "1h" })
    .optional()
    .doc("Deadline of every call to the cluster of CRM_DEFAULT_URL."),
  defaultRetryAttempts: env("CRM_DEFAULT_RETRY_ATTEMPTS")
    .int({ min: 0, max: 100 })
    .default(3)
    .doc("Tries of one call to the cluster of CRM_DEFAULT_URL, the first included."),
  defaultCluster: env("CRM_DEFAULT_CLUSTER")
    .string()
    .alias("OPRC_PM_CRM_DEFAULT_CLUSTER")
    .optional()
    .doc(
      "The cluster whose answer counts when a request for a unit names none and several have one of that id. Without it: the one named default, if there is one.",
    ),
  secretsDir: env("CRM_SECRETS_DIR")
    .path()
    .optional()
    .doc(
      "Folder of the token and TLS files that clusters added over the API may name. Without it they may name none; the configuration may name any file.",
    )
    .example("/run/secrets/clusters"),
  healthIntervalMs: env("CRM_HEALTH_CHECK_INTERVAL")
    .duration({ bare: "s", min: "100ms" })
    .default("60s")
    .doc("How often each cluster's health is checked in the background; failing ones are checked sooner."),
  healthTtlMs: env("CRM_HEALTH_CACHE_TTL")
    .duration({ bare: "s" })
    .default("15s")
    .doc("How long a reading of health is used before the cluster is asked again; 0 asks every time."),
  breakerThreshold: env("CRM_CIRCUIT_BREAKER_FAILURE_THRESHOLD")
    .int({ min: 1 })
    .default(5)
    .doc("Failed calls in a row after which a cluster is left alone."),
  breakerOpenMs: env("CRM_CIRCUIT_BREAKER_TIMEOUT")
    .duration({ bare: "s", min: "100ms" })
    .default("60s")
    .doc("How long it is left alone, unless a health check finds it well before."),
  maxCalls: env("OPRC_PM_CRM_MAX_CALLS")
    .int({ min: 1, max: 10_000 })
    .default(64)
    .doc("Calls to one cluster at the same time; further ones wait."),
  pollIntervalMs: env("OPRC_PM_CRM_POLL_INTERVAL")
    .duration({ bare: "s", min: "100ms" })
    .default("15s")
    .doc("How often class runtimes are listed where the manager cannot be watched."),
} as const;

/** What the variables of clusters hold. */
export type ClusterConfig = ConfigOf<typeof clusterVariables>;
