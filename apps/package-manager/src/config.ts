import { defineConfig, env, loggingVariables, TRACING_VARIABLES, type ConfigOf } from "@oaas/config";
import type { Violation } from "@oaas/foundation";
import { checkClusters } from "./clusters/configuration/configured-clusters.ts";
import { clusterVariables } from "./clusters/configuration/cluster-variables.ts";

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .optional()
      .doc(
        "Address to listen on. Without it: every address when credentials are configured, else loopback only. Beyond loopback without credentials the start is refused, unless AUTH_MODE says off.",
      )
      .example("0.0.0.0"),
    port: env("SERVER_PORT").port().default(8080).doc("Port of the REST interface; 0 takes a free one."),
    grpcPort: env("GRPC_PORT")
      .port()
      .optional()
      .doc("Opens PackageService over gRPC here: packages, deployments, and what class runtime managers report."),
    workers: env("SERVER_WORKERS")
      .int({ min: 1, max: 64 })
      .default(1)
      .doc("Processes that share the port. More than one needs a store that they can share: STORAGE_TYPE=etcd."),
    maxBodyBytes: env("SERVER_MAX_BODY_BYTES")
      .int({ min: 1024, max: 268_435_456 })
      .alias("GATEWAY_MAX_PAYLOAD_BYTES")
      .default(8_388_608)
      .doc("Largest body of a request."),
    requestTimeoutMs: env("SERVER_REQUEST_TIMEOUT")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .doc("A client that takes longer to send its request is let go."),
    graceMs: env("SERVER_SHUTDOWN_GRACE")
      .duration({ bare: "s" })
      .default("10s")
      .doc(
        "How long requests and sagas under way may go on when the process is told to stop; sagas go on after the next start.",
      ),
    corsOrigins: env("SERVER_CORS_ORIGINS")
      .list()
      .default([])
      .doc("Origins of web pages that may read answers; * lets every page. Without it none of another origin may.")
      .example("https://console.example"),
    callerRate: env("SERVER_RATE_LIMIT")
      .float({ min: 0.1 })
      .default(500)
      .doc("Requests per second that one caller may keep up."),
    callerBurst: env("SERVER_RATE_BURST")
      .int({ min: 1 })
      .default(2000)
      .doc("Requests that one caller may send at once."),
  },
  auth: {
    mode: env("AUTH_MODE")
      .oneOf(["required", "off"])
      .optional()
      .doc(
        "off lets everybody in as admin, also beyond loopback. Without it: required when credentials are configured.",
      ),
    tokensFile: env("AUTH_TOKENS_FILE")
      .path()
      .optional()
      .doc(
        "Tokens, one line each: name:role:SHA-256 of the token in hex; roles viewer, deployer, admin. Read again when it changes.",
      ),
    oidcIssuer: env("OIDC_ISSUER")
      .url("http", "https")
      .optional()
      .doc("Issuer whose JWTs are accepted as bearer tokens; its keys are found by discovery and followed."),
    oidcAudience: env("OIDC_AUDIENCE")
      .string()
      .optional()
      .doc("Audience that a JWT must name. Required with OIDC_ISSUER."),
    oidcRoleClaim: env("OIDC_ROLE_CLAIM")
      .string()
      .default("oaas_role")
      .doc("Claim that holds the role, or a list of which the highest counts; dots lead into objects."),
  },
  security: {
    certFile: env("OPRC_PM_SECURITY_TLS_CERT_FILE")
      .path()
      .optional()
      .doc(
        "Certificate chain of the REST and gRPC listeners, PEM. Enables TLS together with the key. Reloaded on change.",
      ),
    keyFile: env("OPRC_PM_SECURITY_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    clientCaFile: env("OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE")
      .path()
      .optional()
      .doc("Certificate authority of clients, PEM. When set, every client must present a certificate it issued."),
  },
  storage: {
    type: env("STORAGE_TYPE")
      .oneOf(["memory", "sqlite", "etcd"], { embedded: "sqlite", file: "sqlite" })
      .default("memory")
      .doc("Where everything is kept: memory (gone with the process), sqlite (one durable file) or etcd."),
    file: env("STORAGE_FILE").path().default("oaas-pm.db").doc("File of the sqlite store."),
    etcdEndpoints: env("ETCD_ENDPOINTS").list().default(["localhost:2379"]).doc("Members of the etcd cluster."),
    etcdPrefix: env("ETCD_KEY_PREFIX").string().default("/oaas/pm").doc("Put before every key."),
    etcdUsername: env("ETCD_USERNAME").string().optional().doc("User of etcd."),
    etcdPassword: env("ETCD_PASSWORD").string().optional().secret().doc("Password of that user."),
    etcdTimeoutMs: env("ETCD_TIMEOUT")
      .duration({ bare: "s", min: "100ms" })
      .default("30s")
      .doc(
        "A call without an answer after this long is given up; at once where etcd has answered nobody for 5 seconds.",
      ),
    etcdTls: env("ETCD_TLS_ENABLED").bool().default(false).doc("Speaks TLS to etcd."),
    etcdCaFile: env("ETCD_CA_CERT_PATH").path().optional().doc("Authority of etcd's certificates."),
    etcdCertFile: env("ETCD_CLIENT_CERT_PATH").path().optional().doc("Certificate shown to etcd."),
    etcdKeyFile: env("ETCD_CLIENT_KEY_PATH").path().optional().doc("Key of that certificate."),
    etcdInsecure: env("ETCD_TLS_INSECURE")
      .bool()
      .default(false)
      .doc("Accepts any certificate of etcd. For tests only."),
  },
  crm: clusterVariables,
  deploy: {
    maxRetries: env("DEPLOY_MAX_RETRIES")
      .int({ min: 0, max: 100 })
      .default(2)
      .doc("Maximum retries of a deployment or removal per cluster, after the first attempt."),
    rollBackOnPartial: env("DEPLOY_ROLLBACK_ON_PARTIAL")
      .bool()
      .default(false)
      .doc("When some clusters refuse a deployment, brings the others back to what they had."),
    waitMs: env("DEPLOY_WAIT")
      .duration({ bare: "s" })
      .default("15s")
      .doc("How long a caller waits for all clusters to accept before it is answered 202."),
    gateTimeoutMs: env("DEPLOY_GATE_TIMEOUT")
      .duration({ bare: "s", min: "1s" })
      .default("5m")
      .doc("How long a cluster may take to pass the gate of a rolling roll-out."),
    fanOut: env("DEPLOY_FAN_OUT")
      .int({ min: 1, max: 1000 })
      .default(128)
      .doc("Clusters that are changed at the same time, where the roll-out allows it."),
    leaseMs: env("DEPLOY_LEASE")
      .duration({ bare: "s", min: "2s", max: "5m" })
      .default("10s")
      .doc(
        "How long after a process died, or lost the store, another one goes on with what it was doing. Shorter is sooner, and less patient with a store that is slow.",
      ),
    keepIntervalMs: env("DEPLOY_RECONCILE_INTERVAL")
      .duration({ bare: "s", min: "1s" })
      .default("60s")
      .doc("How often what clusters report is compared with what is wanted, besides on every change."),
  },
  package: {
    deleteCascade: env("PACKAGE_DELETE_CASCADE")
      .bool()
      .default(false)
      .doc("Deleting a package deletes its deployments first, without being asked."),
    autoDeploy: env("PACKAGE_AUTO_DEPLOY")
      .bool()
      .default(false)
      .doc("Registering a package schedules the deployments in it, without being asked."),
  },
  planner: {
    algorithm: env("PLANNER_ALGORITHM")
      .oneOf(["quorum", "independent"])
      .default("quorum")
      .doc("quorum: a majority of replicas must be up; independent: any one of them."),
    maxReplicas: env("PLANNER_MAX_REPLICAS")
      .int({ min: 1, max: 1000 })
      .default(50)
      .doc("The most replicas that a plan asks for."),
    hysteresis: env("PLANNER_HYSTERESIS")
      .float({ min: 0, max: 1 })
      .default(0.1)
      .doc("Share of downtime that a new plan must save before anything that runs is moved."),
    rpsPerReplica: env("PLANNER_RPS_PER_REPLICA")
      .float({ min: 0.001 })
      .default(1000)
      .doc("Requests per second that one replica is assumed to carry until it was measured."),
    environmentLabel: env("PLANNER_ENV_LABEL")
      .string()
      .default("env")
      .doc("Label of clusters that target_env is compared with."),
  },
  metrics: {
    enabled: env("METRICS_ENABLED").bool().default(true).doc("false serves no metrics: /metrics answers 404."),
    observability: env("OBSERVABILITY_ENABLED")
      .bool()
      .default(true)
      .doc("false serves no metrics, whatever METRICS_ENABLED is set to."),
    port: env("METRICS_PORT")
      .port()
      .optional()
      .doc("Serves /metrics here as well, to everybody who reaches it; on SERVER_PORT it asks for a viewer."),
  },
  log: loggingVariables(),
};

/** Everything that can be set about the package manager. */
export const pmConfig = defineConfig({
  title: "OaaS package manager",
  prefixes: ["OPRC_PM_", "PLANNER_", "DEPLOY_", "PACKAGE_", "AUTH_", "OIDC_", "STORAGE_", "ETCD_", "CRM_"],
  variables,
  notUsedYet: {
    "Static files are not served.": ["STATIC_DIR"],
    "/api/gateway answers 501.": ["GATEWAY_URL", "GATEWAY_TIMEOUT"],
    "/api/v1/scripts answers 501.": ["OPRC_COMPILER_URL", "OPRC_COMPILER_TIMEOUT", "OPRC_COMPILER_MAX_RETRIES"],
    "/api/v1/artifacts answers 501.": ["OPRC_ARTIFACT_DIR", "OPRC_ARTIFACT_BASE_URL"],
    "The manager does not emit traces.": TRACING_VARIABLES,
  },
  checks: [
    (config) => [...checkAccess(config), ...checkTls(config), ...checkStorage(config), ...checkClusters(config.crm)],
  ],
});

export type PmConfig = ConfigOf<typeof variables>;

/** Whether metrics are served at all. */
export function servesMetrics({ metrics }: PmConfig): boolean {
  return metrics.enabled && metrics.observability;
}

/** Whether somebody can prove who they are. */
function hasCredentials({ auth }: PmConfig): boolean {
  return auth.tokensFile !== undefined || auth.oidcIssuer !== undefined;
}

/** Whether everybody is let in. */
export function isOpen(config: PmConfig): boolean {
  return config.auth.mode === "off" || !hasCredentials(config);
}

/** The address to listen on. */
export function listenHost(config: PmConfig): string {
  return config.server.host ?? (hasCredentials(config) ? "0.0.0.0" : "127.0.0.1");
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

function checkAccess(config: PmConfig): Violation[] {
  const { auth, server } = config;
  const credentials = hasCredentials(config);
  const violations: Violation[] = [];
  if (auth.mode === "required" && !credentials)
    violations.push({
      path: "$.AUTH_MODE",
      message: "requires credentials, but none are configured",
      fix: "set AUTH_TOKENS_FILE or OIDC_ISSUER",
    });
  if (!credentials && auth.mode !== "off" && server.host !== undefined && !LOOPBACK.test(server.host))
    violations.push({
      path: "$.SERVER_HOST",
      message: `is ${server.host}, which others can reach, but no credentials are configured`,
      fix: "set AUTH_TOKENS_FILE or OIDC_ISSUER, listen on 127.0.0.1, or say AUTH_MODE=off to let everybody in",
    });
  if (auth.oidcIssuer !== undefined && auth.oidcAudience === undefined)
    violations.push({
      path: "$.OIDC_AUDIENCE",
      message: "is required with OIDC_ISSUER: otherwise a token for any other service would do",
      fix: "name the audience that tokens for this service have",
    });
  return violations;
}

function checkTls({ security: { certFile, keyFile, clientCaFile } }: PmConfig): Violation[] {
  const missing = (name: string, file: string | undefined): Violation[] => {
    const path = `$.OPRC_PM_SECURITY_TLS_${name}_FILE`;
    return file === undefined
      ? [{ path, message: "is required: TLS needs a certificate and its key", fix: "set both files, or neither" }]
      : [];
  };
  if (certFile === undefined && keyFile === undefined && clientCaFile === undefined) return [];
  return [...missing("CERT", certFile), ...missing("KEY", keyFile)];
}

function checkStorage({ storage, server }: PmConfig): Violation[] {
  const violations: Violation[] = [];
  if (server.workers > 1 && storage.type !== "etcd")
    violations.push({
      path: "$.SERVER_WORKERS",
      message: `is ${server.workers}, but a ${storage.type} store belongs to one process`,
      fix: "set STORAGE_TYPE=etcd, or SERVER_WORKERS=1",
    });
  if ((storage.etcdUsername === undefined) !== (storage.etcdPassword === undefined))
    violations.push({
      path: storage.etcdUsername === undefined ? "$.ETCD_USERNAME" : "$.ETCD_PASSWORD",
      message: "is missing: a user needs a password",
      fix: "set both, or neither",
    });
  if ((storage.etcdCertFile === undefined) !== (storage.etcdKeyFile === undefined))
    violations.push({
      path: storage.etcdCertFile === undefined ? "$.ETCD_CLIENT_CERT_PATH" : "$.ETCD_CLIENT_KEY_PATH",
      message: "is missing: a certificate needs its key",
      fix: "set both, or neither",
    });
  return violations;
}
