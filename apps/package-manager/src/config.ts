import {
  clientNamesKind,
  defineConfig,
  env,
  loggingVariables,
  reporterNamesKind,
  tracingVariables,
  type ConfigOf,
} from "@oaas/config";
import { isLoopbackHost, type CrossSiteRules, type Violation } from "@oaas/foundation";
import { DEFAULT_ROLE_MAPPING, roleMappingFromJson } from "./access/oidc.ts";
import { parseKeys } from "@oaas/storage/encryption";
import { DEFAULT_REVISIONS_KEPT } from "./history/retention.ts";
import { checkClusters } from "./clusters/configuration/configured-clusters.ts";
import { clusterVariables } from "./clusters/configuration/cluster-variables.ts";

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .optional()
      .doc(
        "Address to listen on. Default: all addresses with authentication, loopback without. Other addresses without authentication require AUTH_MODE=off.",
      )
      .example("0.0.0.0"),
    port: env("SERVER_PORT").port().default(8080).doc("Port of the REST listener; 0 selects a free port."),
    grpcPort: env("GRPC_PORT")
      .port()
      .optional()
      .doc(
        "Port of the gRPC listener with PackageService: packages, deployments and reports of class runtime managers. Off by default.",
      ),
    workers: env("SERVER_WORKERS")
      .int({ min: 1, max: 64 })
      .default(1)
      .doc("Processes that share the port. More than one requires STORAGE_TYPE=etcd."),
    maxBodyBytes: env("SERVER_MAX_BODY_BYTES")
      .int({ min: 1024, max: 268_435_456 })
      .alias("GATEWAY_MAX_PAYLOAD_BYTES")
      .default(8_388_608)
      .reloads()
      .doc("Maximum size of a request body."),
    maxBodiesBytes: env("SERVER_MAX_BODIES_BYTES")
      .int({ min: 2048 })
      .optional()
      .reloads()
      .doc(
        "Maximum size of all request bodies in memory; one caller may use half of it. Beyond it requests are answered 503, or 429 to that caller, with Retry-After. Default: 8 times SERVER_MAX_BODY_BYTES.",
      )
      .example("67108864"),
    maxConnections: env("SERVER_MAX_CONNECTIONS")
      .int({ min: 1, max: 1_000_000 })
      .default(4096)
      .reloads()
      .doc("Maximum number of connections to the REST listener; further ones are closed at once."),
    maxStreams: env("SERVER_MAX_STREAMS")
      .int({ min: 1 })
      .default(100)
      .reloads()
      .doc("Maximum number of concurrent event streams per caller; further ones are answered 429."),
    requestTimeoutMs: env("SERVER_REQUEST_TIMEOUT")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .doc("Time limit for a client to send a request."),
    shutdownDelayMs: env("SERVER_SHUTDOWN_DELAY")
      .duration({ bare: "s", max: "60s" })
      .default("0s")
      .fileKey("shutdownDelay")
      .doc(
        "Time for which requests are still served on shutdown, each with `connection: close`, while /readyz returns 503: load balancers choose another process meanwhile. The charts set 5s.",
      ),
    graceMs: env("SERVER_SHUTDOWN_GRACE")
      .duration({ bare: "s" })
      .default("10s")
      .fileKey("shutdownGrace")
      .doc(
        "Time for running requests and sagas to finish on shutdown. Unfinished sagas continue after the next start.",
      ),
    corsOrigins: env("SERVER_CORS_ORIGINS")
      .list()
      .default([])
      .doc(
        "Origins of web pages that may read responses (CORS), and send requests without authentication; * allows every origin, and requires authentication. None by default.",
      )
      .example("https://console.example"),
    allowedHosts: env("SERVER_ALLOWED_HOSTS")
      .list()
      .default([])
      .doc(
        "Host names that requests may be addressed to without authentication, besides loopback names, and IP addresses if it listens beyond loopback; * accepts every name. Other hosts are answered 421.",
      )
      .example("pm.internal"),
    callerRate: env("SERVER_RATE_LIMIT")
      .float({ min: 0.1 })
      .default(500)
      .fileKey("rateLimit")
      .reloads()
      .doc("Sustained requests per second and caller."),
    callerBurst: env("SERVER_RATE_BURST")
      .int({ min: 1 })
      .default(2000)
      .fileKey("rateBurst")
      .reloads()
      .doc("Requests in a burst per caller."),
  },
  console: {
    enabled: env("CONSOLE_ENABLED")
      .bool()
      .default(true)
      .doc("false: / redirects to /docs, also when a console is built."),
    dir: env("CONSOLE_DIR")
      .path()
      .optional()
      .doc(
        "Folder with the built console, which is served at /. Default: the console that comes with this program; without one / redirects to /docs.",
      )
      .example("/usr/share/oaas/console"),
  },
  auth: {
    mode: env("AUTH_MODE")
      .oneOf(["required", "off"])
      .optional()
      .doc(
        "off: every client is admin, even when credentials are configured. Listens on loopback unless SERVER_HOST is set. Default: required when credentials are configured.",
      ),
    tokensFile: env("AUTH_TOKENS_FILE")
      .path()
      .optional()
      .doc(
        "Token file, one line each: name:role:SHA-256 of the token in hex; roles viewer, deployer, admin, and reporter@<cluster> for the reports of a class runtime manager. Reloaded on change.",
      ),
    oidcIssuer: env("OIDC_ISSUER")
      .url("http", "https")
      .optional()
      .doc("Issuer whose JWTs are accepted as bearer tokens; its keys are discovered and refreshed."),
    oidcAudience: env("OIDC_AUDIENCE")
      .string()
      .optional()
      .doc("Audience that a JWT must contain. Required with OIDC_ISSUER."),
    oidcRoleClaim: env("OIDC_ROLE_CLAIM")
      .string()
      .default("oaas_role")
      .doc(
        "Claim with the role or group, or a list of them of which the highest counts; dots separate nested members. A caller without a mapped value is rejected with 403.",
      ),
    oidcRoleMapping: env("OIDC_ROLE_MAPPING")
      .json("roles by value of the claim", roleMappingFromJson)
      .default(DEFAULT_ROLE_MAPPING)
      .doc(
        "Role (viewer, deployer or admin) for each value of OIDC_ROLE_CLAIM. Replaces the default, in which the claim contains the names of the roles.",
      )
      .example('{"platform-admins":"admin","developers":"deployer"}'),
  },
  oidcLogin: {
    clientId: env("OIDC_CLIENT_ID")
      .string()
      .optional()
      .doc("Client id of the console at OIDC_ISSUER: lets people sign in there (authorization code with PKCE)."),
    clientSecret: env("OIDC_CLIENT_SECRET")
      .string()
      .optional()
      .secret()
      .doc("Secret of that client; without one it is a public client."),
    redirectUrl: env("OIDC_REDIRECT_URL")
      .url("http", "https")
      .optional()
      .doc(
        "Address that the issuer sends people back to, as registered there: that of this service as browsers see it, followed by /api/v1/session/oidc/callback. Required with OIDC_CLIENT_ID.",
      )
      .example("https://oaas.example/api/v1/session/oidc/callback"),
    scopes: env("OIDC_SCOPES")
      .list()
      .default(["openid", "profile", "email"])
      .doc("Scopes to request; the ID token must contain OIDC_ROLE_CLAIM."),
  },
  session: {
    maxAgeMs: env("SESSION_MAX_AGE")
      .duration({ bare: "s", min: "1m", max: "30d" })
      .default("8h")
      .doc("How long a browser stays signed in. The session of a JWT ends with the JWT."),
    cookieSecure: env("SESSION_COOKIE_SECURE")
      .bool()
      .optional()
      .doc(
        "Whether browsers send the session cookie over TLS only. Default: whether this service has a certificate; set it to true behind a proxy with TLS.",
      ),
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
      .doc(
        "Certificate authority of clients, PEM. When set, every client must present a certificate it issued, with a name in OPRC_PM_SECURITY_TLS_CLIENT_NAMES.",
      ),
    clientNames: env("OPRC_PM_SECURITY_TLS_CLIENT_NAMES")
      .as(clientNamesKind(["viewer", "deployer", "admin"]))
      .optional()
      .doc(
        "Client certificates that are accepted, by common name or subject alternative name, with their roles. *=role accepts every certificate of the authority. With AUTH_TOKENS_FILE or OIDC_ISSUER a token is required too, and the lower role applies.",
      )
      .example("CN:ci=deployer,URI:spiffe://oaas/dashboard=viewer"),
  },
  grpcSecurity: {
    certFile: env("OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE")
      .path()
      .optional()
      .doc(
        "Certificate chain of the gRPC listener, PEM, if it differs from that of the REST listener. Reloaded on change; until it is readable, clients are rejected.",
      ),
    keyFile: env("OPRC_PM_SECURITY_GRPC_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    clientCaFile: env("OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE")
      .path()
      .optional()
      .doc("Certificate authorities of clients of the gRPC listener, PEM. When set, every client must present one."),
    reporters: env("OPRC_PM_SECURITY_GRPC_TLS_REPORTERS")
      .as(reporterNamesKind)
      .optional()
      .doc(
        "Client certificates of class runtime managers, by common name or subject alternative name, with the cluster that each may report for without a token. They give no other right.",
      )
      .example("CN:oprc-crm=local"),
  },
  audit: {
    sink: env("AUDIT_SINK")
      .oneOf(["stdout", "file", "otlp", "none"])
      .default("stdout")
      .doc(
        "Where audit lines go, whatever LOG_LEVEL is: standard output, AUDIT_FILE, the collector AUDIT_OTLP_ENDPOINT, or none (only the store).",
      ),
    file: env("AUDIT_FILE")
      .path()
      .optional()
      .doc("File of AUDIT_SINK=file; mode 0600, opened again after it was renamed.")
      .example("/var/log/oaas/audit.jsonl"),
    fileMaxBytes: env("AUDIT_FILE_MAX_BYTES")
      .byteSize({ min: "64KiB" })
      .default("64MiB")
      .doc("A larger AUDIT_FILE is renamed with the time in milliseconds as its ending, and a new one is begun."),
    otlpEndpoint: env("AUDIT_OTLP_ENDPOINT")
      .url("http", "https")
      .optional()
      .doc("Base URL of the OTLP/HTTP collector of AUDIT_SINK=otlp; entries are sent as log records in JSON.")
      .example("http://collector:4318"),
    otlpHeaders: env("AUDIT_OTLP_HEADERS")
      .keyValues()
      .secret()
      .default({})
      .doc("Headers for that collector, such as authorization=Bearer …."),
    keep: env("AUDIT_KEEP")
      .int({ min: 100, max: 1_000_000 })
      .default(10_000)
      .doc("Audit entries that the store keeps for GET /api/v1/audit; older ones are deleted."),
  },
  storage: {
    type: env("STORAGE_TYPE")
      .oneOf(["memory", "sqlite", "etcd"], { embedded: "sqlite", file: "sqlite" })
      .default("memory")
      .doc("Store: memory (lost when the process ends), sqlite (one durable file) or etcd."),
    file: env("STORAGE_FILE").path().default("oaas-pm.db").doc("File of the sqlite store."),
    encryptionKey: env("STORAGE_ENCRYPTION_KEY")
      .string()
      .optional()
      .secret()
      .doc(
        "Keys that encrypt secrets in the store: 32 bytes each in base64 or hex, one per line. The first encrypts, all decrypt; secrets of other keys are encrypted again at start. Without a key, tokens of clusters can only be registered as files. Not needed with STORAGE_TYPE=memory.",
      ),
    etcdEndpoints: env("ETCD_ENDPOINTS").list().default(["localhost:2379"]).doc("Members of the etcd cluster."),
    etcdPrefix: env("ETCD_KEY_PREFIX").string().default("/oaas/pm").doc("Prefix of every key."),
    etcdUsername: env("ETCD_USERNAME").string().optional().doc("User of etcd."),
    etcdPassword: env("ETCD_PASSWORD").string().optional().secret().doc("Password of that user."),
    etcdTimeoutMs: env("ETCD_TIMEOUT")
      .duration({ bare: "s", min: "100ms" })
      .default("30s")
      .doc("Timeout of a call to etcd. Calls fail at once while etcd has not responded for 5 seconds."),
    etcdTls: env("ETCD_TLS_ENABLED").bool().default(false).doc("Uses TLS to etcd."),
    etcdCaFile: env("ETCD_CA_CERT_PATH").path().optional().doc("Certificate authority of etcd."),
    etcdCertFile: env("ETCD_CLIENT_CERT_PATH").path().optional().doc("Client certificate for etcd."),
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
      .fileKey("rollbackOnPartial")
      .doc("When some clusters reject a deployment, rolls back the others."),
    waitMs: env("DEPLOY_WAIT")
      .duration({ bare: "s" })
      .default("15s")
      .doc("Time a request waits for all clusters to accept before the response is 202."),
    gateTimeoutMs: env("DEPLOY_GATE_TIMEOUT")
      .duration({ bare: "s", min: "1s" })
      .default("5m")
      .doc("Time limit for a cluster to pass the gate of a rolling roll-out."),
    fanOut: env("DEPLOY_FAN_OUT")
      .int({ min: 1, max: 1000 })
      .default(128)
      .doc("Clusters that are changed concurrently, if the roll-out allows it."),
    leaseMs: env("DEPLOY_LEASE")
      .duration({ bare: "s", min: "2s", max: "5m" })
      .default("10s")
      .doc(
        "Lease of a process on its sagas. After it died or lost the store, another process takes over within this time. A short lease does not tolerate a slow store.",
      ),
    revisionsKept: env("DEPLOYMENT_REVISIONS_KEEP")
      .int({ min: 2, max: 10_000 })
      .default(DEFAULT_REVISIONS_KEPT)
      .doc(
        "Newest revisions to keep of each deployment. The revision in force and the one to restore when a roll-out fails are kept too.",
      ),
    keepIntervalMs: env("DEPLOY_RECONCILE_INTERVAL")
      .duration({ bare: "s", min: "1s" })
      .default("60s")
      .fileKey("reconcileInterval")
      .doc("Interval of comparing reported with desired state, in addition to every change."),
  },
  replan: {
    clusterLostMs: env("REPLAN_CLUSTER_LOST")
      .duration({ bare: "s", min: "1s", max: "7d" })
      .alias("REPLAN_CLUSTER_LOST_SECS")
      .default("5m")
      .doc(
        "How long a cluster must be lost (no answer, or unhealthy) before a new plan is made for its deployments; replan_cluster_lost_secs of a deployment overrides it.",
      ),
    intervalMs: env("REPLAN_INTERVAL")
      .duration({ bare: "s", min: "1s" })
      .default("60s")
      .doc("Interval of looking for better plans, in addition to every change of a cluster."),
    minIntervalMs: env("REPLAN_MIN_INTERVAL")
      .duration({ bare: "s", max: "1d" })
      .default("5m")
      .doc("Shortest time between two automatic changes of a deployment."),
    deploymentBudget: env("REPLAN_DEPLOYMENT_BUDGET")
      .int({ min: 0, max: 1000 })
      .default(4)
      .doc("Automatic changes of one deployment per hour; further plans wait, with the reason in the status."),
    platformBudget: env("REPLAN_BUDGET")
      .int({ min: 0, max: 10_000 })
      .default(300)
      .fileKey("budget")
      .doc("Automatic changes of all deployments per hour; 0 applies no plan by itself."),
  },
  package: {
    deleteCascade: env("PACKAGE_DELETE_CASCADE")
      .bool()
      .default(false)
      .doc("Deleting a package also deletes its deployments by default."),
    revisionsKept: env("PACKAGE_REVISIONS_KEEP")
      .int({ min: 2, max: 10_000 })
      .default(DEFAULT_REVISIONS_KEPT)
      .doc("Newest revisions to keep of each package. Revisions that a deployment runs are kept too."),
    autoDeploy: env("PACKAGE_AUTO_DEPLOY")
      .bool()
      .default(false)
      .doc("Registering a package also schedules the deployments in it by default."),
  },
  planner: {
    algorithm: env("PLANNER_ALGORITHM")
      .oneOf(["quorum", "independent", "domains"])
      .default("quorum")
      .doc(
        "quorum: a majority of replicas must be up; independent: any one of them; domains: as quorum for objects and any replica of a stateless class, when clusters, zones and nodes fail as a whole.",
      ),
    zoneAvailability: env("PLANNER_ZONE_AVAILABILITY")
      .float({ min: 0.5, max: 0.999999999 })
      .default(0.9999)
      .doc("Assumed availability of a zone. The labels zone and region of a cluster name its zone."),
    maxReplicas: env("PLANNER_MAX_REPLICAS")
      .int({ min: 1, max: 1000 })
      .default(50)
      .doc("Maximum number of replicas in a plan."),
    hysteresis: env("PLANNER_HYSTERESIS")
      .float({ min: 0, max: 1 })
      .default(0.1)
      .doc("Share of downtime that a new plan must save before running units are moved."),
    rpsPerReplica: env("PLANNER_RPS_PER_REPLICA")
      .float({ min: 0.001 })
      .default(1000)
      .doc("Assumed requests per second and replica until measured."),
    environmentLabel: env("PLANNER_ENV_LABEL").string().default("env").doc("Cluster label that target_env selects by."),
  },
  metrics: {
    enabled: env("METRICS_ENABLED").bool().default(true).doc("false disables metrics: /metrics returns 404."),
    observability: env("OBSERVABILITY_ENABLED")
      .bool()
      .default(true)
      .doc("false disables metrics, whatever METRICS_ENABLED is set to."),
    port: env("METRICS_PORT")
      .port()
      .optional()
      .doc(
        "Additional listener for /metrics, without authentication or TLS. On SERVER_PORT it requires the role viewer.",
      ),
    host: env("METRICS_HOST")
      .string()
      .default("127.0.0.1")
      .doc("Address of METRICS_PORT. Every client that reaches it can read the metrics.")
      .example("10.0.0.5"),
  },
  log: loggingVariables(),
  tracing: tracingVariables(),
};

/** The settings of the package manager. */
export const pmConfig = defineConfig({
  title: "OaaS package manager",
  prefixes: [
    "OPRC_PM_",
    "PLANNER_",
    "DEPLOY_",
    "REPLAN_",
    "PACKAGE_",
    "AUTH_",
    "OIDC_",
    "AUDIT_",
    "CONSOLE_",
    "SESSION_",
    "STORAGE_",
    "ETCD_",
    "CRM_",
  ],
  variables,
  configFile: "OPRC_PM_CONFIG_FILE",
  removedSettings: {
    "CONSOLE_DIR is the folder of the console.": ["STATIC_DIR"],
    "/api/gateway answers 501.": ["GATEWAY_URL", "GATEWAY_TIMEOUT"],
    "/api/v1/scripts answers 501.": ["OPRC_COMPILER_URL", "OPRC_COMPILER_TIMEOUT", "OPRC_COMPILER_MAX_RETRIES"],
    "/api/v1/artifacts answers 501.": ["OPRC_ARTIFACT_DIR", "OPRC_ARTIFACT_BASE_URL"],
    "Traces are sent when OTEL_EXPORTER_OTLP_ENDPOINT is set.": ["TRACING_ENABLED"],
  },
  checks: [
    (config) => [
      ...checkAccess(config),
      ...checkOidcLogin(config),
      ...checkTls(config),
      ...checkGrpcTls(config),
      ...checkLimits(config),
      ...checkStorage(config),
      ...checkAudit(config),
      ...checkClusters(config.crm),
    ],
  ],
});

export type PmConfig = ConfigOf<typeof variables>;

/** Whether metrics are served. */
export function servesMetrics({ metrics }: PmConfig): boolean {
  return metrics.enabled && metrics.observability;
}

/** Bytes of request bodies in memory. */
export function maxBodiesBytes({ server }: PmConfig): number {
  return server.maxBodiesBytes ?? 8 * server.maxBodyBytes;
}

/** Whether callers can authenticate. */
function hasCredentials(config: PmConfig): boolean {
  return acceptsTokens(config) || config.security.clientCaFile !== undefined;
}

/** Whether callers authenticate with bearer tokens. */
export function acceptsTokens({ auth }: PmConfig): boolean {
  return auth.tokensFile !== undefined || auth.oidcIssuer !== undefined;
}

/** Whether browsers send the session cookie over TLS only. */
export function isCookieSecure({ session, security }: PmConfig): boolean {
  return session.cookieSecure ?? security.certFile !== undefined;
}

/** Whether every client is accepted as admin. */
export function isAuthenticationOff(config: PmConfig): boolean {
  return config.auth.mode === "off" || !hasCredentials(config);
}

/** The address to listen on. */
export function listenHost(config: PmConfig): string {
  return config.server.host ?? (isAuthenticationOff(config) ? "127.0.0.1" : "0.0.0.0");
}

/** Without authentication, the exceptions from the rejection of requests of web pages. */
export function crossSiteRules(config: PmConfig): CrossSiteRules | undefined {
  if (!isAuthenticationOff(config)) return undefined;
  const { allowedHosts: hosts, corsOrigins: origins } = config.server;
  return { hosts, origins, acceptsAddresses: !isLoopbackHost(listenHost(config)) };
}

/** Whether bearer tokens cross the network in clear text. */
export function sendsTokensInClear(config: PmConfig): boolean {
  return !isAuthenticationOff(config) && config.security.certFile === undefined && !isLoopbackHost(listenHost(config));
}

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
  if (!credentials && auth.mode !== "off" && server.host !== undefined && !isLoopbackHost(server.host))
    violations.push({
      path: "$.SERVER_HOST",
      message: `is ${server.host}, which other hosts can reach, but no credentials are configured`,
      fix: "set AUTH_TOKENS_FILE or OIDC_ISSUER, listen on 127.0.0.1, or set AUTH_MODE=off to accept every client",
    });
  if (isAuthenticationOff(config) && server.corsOrigins.includes("*"))
    violations.push({
      path: "$.SERVER_CORS_ORIGINS",
      message: "is *, which makes every web page admin, because authentication is off",
      fix: "list the origins, or set AUTH_TOKENS_FILE or OIDC_ISSUER",
    });
  if (auth.oidcIssuer !== undefined && auth.oidcAudience === undefined)
    violations.push({
      path: "$.OIDC_AUDIENCE",
      message: "is required with OIDC_ISSUER: without it tokens for other services would be accepted",
      fix: "set the audience of tokens for this service",
    });
  return violations;
}

/** The path of the address that an OIDC issuer sends browsers to. */
const CALLBACK_PATH = "/api/v1/session/oidc/callback";

function checkOidcLogin({ auth, oidcLogin: { clientId, clientSecret, redirectUrl, scopes } }: PmConfig): Violation[] {
  const violations: Violation[] = [];
  if (clientId === undefined) {
    for (const [name, value] of Object.entries({ OIDC_CLIENT_SECRET: clientSecret, OIDC_REDIRECT_URL: redirectUrl }))
      if (value !== undefined)
        violations.push({
          path: `$.${name}`,
          message: "has no effect without OIDC_CLIENT_ID",
          fix: "set both, or neither",
        });
    return violations;
  }
  if (auth.oidcIssuer === undefined)
    violations.push({ path: "$.OIDC_CLIENT_ID", message: "requires OIDC_ISSUER", fix: "set the issuer of the client" });
  if (redirectUrl === undefined || new URL(redirectUrl).pathname !== CALLBACK_PATH)
    violations.push({
      path: "$.OIDC_REDIRECT_URL",
      message: redirectUrl === undefined ? "is required with OIDC_CLIENT_ID" : `does not end with ${CALLBACK_PATH}`,
      fix: `set for example https://oaas.example${CALLBACK_PATH}`,
    });
  if (!scopes.includes("openid"))
    violations.push({
      path: "$.OIDC_SCOPES",
      message: "does not contain openid, without which the issuer returns no ID token",
      fix: "add openid",
    });
  return violations;
}

function checkTls({ auth, security: { certFile, keyFile, clientCaFile, clientNames } }: PmConfig): Violation[] {
  const missing = (name: string, file: string | undefined): Violation[] => {
    const path = `$.OPRC_PM_SECURITY_TLS_${name}_FILE`;
    return file === undefined
      ? [{ path, message: "is required: TLS needs a certificate and its key", fix: "set both files, or neither" }]
      : [];
  };
  const path = "$.OPRC_PM_SECURITY_TLS_CLIENT_NAMES";
  const names: Violation[] = [];
  if (clientCaFile !== undefined && clientNames === undefined && auth.mode !== "off")
    names.push({
      path,
      message: "is required: it lists the client certificates that are accepted",
      fix: "set for example CN:ci=deployer; *=deployer accepts every certificate of the authority",
    });
  if (clientNames !== undefined && (clientCaFile === undefined || auth.mode === "off"))
    names.push({
      path,
      message: `has no effect ${auth.mode === "off" ? "while AUTH_MODE is off" : "without client certificates"}`,
      fix: auth.mode === "off" ? "unset it, or unset AUTH_MODE" : "set OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE",
    });
  if (certFile === undefined && keyFile === undefined && clientCaFile === undefined) return names;
  return [...missing("CERT", certFile), ...missing("KEY", keyFile), ...names];
}

function checkGrpcTls(config: PmConfig): Violation[] {
  const { certFile, keyFile, clientCaFile, reporters } = config.grpcSecurity;
  const all = { CERT_FILE: certFile, KEY_FILE: keyFile, CLIENT_CA_FILE: clientCaFile, REPORTERS: reporters };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  if (set.length === 0) return [];
  const path = (name: string): string => `$.OPRC_PM_SECURITY_GRPC_TLS_${name}`;
  if (config.server.grpcPort === undefined)
    return set.map(([name]) => ({
      path: path(name),
      message: "has no effect without the gRPC listener",
      fix: "set GRPC_PORT, or unset it",
    }));
  const missing = Object.entries({ CERT_FILE: certFile, KEY_FILE: keyFile })
    .filter(([, file]) => file === undefined)
    .map(([name]) => ({
      path: path(name),
      message: "is required: TLS needs a certificate and its key",
      fix: "set both files, or neither",
    }));
  if (reporters === undefined) return missing;
  const unused = (message: string, fix: string): Violation => ({ path: path("REPORTERS"), message, fix });
  return [
    ...missing,
    ...(clientCaFile === undefined
      ? [unused("has no effect without client certificates", "set OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE")]
      : []),
    ...(isAuthenticationOff(config)
      ? [unused("has no effect while authentication is off", "set AUTH_TOKENS_FILE or OIDC_ISSUER, or unset it")]
      : []),
  ];
}

function checkLimits(config: PmConfig): Violation[] {
  const { maxBodyBytes } = config.server;
  if (maxBodiesBytes(config) >= 2 * maxBodyBytes) return [];
  const message = `is less than twice SERVER_MAX_BODY_BYTES (${maxBodyBytes}), so that no body of that size is accepted`;
  return [{ path: "$.SERVER_MAX_BODIES_BYTES", message, fix: `set at least ${2 * maxBodyBytes}` }];
}

function checkAudit({ audit: { sink, file, otlpEndpoint } }: PmConfig): Violation[] {
  const missing = (name: string): Violation => ({
    path: `$.${name}`,
    message: `is required with AUDIT_SINK=${sink}`,
    fix: "set it, or choose another AUDIT_SINK",
  });
  if (sink === "file" && file === undefined) return [missing("AUDIT_FILE")];
  return sink === "otlp" && otlpEndpoint === undefined ? [missing("AUDIT_OTLP_ENDPOINT")] : [];
}

function checkStorage({ storage, server }: PmConfig): Violation[] {
  const violations: Violation[] = [];
  if (server.workers > 1 && storage.type !== "etcd")
    violations.push({
      path: "$.SERVER_WORKERS",
      message: `is ${server.workers}, but a ${storage.type} store supports one process only`,
      fix: "set STORAGE_TYPE=etcd, or SERVER_WORKERS=1",
    });
  const keys = storage.encryptionKey === undefined ? undefined : parseKeys(storage.encryptionKey);
  if (keys?.ok === false)
    violations.push({
      path: "$.STORAGE_ENCRYPTION_KEY",
      message: keys.problem,
      fix: "create a key with: openssl rand -base64 32",
    });
  if ((storage.etcdUsername === undefined) !== (storage.etcdPassword === undefined))
    violations.push({
      path: storage.etcdUsername === undefined ? "$.ETCD_USERNAME" : "$.ETCD_PASSWORD",
      message: "is missing: a user requires a password",
      fix: "set both, or neither",
    });
  if ((storage.etcdCertFile === undefined) !== (storage.etcdKeyFile === undefined))
    violations.push({
      path: storage.etcdCertFile === undefined ? "$.ETCD_CLIENT_CERT_PATH" : "$.ETCD_CLIENT_KEY_PATH",
      message: "is missing: a certificate requires its key",
      fix: "set both, or neither",
    });
  return violations;
}
