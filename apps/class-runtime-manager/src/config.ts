import { clientNamesKind, defineConfig, env, loggingVariables, tracingVariables, type ConfigOf } from "@oaas/config";
import { isLoopbackHost, type CrossSiteRules, type Violation } from "@oaas/foundation";
import { isValidName } from "@oaas/kube-core";
import { parseImageReference } from "@oaas/models";
import { findBaseUrlProblem } from "@oaas/prometheus-client";
import { bearerTokens, dnsName, namespaceScope, objectName, queryOverridesFromJson, ROLES } from "./setting-kinds.ts";

const logging = loggingVariables("OPRC_CRM_LOG", "SERVICE_LOG");

/** An image with `sh` and `nc` that every cluster can pull or mirror. */
const DEFAULT_WAIT_IMAGE = "busybox:1.37";

const variables = {
  profile: env("OPRC_CRM_PROFILE")
    .oneOf(["dev", "edge", "full"], { prod: "full", production: "full" })
    .default("dev")
    .doc("Preset of defaults. Any other variable overrides it."),
  clusterName: env("OPRC_CRM_CLUSTER_NAME")
    .string()
    .optional()
    .doc("Name of this cluster in health responses and reports. Default: the default namespace."),
  server: {
    host: env("OPRC_CRM_HTTP_HOST")
      .string()
      .optional()
      .doc(
        "Address to listen on. Default: all addresses with a token or mutual TLS, loopback without. Other addresses without credentials require OPRC_CRM_SECURITY_AUTH_MODE=off.",
      )
      .example("0.0.0.0"),
    httpPort: env("HTTP_PORT").port().default(8088).doc("Port of gRPC and HTTP/1.1; 0 selects a free port."),
    grpcPort: env("GRPC_PORT").port().optional().doc("Additional port for gRPC. Earlier releases used 7088."),
    shutdownDelayMs: env("OPRC_CRM_SHUTDOWN_DELAY")
      .duration({ bare: "s", max: "60s" })
      .default("0s")
      .fileKey("shutdownDelay")
      .doc(
        "Time for which calls are still served when the process stops, while /readyz returns 503: callers connect to another replica meanwhile. The charts set 5s.",
      ),
    graceMs: env("OPRC_CRM_SHUTDOWN_GRACE_SECS")
      .duration({ bare: "s" })
      .default("10s")
      .fileKey("shutdownGrace")
      .doc("Grace period of running calls and reconciles when the process stops."),
  },
  metrics: {
    port: env("OPRC_CRM_METRICS_PORT")
      .port()
      .optional()
      .doc(
        "Additional port for /metrics, without authentication or TLS, also where the main port requires a client certificate. On HTTP_PORT metrics require the role viewer.",
      ),
    host: env("OPRC_CRM_METRICS_HOST")
      .string()
      .default("127.0.0.1")
      .doc("Address of OPRC_CRM_METRICS_PORT. Every client that reaches it can read the metrics.")
      .example("0.0.0.0"),
  },
  k8s: {
    namespaces: env("OPRC_CRM_K8S_NAMESPACE")
      .as(namespaceScope)
      .optional()
      .doc(
        "Served namespaces: a list, or * for all except system namespaces (kube-* and the namespace of the manager's pod), which must be listed: *,kube-system. The first in the list that is not a system namespace is the default of requests without a namespace; with * or without a list, else the namespace of the kubeconfig context, else default. A list of system namespaces only has no default: every request must name its namespace. Default: the namespace of the kubeconfig context, else default.",
      )
      .example("oaas,oaas-edge"),
    kubeconfig: env("OPRC_CRM_KUBECONFIG")
      .path()
      .optional()
      .doc("Kubeconfig file. Default: KUBECONFIG, else the service account of the pod, else ~/.kube/config."),
    context: env("OPRC_CRM_KUBE_CONTEXT")
      .string()
      .optional()
      .doc("Context of the kubeconfig. Default: the current context."),
    routerNamespace: env("OPRC_CRM_ROUTER_NAMESPACE")
      .string()
      .optional()
      .doc(
        "Namespace whose routers (Services with the labels app=router and platform=oaas) all classes use, besides those in their own namespace. The manager must be able to list and watch Services there.",
      )
      .example("oaas-system"),
    clusterDomain: env("OPRC_CRM_CLUSTER_DOMAIN").string().default("cluster.local").doc("DNS domain of the cluster."),
  },
  features: {
    hpa: env("OPRC_CRM_FEATURES_HPA")
      .bool()
      .default(false)
      .defaultIn({ edge: true, full: true })
      .doc("Creates HorizontalPodAutoscalers."),
    knative: env("OPRC_CRM_FEATURES_KNATIVE")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc("Enables the knative template where Knative is installed."),
    prometheus: env("OPRC_CRM_FEATURES_PROMETHEUS")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc(
        "Creates ServiceMonitors or PodMonitors where the Prometheus operator is installed, else annotates Services for scraping.",
      ),
    nfrEnforcement: env("OPRC_CRM_FEATURES_NFR_ENFORCEMENT")
      .bool()
      .default(false)
      .defaultIn({ edge: true, full: true })
      .doc(
        "Applies recommendations to classes in mode enforce. If disabled, these classes are observed and have the values of their spec.",
      ),
    leaderElection: env("OPRC_CRM_FEATURES_LEADER_ELECTION")
      .bool()
      .default(true)
      .doc("Elects one of several replicas as leader. Disable it only if a single process runs."),
    invoke: env("OPRC_CRM_FEATURES_INVOKE")
      .bool()
      .default(false)
      .doc(
        "Lets callers with the role deployer send requests to functions through the API server's service proxy, to try them out. Needs the permissions of deploy/class-runtime-manager/invoke.",
      ),
    createNamespaces: env("OPRC_CRM_FEATURES_CREATE_NAMESPACES")
      .bool()
      .default(false)
      .doc(
        "Creates served namespaces that do not exist when a class is deployed to them, with the pod security standard restricted, and with the quotas and network policy of the EnvironmentConfig. A namespace without EnvironmentConfigs then uses those of the default namespace. Needs the permissions of deploy/class-runtime-manager/create-namespaces.",
      ),
    odgm: env("OPRC_CRM_FEATURES_ODGM")
      .bool()
      .default(true)
      .doc("Enables the object data grid. If disabled, classes with state are rejected."),
  },
  enforcement: {
    level: env("OPRC_CRM_ENFORCEMENT_MODE")
      .oneOf(["off", "basic", "full"])
      .default("off")
      .defaultIn({ edge: "basic", full: "full" })
      .fileKey("mode")
      .doc("What enforcement may change. off: nothing. basic: replicas. full: also CPU and memory requests."),
    stabilityMs: env("OPRC_CRM_ENFORCEMENT_STABILITY_SECS")
      .duration({ bare: "s" })
      .default("180s")
      .reloads()
      .doc(
        "How long recommendations must point in one direction before they are applied; at least 5 minutes to decrease.",
      ),
    cooldownMs: env("OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS")
      .duration({ bare: "s", min: "30s" })
      .default("120s")
      .reloads()
      .doc("Minimum time between two changes of one value. An emergency needs 30 seconds only."),
    maxDeltaPercent: env("OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA")
      .int({ min: 1, max: 100 })
      .default(30)
      .reloads()
      .doc(
        "Largest change at once, in percent of the current value; at least one replica. An emergency may double it.",
      ),
    frozen: env("OPRC_CRM_ENFORCEMENT_FREEZE")
      .bool()
      .default(false)
      .fileKey("freeze")
      .reloads()
      .doc("Keeps all enforced values as they are: nothing is changed in this cluster."),
    actionsPerMinute: env("OPRC_CRM_ENFORCEMENT_ACTIONS_PER_MINUTE")
      .int({ min: 1 })
      .default(30)
      .reloads()
      .doc("Maximum of changes in this cluster within a minute; further ones wait."),
  },
  limits: {
    maxReplicas: env("OPRC_CRM_LIMITS_MAX_REPLICAS")
      .int({ min: 1 })
      .default(20)
      .defaultIn({ full: 50 })
      .doc("Maximum of replicas that the manager chooses. Values of the user are not limited."),
    concurrency: env("OPRC_CRM_LIMITS_CONCURRENCY")
      .int({ min: 1, max: 256 })
      .default(16)
      .defaultIn({ edge: 4 })
      .doc("Class runtimes reconciled in parallel."),
    watchers: env("OPRC_CRM_LIMITS_WATCHERS")
      .int({ min: 1 })
      .default(256)
      .reloads()
      .doc(
        "Maximum of concurrent watch calls; further calls are rejected. One caller holds at most a quarter of them.",
      ),
    connections: env("OPRC_CRM_LIMITS_CONNECTIONS")
      .int({ min: 1 })
      .default(1024)
      .doc("Maximum of connections to a port; further ones are closed at once."),
    connectionsPerAddress: env("OPRC_CRM_LIMITS_CONNECTIONS_PER_ADDRESS")
      .int({ min: 1 })
      .default(256)
      .doc("Maximum of connections from one address; further ones are closed at once."),
    callsPerCaller: env("OPRC_CRM_LIMITS_CALLS_PER_CALLER")
      .int({ min: 1 })
      .default(1000)
      .reloads()
      .doc("Maximum of running calls of one caller, watch calls included; further calls are rejected."),
    requestBytes: env("OPRC_CRM_LIMITS_REQUEST_BYTES")
      .byteSize({ min: "8MiB" })
      .default("64MiB")
      .defaultIn({ edge: "32MiB" })
      .reloads()
      .doc("Maximum of request bytes in memory, over all calls; further calls are rejected."),
  },
  prometheus: {
    matchLabels: env("OPRC_CRM_PROM_MATCH_LABELS")
      .keyValues()
      .default({})
      .doc("Labels of the monitors, for the selector of the Prometheus operator.")
      .example("release=prometheus"),
    scrapeKind: env("OPRC_CRM_PROM_SCRAPE_KIND")
      .oneOf(["auto", "service", "pod"])
      .default("auto")
      .doc(
        "Kind of the monitors. auto: ServiceMonitors where they are served, else PodMonitors, and none for Knative workloads, which Knative monitors itself.",
      ),
    url: env("OPRC_CRM_PROM_URL")
      .url()
      .optional()
      .doc(
        "Base URL of a Prometheus API (Prometheus, Thanos, Mimir, VictoriaMetrics), with its path prefix. Requirements are measured there. Default: nothing is measured.",
      )
      .example("http://prometheus.monitoring:9090"),
    provider: env("OPRC_CRM_PROM_PROVIDER")
      .oneOf(["prometheus-operator", "prometheus", "otel"])
      .default("prometheus-operator")
      .doc(
        "Names of metrics and labels: those of Prometheus, cAdvisor and kube-state-metrics (prometheus-operator, prometheus), or of the OpenTelemetry conventions (otel).",
      ),
    queryTimeoutMs: env("OPRC_CRM_PROM_QUERY_TIMEOUT_SECS")
      .duration({ bare: "s", min: "100ms" })
      .default("5s")
      .doc("Timeout of one query, with its retry."),
    rangeMs: env("OPRC_CRM_PROM_RANGE")
      .duration({ bare: "s", min: "10s" })
      .default("10m")
      .doc("Range of the samples that requirements and recommendations are computed from."),
    stepMs: env("OPRC_CRM_PROM_STEP")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .doc("Step of the samples; at least three steps fit into the range."),
    rateWindowMs: env("OPRC_CRM_PROM_RATE_WINDOW")
      .duration({ bare: "s", min: "1s" })
      .default("2m")
      .doc("Window of rates in the queries: at least twice, better four times the scrape interval."),
    queries: env("OPRC_CRM_PROM_QUERIES")
      .json("queries by signal", queryOverridesFromJson)
      .default({})
      .doc(
        "Queries that replace the built-in ones, by signal, with the placeholders $namespaces and $window. Each series names its component by namespace with oaas_owner and function, deployment_id, deployment, statefulset or pod.",
      )
      .example('{"queue_length":"sum by (namespace, oaas_owner) (jobs{namespace=~$namespaces})"}'),
    token: env("OPRC_CRM_PROM_TOKEN")
      .string()
      .secret()
      .optional()
      .reloads()
      .doc("Bearer token for the Prometheus API. A token file is reloaded when it changes."),
    username: env("OPRC_CRM_PROM_USERNAME").string().optional().doc("User of basic authentication."),
    password: env("OPRC_CRM_PROM_PASSWORD")
      .string()
      .secret()
      .optional()
      .reloads()
      .doc("Password of that user. A password file is reloaded when it changes."),
    tenant: env("OPRC_CRM_PROM_TENANT")
      .string()
      .optional()
      .doc("Tenant, sent as X-Scope-OrgID, as Mimir and Cortex expect."),
    caFile: env("OPRC_CRM_PROM_TLS_CA_FILE")
      .path()
      .optional()
      .doc("Certificate authorities of the Prometheus API, PEM. Default: the public ones."),
    certFile: env("OPRC_CRM_PROM_TLS_CERT_FILE")
      .path()
      .optional()
      .doc("Client certificate for the Prometheus API, PEM. The files are reloaded when they change."),
    keyFile: env("OPRC_CRM_PROM_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
  },
  analyzer: {
    everyMs: env("OPRC_CRM_ANALYZER_INTERVAL_SECS")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .fileKey("interval")
      .doc("Interval of the measurements. Each asks one query per signal, regardless of the number of classes."),
    assumedCpuMillicores: env("OPRC_CRM_REQ_CPU_PER_POD_M")
      .int({ min: 1 })
      .default(500)
      .doc("CPU of one replica in millicores, for recommendations while its container states no request."),
    minMemoryMib: env("OPRC_CRM_ANALYZER_MIN_MEMORY_MIB")
      .int({ min: 1 })
      .default(250)
      .doc(
        "Least memory in MiB that is recommended for a container. The default is that of the Vertical Pod Autoscaler; lower it where functions are small.",
      ),
  },
  otel: {
    enabled: env("OPRC_CRM_OTEL_ENABLED")
      .bool()
      .default(false)
      .doc("Sets OTEL_* variables in workloads whose class has no telemetry settings."),
    endpoint: env("OPRC_CRM_OTEL_ENDPOINT")
      .url()
      .default("http://otel-collector:4317")
      .doc("OpenTelemetry collector of the workloads."),
  },
  templates: {
    odgmImage: env("OPRC_CRM_TEMPLATES_ODGM_IMAGE")
      .string()
      .optional()
      .doc(
        "Image of the data grid, with its digest. Without it, classes with state are rejected unless their EnvironmentConfig names an image (images.odgm).",
      )
      .example("registry.example/odgm@sha256:…"),
    odgmPullPolicy: env("OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY")
      .oneOf(["Always", "IfNotPresent", "Never"])
      .optional()
      .doc("Pull policy of the data grid image."),
    odgmExtraEnv: env("OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV")
      .keyValues()
      .default({})
      .doc("Environment variables of every data grid container."),
    waitImage: env("OPRC_CRM_TEMPLATES_WAIT_IMAGE")
      .string()
      .default(DEFAULT_WAIT_IMAGE)
      .doc(
        "Image with sh and nc for the init container in which functions wait for the data grid; none: functions do not wait. Registry mirrors of an EnvironmentConfig apply.",
      ),
  },
  dataPlaneNetwork: env("OPRC_CRM_DATA_PLANE_NETWORK")
    .as(objectName)
    .optional()
    .doc(
      "Name of the data plane network of this cluster. State stores of clusters with the same name reach each other through their routers, so that copies of one object can be placed in several of them. Default: a network of its own.",
    )
    .example("backbone"),
  odgmPersistence: env("OPRC_CRM_ODGM_PERSISTENCE")
    .bool()
    .default(false)
    .doc(
      "Declares that the data grid image of this cluster keeps objects on its volume. If false, classes with persistent state are rejected: the data grid keeps objects in memory.",
    ),
  odgmHealth: {
    enabled: env("OPRC_CRM_ODGM_HEALTH")
      .bool()
      .default(true)
      .doc(
        "Checks state stores over their gRPC API: each node for its shards, and each partition with one write to a reserved object. A class with state is Running only after such a write was acknowledged. The manager must reach port 8080 of the pods. Without checks only the readiness of pods counts.",
      ),
    everyMs: env("OPRC_CRM_ODGM_HEALTH_INTERVAL_SECS")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .fileKey("interval")
      .doc("Interval between two checks of a healthy state store."),
    timeoutMs: env("OPRC_CRM_ODGM_HEALTH_TIMEOUT_SECS")
      .duration({ bare: "s", min: "100ms" })
      .default("2s")
      .doc("Timeout of one request to a node of a state store."),
  },
  place: {
    region: env("OPRC_ENV_REGION").string().optional().doc("Region of this cluster."),
    zone: env("OPRC_ENV_ZONE").string().optional().doc("Zone of this cluster."),
    hwClass: env("OPRC_ENV_HW_CLASS").string().optional().doc("Hardware class of this cluster."),
    isEdge: env("OPRC_ENV_IS_EDGE").bool().default(false).fileKey("edge").doc("Whether this cluster is at the edge."),
    isDatacenter: env("OPRC_ENV_IS_DATACENTER")
      .bool()
      .default(false)
      .fileKey("datacenter")
      .doc("Whether this cluster is in a data centre."),
  },
  mockAvailability: env("OPRC_MOCK_CLUSTER_AVAILABILITY")
    .float({ min: 0, max: 1 })
    .optional()
    .doc("Reported availability instead of the measured one. For tests and simulated clusters."),
  security: {
    authMode: env("OPRC_CRM_SECURITY_AUTH_MODE")
      .oneOf(["required", "off"])
      .optional()
      .doc(
        "off: accepts every client, on any address of OPRC_CRM_HTTP_HOST. Default: required when a token or mutual TLS is configured.",
      ),
    mtls: env("OPRC_CRM_SECURITY_MTLS")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc(
        "Requires a client certificate for everything but health. Requires the three files and OPRC_CRM_SECURITY_TLS_CLIENT_NAMES.",
      ),
    tlsSource: env("OPRC_CRM_SECURITY_TLS_SOURCE")
      .oneOf(["files", "self-signed"])
      .default("files")
      .doc(
        "Where the certificate of the server comes from. files: the files below, if set. self-signed: this manager creates an authority and the certificates of both managers, renews them, and stores them in three Secrets of its namespace. Needs the permissions of deploy/class-runtime-manager/self-signed-certificates.",
      ),
    certFile: env("OPRC_CRM_SECURITY_TLS_CERT_FILE")
      .path()
      .optional()
      .doc("Certificate chain of the server, PEM. Enables TLS together with the key. Reloaded when it changes."),
    keyFile: env("OPRC_CRM_SECURITY_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    clientCaFile: env("OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE")
      .path()
      .optional()
      .doc("Certificate authorities of client certificates, PEM."),
    clientNames: env("OPRC_CRM_SECURITY_TLS_CLIENT_NAMES")
      .as(clientNamesKind(ROLES))
      .optional()
      .doc(
        "Client certificates that are accepted, by common name or subject alternative name, with their roles: viewer reads, deployer also deploys and deletes. *=role accepts every certificate of the authorities.",
      )
      .example("CN:oprc-pm=deployer,URI:spiffe://oaas/dashboard=viewer"),
    tokens: env("OPRC_CRM_SECURITY_TOKEN")
      .as(bearerTokens)
      .secret()
      .optional()
      .alias("OPRC_CRM_TOKEN")
      .reloads()
      .doc(
        "Bearer token that callers must send, or several valid tokens, so that one can be replaced without a gap. name:role:token names the caller in the log and sets its role (viewer, deployer); a token alone is a deployer. Health and reflection need no token. A token file, with one token per line, is reloaded when it changes.",
      ),
  },
  selfSigned: {
    authoritySecret: env("OPRC_CRM_SELF_SIGNED_AUTHORITY_SECRET")
      .as(objectName)
      .default("oaas-authority")
      .doc("Secret of the authority, which only this manager reads."),
    serverSecret: env("OPRC_CRM_SELF_SIGNED_SERVER_SECRET")
      .as(objectName)
      .default("oprc-crm-tls")
      .doc("Secret of the certificate of this manager."),
    clientSecret: env("OPRC_CRM_SELF_SIGNED_CLIENT_SECRET")
      .as(objectName)
      .default("oprc-pm-tls")
      .doc("Secret of the client certificate of the package manager: tls.crt, tls.key and ca.crt."),
    serverNames: env("OPRC_CRM_SELF_SIGNED_SERVER_NAMES")
      .list(dnsName)
      .default([])
      .doc(
        "DNS names in the certificate of this manager. Default: localhost and the names of the Service oprc-crm in the namespace of the manager.",
      )
      .example("oprc-crm.oaas-system,crm.example"),
    clientName: env("OPRC_CRM_SELF_SIGNED_CLIENT_NAME")
      .as(dnsName)
      .default("oprc-pm")
      .doc("Common name of the client certificate, for OPRC_CRM_SECURITY_TLS_CLIENT_NAMES."),
    validMs: env("OPRC_CRM_SELF_SIGNED_VALID")
      .duration({ bare: "s", min: "10m", max: "365d" })
      .default("90d")
      .doc("Lifetime of the certificates; they are renewed after two thirds of it. The authority lives for 10 years."),
  },
  leaderElection: {
    lease: env("OPRC_CRM_LEADER_ELECTION_LEASE")
      .string()
      .default("oprc-crm")
      .fileKey("leaseName")
      .doc("Name of the Lease of the leader election."),
    namespace: env("OPRC_CRM_LEADER_ELECTION_NAMESPACE")
      .string()
      .optional()
      .doc("Namespace of the Lease. Default: the first of OPRC_CRM_K8S_NAMESPACE, else the namespace of the pod."),
    identity: env("OPRC_CRM_LEADER_ELECTION_IDENTITY")
      .string()
      .optional()
      .doc("Identity of this process, unique among the replicas. Default: POD_NAME, else host and process id."),
    podName: env("POD_NAME").string().optional().fileKey(false).doc("Name of the pod, set by the deployment manifest."),
    leaseMs: env("OPRC_CRM_LEADER_ELECTION_LEASE_SECS")
      .duration({ bare: "s", min: "3s" })
      .default("15s")
      .fileKey("leaseDuration")
      .doc("Another replica takes over after this time without a renewal. Whole seconds."),
  },
  pm: {
    url: env("OPRC_CRM_PM_URL")
      .url()
      .optional()
      .doc(
        "URL of the package manager that receives status and metrics reports over gRPC: http without TLS, https with TLS. Default: no reports.",
      )
      .example("http://oprc-pm.oaas:8080"),
    token: env("OPRC_CRM_PM_TOKEN")
      .string()
      .secret()
      .optional()
      .reloads()
      .doc(
        "Bearer token for the package manager, of the role reporter@<cluster> for OPRC_CRM_CLUSTER_NAME. A token file is reloaded when it changes.",
      ),
    tlsSource: env("OPRC_CRM_PM_TLS_SOURCE")
      .oneOf(["files", "self-signed"])
      .default("files")
      .doc(
        "Certificates for the package manager. files: the files below, if set. self-signed: the certificate of this manager and its authority, with OPRC_CRM_SECURITY_TLS_SOURCE=self-signed.",
      ),
    caFile: env("OPRC_CRM_PM_TLS_CA_FILE")
      .path()
      .optional()
      .doc("Certificate authorities of the package manager, PEM. Default: the public ones."),
    certFile: env("OPRC_CRM_PM_TLS_CERT_FILE")
      .path()
      .optional()
      .doc("Client certificate for the package manager, PEM. The files are reloaded on reconnect."),
    keyFile: env("OPRC_CRM_PM_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    timeoutMs: env("OPRC_CRM_PM_TIMEOUT_SECS")
      .duration({ bare: "s", min: "100ms" })
      .default("5s")
      .doc("Timeout of one report; failed reports are retried."),
    metricsEveryMs: env("OPRC_CRM_PM_METRICS_INTERVAL_SECS")
      .duration({ bare: "s", min: "1s" })
      .default("60s")
      .fileKey("metricsInterval")
      .doc("Interval of metrics reports (replicas of each class)."),
    drainMs: env("OPRC_CRM_PM_DRAIN_SECS")
      .duration({ bare: "s" })
      .default("3s")
      .doc("How long pending reports may take when the process stops. The next leader reports every class again."),
  },
  log: { ...logging, level: logging.level.defaultIn({ dev: "debug" }) },
  tracing: tracingVariables(),
};

/** The configuration of a class runtime manager. */
export type CrmConfig = ConfigOf<typeof variables>;

/** The configuration schema, with the defaults of each profile. */
export const crmConfig = defineConfig({
  title: "Class Runtime Manager",
  prefixes: ["OPRC_CRM_"],
  profile: "profile",
  variables,
  configFile: "OPRC_CRM_CONFIG_FILE",
  removedSettings: {
    "Recommended memory has the margins of the recommender.": [
      "OPRC_CRM_MEMORY_HEADROOM",
      "OPRC_CRM_MEMORY_LIMIT_FACTOR",
    ],
    "The lifecycle controller is always on.": ["OPRC_CRM_FEATURES_FSM"],
    "Topology comes from Kubernetes; no Zenoh session is opened.": [
      "OPRC_ZENOH_MODE",
      "OPRC_ZENOH_PORT",
      "OPRC_ZENOH_PEERS",
    ],
    "Traces are sent when OTEL_EXPORTER_OTLP_ENDPOINT is set.": ["TRACING_ENABLED"],
  },
  checks: [checkAccess, checkTls, checkLease, checkPm, checkPrometheus],
});

/** Whether callers must authenticate. */
function hasCredentials({ security }: CrmConfig): boolean {
  return security.tokens !== undefined || security.mtls;
}

/** Whether the ports are encrypted. */
function usesTls({ security: { tlsSource, certFile } }: CrmConfig): boolean {
  return tlsSource === "self-signed" || certFile !== undefined;
}

/** The address to listen on. */
export function listenHost(config: CrmConfig): string {
  return config.server.host ?? (hasCredentials(config) ? "0.0.0.0" : "127.0.0.1");
}

/** Exceptions from the rejection of web pages and foreign hosts; undefined with authentication. */
export function crossSiteRules(config: CrmConfig): CrossSiteRules | undefined {
  return hasCredentials(config) ? undefined : { acceptsAddresses: !isLoopbackHost(listenHost(config)) };
}

/** Rejects an address that other hosts can reach without credentials, unless authentication is off explicitly. */
function checkAccess(config: CrmConfig): Violation[] {
  const { server, security } = config;
  const path = "$.OPRC_CRM_SECURITY_AUTH_MODE";
  if (hasCredentials(config)) {
    if (security.authMode !== "off") return [];
    const fix = "unset it, or unset OPRC_CRM_SECURITY_TOKEN and set OPRC_CRM_SECURITY_MTLS=false";
    return [{ path, message: "is off, but a token or mutual TLS is configured", fix }];
  }
  if (security.authMode === "required") {
    const fix = "set OPRC_CRM_SECURITY_TOKEN_FILE, or OPRC_CRM_SECURITY_MTLS=true";
    return [{ path, message: "requires credentials, but none are configured", fix }];
  }
  if (security.authMode === "off" || server.host === undefined || isLoopbackHost(server.host)) return [];
  return [
    {
      path: "$.OPRC_CRM_HTTP_HOST",
      message: `is ${server.host}, which other hosts can reach, but no credentials are configured`,
      fix: "set OPRC_CRM_SECURITY_TOKEN_FILE or OPRC_CRM_SECURITY_MTLS=true, listen on 127.0.0.1, or set OPRC_CRM_SECURITY_AUTH_MODE=off to accept every client",
    },
  ];
}

/** Reasons why the configuration is not fit for production. */
export function configWarnings(config: CrmConfig): readonly string[] {
  return [
    ...accessWarnings(config),
    ...metricsWarnings(config),
    ...imageWarnings(config),
    ...prometheusWarnings(config),
  ];
}

function metricsWarnings({ metrics: { port, host } }: CrmConfig): readonly string[] {
  if (port === undefined || isLoopbackHost(host)) return [];
  const fix = "restrict it with a NetworkPolicy, unset OPRC_CRM_METRICS_HOST, or scrape HTTP_PORT as a viewer";
  return [`every client that reaches ${host} can read the metrics; ${fix}`];
}

function prometheusWarnings({ prometheus: { url, token, password } }: CrmConfig): readonly string[] {
  if (url === undefined || (token ?? password) === undefined || url.startsWith("https:")) return [];
  if (isLoopbackHost(new URL(url).hostname)) return [];
  return ["credentials are sent to Prometheus without encryption; set OPRC_CRM_PROM_URL to an https:// URL"];
}

/** The image in which functions wait for the state store; undefined when they do not wait. */
export function waitImageOf({ waitImage }: Pick<CrmConfig["templates"], "waitImage">): string | undefined {
  return waitImage === "none" ? undefined : waitImage;
}

function imageWarnings({ features, templates }: CrmConfig): readonly string[] {
  const images = [
    ["OPRC_CRM_TEMPLATES_ODGM_IMAGE", templates.odgmImage],
    ["OPRC_CRM_TEMPLATES_WAIT_IMAGE", templates.waitImage === DEFAULT_WAIT_IMAGE ? undefined : waitImageOf(templates)],
  ] as const;
  const isMissing = features.odgm && templates.odgmImage === undefined;
  return [
    ...(isMissing
      ? [
          "OPRC_CRM_TEMPLATES_ODGM_IMAGE is not set: classes with state are rejected unless their EnvironmentConfig names an image; set an image with a digest",
        ]
      : []),
    ...images
      .filter(([, image]) => image !== undefined && parseImageReference(image)?.digest === undefined)
      .map(([name, image]) => `${name} is ${image}, a tag that can change; append its digest (@sha256:…)`),
  ];
}

function accessWarnings(config: CrmConfig): readonly string[] {
  const host = listenHost(config);
  if (!hasCredentials(config)) {
    const cause = config.security.authMode === "off" ? " by OPRC_CRM_SECURITY_AUTH_MODE" : "";
    const fix = "set OPRC_CRM_SECURITY_TOKEN_FILE or OPRC_CRM_SECURITY_MTLS=true";
    return [`authentication is off${cause}: every client that reaches ${host} can deploy; ${fix}`];
  }
  if (usesTls(config) || isLoopbackHost(host)) return [];
  return [`tokens are sent without encryption to ${host}; set OPRC_CRM_SECURITY_TLS_CERT_FILE and its key`];
}

/** Rejects incomplete TLS files, so that security is never weaker than configured. */
function checkTls({ security }: CrmConfig): Violation[] {
  const { mtls, certFile, keyFile, clientCaFile } = security;
  const files = [
    ["OPRC_CRM_SECURITY_TLS_CERT_FILE", certFile],
    ["OPRC_CRM_SECURITY_TLS_KEY_FILE", keyFile],
    ["OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE", clientCaFile],
  ] as const;
  if (security.tlsSource === "self-signed") {
    const message = "has no effect with OPRC_CRM_SECURITY_TLS_SOURCE=self-signed";
    const fix = "unset it, or set OPRC_CRM_SECURITY_TLS_SOURCE=files";
    const unused = files.filter(([, file]) => file !== undefined);
    return [...unused.map(([name]) => ({ path: `$.${name}`, message, fix })), ...checkClientNames(security, [])];
  }
  const required = mtls ? files : certFile === undefined && keyFile === undefined ? [] : files.slice(0, 2);
  const reason = mtls
    ? "is required while OPRC_CRM_SECURITY_MTLS is on, the default in profile full"
    : "is required: TLS needs certificate and key";
  const fix = mtls ? "set the file, or set OPRC_CRM_SECURITY_MTLS=false" : "set both files or neither";
  const missing = required
    .filter(([, file]) => file === undefined)
    .map(([name]) => ({ path: `$.${name}`, message: reason, fix }));
  return [...missing, ...checkClientNames(security, clientCaFile === undefined ? [] : [files[2][0]])];
}

/** Mutual TLS needs the names of its clients, and without it `caFiles` and the names have no effect. */
function checkClientNames({ mtls, clientNames }: CrmConfig["security"], caFiles: readonly string[]): Violation[] {
  const namesPath = "$.OPRC_CRM_SECURITY_TLS_CLIENT_NAMES";
  if (mtls && clientNames === undefined) {
    const message = "is required: it lists the client certificates that are accepted";
    const fix = "set for example CN:oprc-pm=deployer; *=deployer accepts every certificate of the authorities";
    return [{ path: namesPath, message, fix }];
  }
  if (mtls) return [];
  const unused = [...caFiles.map((name) => `$.${name}`), ...(clientNames === undefined ? [] : [namesPath])];
  const message = "has no effect while OPRC_CRM_SECURITY_MTLS is off";
  return unused.map((path) => ({ path, message, fix: "set OPRC_CRM_SECURITY_MTLS=true" }));
}

/** Rejects an incomplete client certificate, and TLS files without TLS. */
function checkPm({ pm, security }: CrmConfig): Violation[] {
  const { url, tlsSource, caFile, certFile, keyFile } = pm;
  const files = [
    ["OPRC_CRM_PM_TLS_CA_FILE", caFile],
    ["OPRC_CRM_PM_TLS_CERT_FILE", certFile],
    ["OPRC_CRM_PM_TLS_KEY_FILE", keyFile],
  ] as const;
  const set = files.filter(([, file]) => file !== undefined);
  if (set.length > 0 && !url?.startsWith("https:")) {
    const fix = "set OPRC_CRM_PM_URL to an https:// URL";
    return set.map(([name]) => ({ path: `$.${name}`, message: "has no effect without TLS", fix }));
  }
  if (tlsSource === "self-signed") {
    const source = "$.OPRC_CRM_PM_TLS_SOURCE";
    const unused = set.map(([name]) => ({
      path: `$.${name}`,
      message: "has no effect with OPRC_CRM_PM_TLS_SOURCE=self-signed",
      fix: "unset it, or set OPRC_CRM_PM_TLS_SOURCE=files",
    }));
    const needed = (message: string, fix: string): Violation => ({ path: source, message, fix });
    return [
      ...unused,
      ...(url?.startsWith("https:") ? [] : [needed("requires TLS", "set OPRC_CRM_PM_URL to an https:// URL")]),
      ...(security.tlsSource === "self-signed"
        ? []
        : [needed("requires the certificates of this manager", "set OPRC_CRM_SECURITY_TLS_SOURCE=self-signed")]),
    ];
  }
  if ((certFile === undefined) === (keyFile === undefined)) return [];
  const missing = certFile === undefined ? "OPRC_CRM_PM_TLS_CERT_FILE" : "OPRC_CRM_PM_TLS_KEY_FILE";
  return [{ path: `$.${missing}`, message: "is required: a certificate needs its key", fix: "set both or neither" }];
}

/** Rejects a URL, range or credentials that cannot work, so that a mistake is not an outage of measurements. */
function checkPrometheus({ prometheus }: CrmConfig): Violation[] {
  const { url, rangeMs, stepMs, token, username, password, tenant, caFile, certFile, keyFile } = prometheus;
  const problem = url === undefined ? undefined : findBaseUrlProblem(url);
  const path = (name: string): string => `$.OPRC_CRM_PROM_${name}`;
  const ofServer = { TOKEN: token, USERNAME: username, PASSWORD: password, TENANT: tenant };
  const ofTls = { TLS_CA_FILE: caFile, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  const set = (values: object): string[] =>
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const withoutUrl = url === undefined ? set({ ...ofServer, ...ofTls }) : [];
  const withoutTls = url?.startsWith("http:") ? set(ofTls) : [];
  const incomplete = (
    [
      [certFile, keyFile, "TLS_KEY_FILE", "is required: a certificate needs its key"],
      [keyFile, certFile, "TLS_CERT_FILE", "is required: a key needs its certificate"],
      [password, username, "USERNAME", "is required: a password needs its user"],
    ] as const
  ).filter(([one, other]) => one !== undefined && other === undefined);
  return [
    ...(problem === undefined ? [] : [{ ...problem, path: path("URL") }]),
    ...withoutUrl.map((name) => ({ path: path(name), message: "has no effect", fix: "set OPRC_CRM_PROM_URL" })),
    ...withoutTls.map((name) => {
      const fix = "set OPRC_CRM_PROM_URL to an https:// URL";
      return { path: path(name), message: "has no effect without TLS", fix };
    }),
    ...incomplete.map(([, , name, message]) => ({ path: path(name), message, fix: "set both or neither" })),
    ...(token !== undefined && username !== undefined
      ? [{ path: path("TOKEN"), message: "excludes OPRC_CRM_PROM_USERNAME", fix: "unset one of them" }]
      : []),
    ...(rangeMs < stepMs * MIN_STEPS || rangeMs > stepMs * MAX_STEPS
      ? [
          {
            path: path("STEP"),
            message: `does not fit OPRC_CRM_PROM_RANGE: the range must have ${MIN_STEPS} to ${MAX_STEPS} steps`,
            fix: "set for example a range of 10m and a step of 30s",
          },
        ]
      : []),
  ];
}

/** Fewer samples give no verdict; more only cost memory. */
const MIN_STEPS = 3;
const MAX_STEPS = 240;

function checkLease({ leaderElection }: CrmConfig): Violation[] {
  const { lease, leaseMs } = leaderElection;
  return [
    ...(isValidName("dns-1123-subdomain", lease)
      ? []
      : [{ path: "$.OPRC_CRM_LEADER_ELECTION_LEASE", message: "is not a valid Kubernetes object name" }]),
    ...(leaseMs % 1000 === 0
      ? []
      : [{ path: "$.OPRC_CRM_LEADER_ELECTION_LEASE_SECS", message: "must be whole seconds" }]),
  ];
}
