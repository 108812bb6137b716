import {
  defineConfig,
  env,
  loggingVariables,
  TRACING_VARIABLES,
  invalid,
  type ConfigOf,
  type Kind,
} from "@oaas/config";
import { ok, type Violation } from "@oaas/foundation";
import { isValidName } from "@oaas/kube-core";

/** Which namespaces are served: all of them, or these; the first is the default of requests that name none. */
export type NamespaceScope = "all" | readonly string[];

const namespaceScope: Kind<NamespaceScope> = {
  label: "* | comma-separated list of namespaces",
  echo: true,
  parse: (text) => {
    const names = text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    if (names.includes("*")) return names.length === 1 ? ok("all") : invalid("is either * or a list of namespaces");
    const bad = names.find((name) => !isValidName("dns-1123-label", name));
    if (bad !== undefined) return invalid(`"${bad}" is no name of a namespace`);
    return names.length === 0 ? invalid("names no namespace") : ok([...new Set(names)]);
  },
  show: (scope) => (scope === "all" ? "*" : scope.join(",")),
  fromDefault: (scope) => scope,
};

/** Tokens as a header can carry them. Never none: a lock without a key must not be taken for no lock. */
const bearerTokens: Kind<readonly string[]> = {
  label: "text, or several separated by commas or lines",
  echo: false,
  parse: (text) => {
    const tokens = text
      .split(/[,\r\n]/)
      .map((token) => token.trim())
      .filter((token) => token !== "");
    if (tokens.length === 0) return invalid("holds no token", "write one, or leave the variable out");
    const bad = tokens.findIndex((token) => !/^[\x21-\x7e]+$/.test(token));
    if (bad < 0) return ok(tokens);
    return invalid(`token ${bad + 1} has a character that a header cannot carry`, "use letters, digits and -._~+/=");
  },
  show: (tokens) => tokens.join(","),
  fromDefault: (tokens) => tokens,
};

/** A page's origin as browsers send it, or * for all. */
const webOrigin: Kind<string> = {
  label: "* | origin",
  echo: true,
  parse: (text) => {
    const isOrigin = text === "*" || URL.parse(text)?.origin === text;
    return isOrigin
      ? ok(text)
      : invalid("must be * or an origin", "write for example https://console.example, no path");
  },
  show: (origin) => origin,
  fromDefault: (origin) => origin,
};

const logging = loggingVariables("OPRC_CRM_LOG", "SERVICE_LOG");

const variables = {
  profile: env("OPRC_CRM_PROFILE")
    .oneOf(["dev", "edge", "full"], { prod: "full", production: "full" })
    .default("dev")
    .doc("Preset of defaults. Any other variable overrides it."),
  clusterName: env("OPRC_CRM_CLUSTER_NAME")
    .string()
    .optional()
    .doc("Name of this cluster in health answers and reports. Without it: the default namespace, as peers expect."),
  server: {
    host: env("OPRC_CRM_HTTP_HOST").string().default("0.0.0.0").doc("Address to listen on."),
    httpPort: env("HTTP_PORT").port().default(8088).doc("Port of gRPC and HTTP/1.1; 0 takes a free one."),
    grpcPort: env("GRPC_PORT")
      .port()
      .optional()
      .doc("Opens gRPC here as well. Older documents say 7088 and mean this port."),
    webOrigins: env("OPRC_CRM_GRPC_WEB_ORIGINS")
      .list(webOrigin)
      .default([])
      .doc(
        "Origins of web pages that may call by gRPC-Web, which is served on the same port; * lets every page. Without it no page may; callers that are no page always may.",
      )
      .example("https://console.example"),
    graceMs: env("OPRC_CRM_SHUTDOWN_GRACE_SECS")
      .duration({ bare: "s" })
      .default("10s")
      .doc("How long calls and reconciles under way may go on when the process is told to stop."),
  },
  k8s: {
    namespaces: env("OPRC_CRM_K8S_NAMESPACE")
      .as(namespaceScope)
      .optional()
      .doc(
        "Namespaces that are served: one, a list, or * for all; the first is the default of requests that name none. Without it: the pod's own, else that of the kubeconfig context, else default.",
      )
      .example("oaas,oaas-edge"),
    kubeconfig: env("OPRC_CRM_KUBECONFIG")
      .path()
      .optional()
      .doc("Kubeconfig file. Without it: KUBECONFIG, else the pod's own credentials, else ~/.kube/config."),
    context: env("OPRC_CRM_KUBE_CONTEXT")
      .string()
      .optional()
      .doc("The one context of the kubeconfig to use; without it the current one."),
    clusterDomain: env("OPRC_CRM_CLUSTER_DOMAIN")
      .string()
      .default("cluster.local")
      .doc("Domain that the names of Services end in."),
  },
  features: {
    hpa: env("OPRC_CRM_FEATURES_HPA")
      .bool()
      .default(false)
      .defaultIn({ edge: true, full: true })
      .doc("Makes HorizontalPodAutoscalers and works through them."),
    knative: env("OPRC_CRM_FEATURES_KNATIVE")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc("Offers the knative template where Knative is installed. Older releases had it on in every profile."),
    prometheus: env("OPRC_CRM_FEATURES_PROMETHEUS")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc("Creates ServiceMonitors and PodMonitors where the Prometheus operator is installed."),
    leaderElection: env("OPRC_CRM_FEATURES_LEADER_ELECTION")
      .bool()
      .default(true)
      .doc("Lets one of several replicas act. Switch it off only where there is certainly one process."),
    odgm: env("OPRC_CRM_FEATURES_ODGM")
      .bool()
      .default(true)
      .doc("Offers the object data grid. Off, a class with state is refused; some older documents have it off in dev."),
  },
  limits: {
    maxReplicas: env("OPRC_CRM_LIMITS_MAX_REPLICAS")
      .int({ min: 1 })
      .default(20)
      .defaultIn({ full: 50 })
      .doc("Most replicas that are chosen without the user; what a user states is not cut."),
    concurrency: env("OPRC_CRM_LIMITS_CONCURRENCY")
      .int({ min: 1, max: 256 })
      .default(16)
      .defaultIn({ edge: 4 })
      .doc("Class runtimes that are reconciled at the same time."),
    watchers: env("OPRC_CRM_LIMITS_WATCHERS")
      .int({ min: 1 })
      .default(256)
      .doc("Watch calls served at the same time; further ones are refused until one ends."),
  },
  prometheus: {
    matchLabels: env("OPRC_CRM_PROM_MATCH_LABELS")
      .keyValues()
      .default({})
      .doc("Labels on monitors, so that the operator selects them.")
      .example("release=prometheus"),
    scrapeKind: env("OPRC_CRM_PROM_SCRAPE_KIND")
      .oneOf(["auto", "service", "pod"])
      .default("auto")
      .doc("Kind of monitor that is made; auto leaves Knative's workloads to Knative."),
  },
  otel: {
    enabled: env("OPRC_CRM_OTEL_ENABLED")
      .bool()
      .default(false)
      .doc("Gives workloads telemetry settings when their class says nothing of it."),
    endpoint: env("OPRC_CRM_OTEL_ENDPOINT")
      .url()
      .default("http://otel-collector:4317")
      .doc("Collector that workloads send their telemetry to."),
  },
  templates: {
    odgmImage: env("OPRC_CRM_TEMPLATES_ODGM_IMAGE")
      .string()
      .optional()
      .doc("Image of the data grid, in place of each template's own."),
    odgmPullPolicy: env("OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY")
      .oneOf(["Always", "IfNotPresent", "Never"])
      .optional()
      .doc("When the data grid's image is pulled."),
    odgmExtraEnv: env("OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV")
      .keyValues()
      .default({})
      .doc("Environment put into every container of the data grid."),
    waitImage: env("OPRC_CRM_TEMPLATES_WAIT_IMAGE")
      .string()
      .optional()
      .doc("Image with sh and nc, by which functions wait for the data grid. Without it they do not wait."),
  },
  odgmHealth: {
    enabled: env("OPRC_CRM_ODGM_HEALTH")
      .bool()
      .default(false)
      .defaultIn({ edge: true, full: true })
      .doc(
        "Asks the state stores themselves how they are, over their gRPC, and shows it in status. Works inside the cluster only; a store that does not answer is neither well nor ill, its workload decides alone.",
      ),
    everyMs: env("OPRC_CRM_ODGM_HEALTH_INTERVAL_SECS")
      .duration({ bare: "s", min: "1s" })
      .default("30s")
      .doc("How often each state store is asked."),
    timeoutMs: env("OPRC_CRM_ODGM_HEALTH_TIMEOUT_SECS")
      .duration({ bare: "s", min: "100ms" })
      .default("2s")
      .doc("How long one may take to answer."),
  },
  place: {
    region: env("OPRC_ENV_REGION").string().optional().doc("Region this cluster is in."),
    zone: env("OPRC_ENV_ZONE").string().optional().doc("Zone this cluster is in."),
    hwClass: env("OPRC_ENV_HW_CLASS").string().optional().doc("Kind of hardware it runs on."),
    isEdge: env("OPRC_ENV_IS_EDGE").bool().default(false).doc("It is at the edge."),
    isDatacenter: env("OPRC_ENV_IS_DATACENTER").bool().default(false).doc("It is in a data centre."),
  },
  mockAvailability: env("OPRC_MOCK_CLUSTER_AVAILABILITY")
    .float({ min: 0, max: 1 })
    .optional()
    .doc("Availability to report in place of the measured one. For tests and simulated clusters."),
  security: {
    mtls: env("OPRC_CRM_SECURITY_MTLS")
      .bool()
      .default(false)
      .defaultIn({ full: true })
      .doc(
        "Asks callers for a certificate; without one they see health and nothing else. Needs the three files below; without them the start is refused.",
      ),
    certFile: env("OPRC_CRM_SECURITY_TLS_CERT_FILE")
      .path()
      .optional()
      .doc("Certificate chain of the server, PEM. With the key it switches TLS on. Reloaded when it changes."),
    keyFile: env("OPRC_CRM_SECURITY_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    clientCaFile: env("OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE")
      .path()
      .optional()
      .doc("Authorities whose certificates callers may show, PEM."),
    tokens: env("OPRC_CRM_SECURITY_TOKEN")
      .as(bearerTokens)
      .secret()
      .optional()
      .alias("OPRC_CRM_TOKEN")
      .doc(
        "Bearer token that callers must send, or several of which any will do, so that one can be replaced without a gap. Health and reflection stay open. Without it every caller is let in. From a file, one in each line, it is read again when that changes.",
      ),
  },
  leaderElection: {
    lease: env("OPRC_CRM_LEADER_ELECTION_LEASE")
      .string()
      .default("oprc-crm")
      .doc("Name of the Lease by which replicas choose the one that acts."),
    namespace: env("OPRC_CRM_LEADER_ELECTION_NAMESPACE")
      .string()
      .optional()
      .doc("Namespace of the Lease. Without it: the pod's own, else the default namespace."),
    identity: env("OPRC_CRM_LEADER_ELECTION_IDENTITY")
      .string()
      .optional()
      .doc("Who this process is; must differ between replicas. Without it: POD_NAME, else host and process."),
    podName: env("POD_NAME").string().optional().doc("Name of the pod, as the chart hands it in."),
    leaseMs: env("OPRC_CRM_LEADER_ELECTION_LEASE_SECS")
      .duration({ bare: "s", min: "3s" })
      .default("15s")
      .doc("Others take over when the Lease was not renewed for this long. Whole seconds."),
  },
  pm: {
    url: env("OPRC_CRM_PM_URL")
      .url()
      .optional()
      .doc(
        "Package Manager that status changes and numbers are reported to, by gRPC: http without TLS, https with. Off without it.",
      )
      .example("http://oprc-pm.oaas:8080"),
    token: env("OPRC_CRM_PM_TOKEN")
      .string()
      .secret()
      .optional()
      .doc("Bearer token for the Package Manager. From a file it is read again when that changes."),
    caFile: env("OPRC_CRM_PM_TLS_CA_FILE")
      .path()
      .optional()
      .doc("Authorities that the Package Manager's certificate is checked with, PEM. Without it: the well-known ones."),
    certFile: env("OPRC_CRM_PM_TLS_CERT_FILE")
      .path()
      .optional()
      .doc("Certificate to show to the Package Manager, PEM. Files are read again when a connection is made anew."),
    keyFile: env("OPRC_CRM_PM_TLS_KEY_FILE").path().optional().doc("Private key of that certificate, PEM."),
    timeoutMs: env("OPRC_CRM_PM_TIMEOUT_SECS")
      .duration({ bare: "s", min: "100ms" })
      .default("5s")
      .doc("Deadline of one report; one that fails is tried again."),
    metricsEveryMs: env("OPRC_CRM_PM_METRICS_INTERVAL_SECS")
      .duration({ bare: "s", min: "1s" })
      .default("60s")
      .doc("How often replicas and measurements of each class are reported."),
    drainMs: env("OPRC_CRM_PM_DRAIN_SECS")
      .duration({ bare: "s" })
      .default("3s")
      .doc("How long the last reports may take when the process stops; the next leader tells everything anew."),
  },
  log: { ...logging, level: logging.level.defaultIn({ dev: "debug" }) },
};

/** Everything that can be set about a class runtime manager. */
export type CrmConfig = ConfigOf<typeof variables>;

/** Everything that can be set about a class runtime manager, with the defaults of each profile. */
export const crmConfig = defineConfig({
  title: "Class Runtime Manager",
  prefixes: ["OPRC_CRM_"],
  profile: "profile",
  variables,
  notUsedYet: {
    "Enforcement of requirements is not implemented.": [
      "OPRC_CRM_FEATURES_NFR_ENFORCEMENT",
      "OPRC_CRM_ENFORCEMENT_MODE",
      "OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS",
      "OPRC_CRM_ENFORCEMENT_STABILITY_SECS",
      "OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA",
    ],
    "Requirements are not measured; no metrics are queried.": [
      "OPRC_CRM_ANALYZER_INTERVAL_SECS",
      "OPRC_CRM_REQ_CPU_PER_POD_M",
      "OPRC_CRM_MEMORY_HEADROOM",
      "OPRC_CRM_MEMORY_LIMIT_FACTOR",
      "OPRC_CRM_PROM_URL",
      "OPRC_CRM_PROM_PROVIDER",
      "OPRC_CRM_PROM_QUERY_TIMEOUT_SECS",
      "OPRC_CRM_PROM_RANGE",
      "OPRC_CRM_PROM_STEP",
    ],
    "The lifecycle controller is always on.": ["OPRC_CRM_FEATURES_FSM"],
    "Topology comes from Kubernetes; no Zenoh session is opened.": [
      "OPRC_ZENOH_MODE",
      "OPRC_ZENOH_PORT",
      "OPRC_ZENOH_PEERS",
    ],
    "The manager does not emit traces.": TRACING_VARIABLES,
  },
  checks: [checkTls, checkLease, checkPm],
});

/** What is never silently weaker than asked for: TLS with half its files, or mTLS without them. */
function checkTls({ security }: CrmConfig): Violation[] {
  const { mtls, certFile, keyFile, clientCaFile } = security;
  const files = [
    ["OPRC_CRM_SECURITY_TLS_CERT_FILE", certFile],
    ["OPRC_CRM_SECURITY_TLS_KEY_FILE", keyFile],
    ["OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE", clientCaFile],
  ] as const;
  const wanted = mtls ? files : certFile === undefined && keyFile === undefined ? [] : files.slice(0, 2);
  const why = mtls
    ? "is required while OPRC_CRM_SECURITY_MTLS is on, which it is by default in profile full"
    : "is required: TLS needs certificate and key";
  const fix = mtls ? "name the file, or set OPRC_CRM_SECURITY_MTLS=false" : "name both files, or neither";
  const missing = wanted
    .filter(([, file]) => file === undefined)
    .map(([name]) => ({ path: `$.${name}`, message: why, fix }));
  if (mtls || clientCaFile === undefined) return missing;
  const unused = "has no effect while OPRC_CRM_SECURITY_MTLS is off";
  return [
    ...missing,
    { path: "$.OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE", message: unused, fix: "set OPRC_CRM_SECURITY_MTLS=true" },
  ];
}

/** Half a client certificate, or one that would never be shown. */
function checkPm({ pm }: CrmConfig): Violation[] {
  const { url, caFile, certFile, keyFile } = pm;
  const files = [
    ["OPRC_CRM_PM_TLS_CA_FILE", caFile],
    ["OPRC_CRM_PM_TLS_CERT_FILE", certFile],
    ["OPRC_CRM_PM_TLS_KEY_FILE", keyFile],
  ] as const;
  const given = files.filter(([, file]) => file !== undefined);
  if (given.length > 0 && !url?.startsWith("https:")) {
    const fix = "give OPRC_CRM_PM_URL as https://…";
    return given.map(([name]) => ({ path: `$.${name}`, message: "has no effect without TLS", fix }));
  }
  if ((certFile === undefined) === (keyFile === undefined)) return [];
  const missing = certFile === undefined ? "OPRC_CRM_PM_TLS_CERT_FILE" : "OPRC_CRM_PM_TLS_KEY_FILE";
  return [{ path: `$.${missing}`, message: "is required: a certificate needs its key", fix: "name both, or neither" }];
}

function checkLease({ leaderElection }: CrmConfig): Violation[] {
  const { lease, leaseMs } = leaderElection;
  return [
    ...(isValidName("dns-1123-subdomain", lease)
      ? []
      : [{ path: "$.OPRC_CRM_LEADER_ELECTION_LEASE", message: "is no name of a Kubernetes object" }]),
    ...(leaseMs % 1000 === 0
      ? []
      : [{ path: "$.OPRC_CRM_LEADER_ELECTION_LEASE_SECS", message: "must be whole seconds" }]),
  ];
}
