import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { configReport, configReportText, parseConfig, unusedSettings } from "@oaas/config";
import { describe, expect, test } from "vitest";
import { configuredFacts } from "./controller/cluster/cluster-facts.ts";
import { configWarnings, crmConfig, listenHost, type CrmConfig } from "./config.ts";

/** Settings that profile full requires. */
const FULL = {
  OPRC_CRM_PROFILE: "full",
  OPRC_CRM_SECURITY_TLS_CERT_FILE: "/tls/tls.crt",
  OPRC_CRM_SECURITY_TLS_KEY_FILE: "/tls/tls.key",
  OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE: "/tls/ca.crt",
  OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:oprc-pm=deployer",
};

function configOf(env: Record<string, string>): CrmConfig {
  const parsed = parseConfig(crmConfig, { env });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value;
}

function violationsOf(env: Record<string, string>): string[] {
  const parsed = parseConfig(crmConfig, { env });
  return parsed.ok ? [] : parsed.error.map(({ path, message, fix }) => [path, message, fix].join(" | "));
}

describe("profiles are presets of defaults", () => {
  const rows: readonly [
    name: string,
    of: (config: CrmConfig) => unknown,
    dev: unknown,
    edge: unknown,
    full: unknown,
  ][] = [
    ["hpa", ({ features }) => features.hpa, false, true, true],
    ["knative", ({ features }) => features.knative, false, false, true],
    ["prometheus", ({ features }) => features.prometheus, false, false, true],
    ["odgm health", ({ odgmHealth }) => odgmHealth.enabled, true, true, true],
    ["package manager", ({ pm }) => [pm.url, pm.timeoutMs, pm.metricsEveryMs], ...three([undefined, 5_000, 60_000])],
    ["leader election", ({ features }) => features.leaderElection, true, true, true],
    ["odgm", ({ features }) => features.odgm, true, true, true],
    ["mtls", ({ security }) => security.mtls, false, false, true],
    ["max replicas", ({ limits }) => limits.maxReplicas, 20, 20, 50],
    ["log level", ({ log }) => log.level, "debug", "info", "info"],
    ["http port", ({ server }) => server.httpPort, 8088, 8088, 8088],
    ["grpc port", ({ server }) => server.grpcPort, undefined, undefined, undefined],
    ["otel", ({ otel }) => otel, ...three({ enabled: false, endpoint: "http://otel-collector:4317" })],
    ["namespaces", ({ k8s }) => k8s.namespaces, undefined, undefined, undefined],
  ];

  test.each(rows)("%s", (_, of, dev, edge, full) => {
    expect([of(configOf({})), of(configOf({ OPRC_CRM_PROFILE: "edge" })), of(configOf(FULL))]).toEqual([
      dev,
      edge,
      full,
    ]);
  });

  test.each(["prod", "production", "FULL"])("%s selects profile full", (word) => {
    expect(configOf({ ...FULL, OPRC_CRM_PROFILE: word }).profile).toBe("full");
  });

  test("profile full needs no files with self-signed certificates", () => {
    const { security } = configOf({
      OPRC_CRM_PROFILE: "full",
      OPRC_CRM_SECURITY_TLS_SOURCE: "self-signed",
      OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:oprc-pm=deployer",
    });
    expect(security).toMatchObject({ mtls: true, tlsSource: "self-signed" });
  });

  test("a variable overrides the default of the profile", () => {
    const { features, limits, security } = configOf({
      OPRC_CRM_PROFILE: "full",
      OPRC_CRM_FEATURES_PROMETHEUS: "false",
      OPRC_CRM_FEATURES_HPA: "0",
      OPRC_CRM_SECURITY_MTLS: "off",
      OPRC_CRM_LIMITS_MAX_REPLICAS: "7",
    });
    expect([features.prometheus, features.hpa, security.mtls, limits.maxReplicas]).toEqual([false, false, false, 7]);
  });
});

function three<T>(value: T): [T, T, T] {
  return [value, value, value];
}

describe("namespaces", () => {
  test.each([
    { text: "oaas", want: { all: false, listed: ["oaas"] } },
    { text: "oaas, edge ,oaas", want: { all: false, listed: ["oaas", "edge"] } },
    { text: "*", want: { all: true, listed: [] } },
    { text: "kube-system,*", want: { all: true, listed: ["kube-system"] } },
  ])("$text", ({ text, want }) => {
    expect(configOf({ OPRC_CRM_K8S_NAMESPACE: text }).k8s.namespaces).toEqual(want);
  });

  test.each(["*,Oaas", "Oaas", "a b", ","])("rejects %s", (text) => {
    expect(violationsOf({ OPRC_CRM_K8S_NAMESPACE: text })).toEqual([expect.stringContaining("OPRC_CRM_K8S_NAMESPACE")]);
  });
});

describe("the address to listen on", () => {
  test.each([
    { case: "loopback without credentials", env: {}, want: "127.0.0.1" },
    {
      case: "loopback without credentials, also with authentication off",
      env: { OPRC_CRM_SECURITY_AUTH_MODE: "off" },
      want: "127.0.0.1",
    },
    { case: "every address with a token", env: { OPRC_CRM_SECURITY_TOKEN: "t" }, want: "0.0.0.0" },
    { case: "every address with mutual TLS", env: FULL, want: "0.0.0.0" },
    {
      case: "the stated address with authentication off",
      env: { OPRC_CRM_SECURITY_AUTH_MODE: "off", OPRC_CRM_HTTP_HOST: "0.0.0.0" },
      want: "0.0.0.0",
    },
  ])("is $case", ({ env, want }) => {
    expect(listenHost(configOf(env))).toBe(want);
  });

  test.each([
    {
      case: "no credentials",
      env: {},
      want: [/^authentication is off: .* 127\.0\.0\.1 can deploy; set OPRC_CRM_SECURITY_TOKEN_FILE/],
    },
    {
      case: "authentication off on every address",
      env: { OPRC_CRM_SECURITY_AUTH_MODE: "off", OPRC_CRM_HTTP_HOST: "0.0.0.0" },
      want: [/^authentication is off by OPRC_CRM_SECURITY_AUTH_MODE: .* 0\.0\.0\.0 can deploy/],
    },
    { case: "a token without TLS", env: { OPRC_CRM_SECURITY_TOKEN: "t" }, want: [/without encryption/] },
    { case: "a token on loopback", env: { OPRC_CRM_SECURITY_TOKEN: "t", OPRC_CRM_HTTP_HOST: "::1" }, want: [] },
    { case: "mutual TLS", env: FULL, want: [] },
  ])("warnings with $case", ({ env, want }) => {
    expect(configWarnings(configOf({ ...env, OPRC_CRM_FEATURES_ODGM: "false" }))).toEqual(
      want.map((pattern) => expect.stringMatching(pattern)),
    );
  });
});

test.each([
  { case: "no image", env: {}, want: [/^OPRC_CRM_TEMPLATES_ODGM_IMAGE is not set: classes with state are rejected/] },
  {
    case: "a wait image switched off",
    env: {
      OPRC_CRM_TEMPLATES_ODGM_IMAGE: `r.test/odgm@sha256:${"0".repeat(64)}`,
      OPRC_CRM_TEMPLATES_WAIT_IMAGE: "none",
    },
    want: [],
  },
  { case: "no image, and no data grid", env: { OPRC_CRM_FEATURES_ODGM: "false" }, want: [] },
  {
    case: "tags",
    env: { OPRC_CRM_TEMPLATES_ODGM_IMAGE: "r.test/odgm:1", OPRC_CRM_TEMPLATES_WAIT_IMAGE: "busybox" },
    want: [
      /^OPRC_CRM_TEMPLATES_ODGM_IMAGE is r\.test\/odgm:1, a tag.*digest/,
      /^OPRC_CRM_TEMPLATES_WAIT_IMAGE is busybox/,
    ],
  },
  { case: "a digest", env: { OPRC_CRM_TEMPLATES_ODGM_IMAGE: `r.test/odgm@sha256:${"0".repeat(64)}` }, want: [] },
])("warnings about images with $case", ({ env, want }) => {
  const warnings = configWarnings(configOf({ OPRC_CRM_SECURITY_TOKEN: "t", OPRC_CRM_HTTP_HOST: "127.0.0.1", ...env }));
  expect(warnings).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
});

test.each([
  { env: {}, want: "busybox:1.37" },
  { env: { OPRC_CRM_TEMPLATES_WAIT_IMAGE: "r.test/wait:1" }, want: "r.test/wait:1" },
  { env: { OPRC_CRM_TEMPLATES_WAIT_IMAGE: "none" }, want: undefined },
])("functions wait in $want with $env", ({ env, want }) => {
  expect(configuredFacts(configOf(env)).waitImage).toBe(want);
});

describe("rejected settings", () => {
  test.each([
    {
      case: "an address beyond loopback without credentials",
      env: { OPRC_CRM_HTTP_HOST: "0.0.0.0" },
      want: [/OPRC_CRM_HTTP_HOST.*no credentials.*OPRC_CRM_SECURITY_TOKEN_FILE.*OPRC_CRM_SECURITY_AUTH_MODE=off/],
    },
    {
      case: "required authentication without credentials",
      env: { OPRC_CRM_SECURITY_AUTH_MODE: "required" },
      want: [/AUTH_MODE.*requires credentials/],
    },
    {
      case: "authentication off with a token",
      env: { OPRC_CRM_SECURITY_AUTH_MODE: "off", OPRC_CRM_SECURITY_TOKEN: "t" },
      want: [/AUTH_MODE.*off, but a token/],
    },
    {
      case: "mutual TLS without names of clients",
      env: { ...FULL, OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "" },
      want: [/CLIENT_NAMES.*is required.*\*=deployer/],
    },
    {
      case: "names of clients without mutual TLS",
      env: { OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:pm=viewer" },
      want: [/CLIENT_NAMES.*no effect/],
    },
    {
      case: "a misspelt name, with the nearest name",
      env: { OPRC_CRM_FEATURES_HPAS: "true" },
      want: [/OPRC_CRM_FEATURES_HPAS.*unknown.*did you mean OPRC_CRM_FEATURES_HPA\?/],
    },
    {
      case: "profile full without certificates",
      env: { OPRC_CRM_PROFILE: "full" },
      want: [/CERT_FILE.*OPRC_CRM_SECURITY_MTLS=false/, /KEY_FILE/, /CLIENT_CA_FILE/, /CLIENT_NAMES/],
    },
    {
      case: "a certificate without its key",
      env: { OPRC_CRM_SECURITY_TLS_CERT_FILE: "/tls/tls.crt" },
      want: [/KEY_FILE.*needs certificate and key/],
    },
    {
      case: "certificate files together with self-signed certificates",
      env: {
        OPRC_CRM_SECURITY_TLS_SOURCE: "self-signed",
        OPRC_CRM_SECURITY_MTLS: "true",
        OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:oprc-pm=deployer",
        OPRC_CRM_SECURITY_TLS_CERT_FILE: "/tls/tls.crt",
      },
      want: [/CERT_FILE.*no effect with OPRC_CRM_SECURITY_TLS_SOURCE=self-signed/],
    },
    {
      case: "names that a certificate cannot hold",
      env: {
        OPRC_CRM_SELF_SIGNED_SERVER_NAMES: "crm.example,*.example",
        OPRC_CRM_SELF_SIGNED_CLIENT_NAME: "pm,CN=admin",
        OPRC_CRM_SELF_SIGNED_SERVER_SECRET: "../tls",
        OPRC_CRM_SELF_SIGNED_VALID: "1s",
      },
      want: [
        /SERVER_SECRET.*Kubernetes object/,
        /SERVER_NAMES.*DNS name/,
        /CLIENT_NAME.*DNS name/,
        /VALID.*at least 10m/,
      ],
    },
    {
      case: "self-signed certificates without names of clients",
      env: { OPRC_CRM_SECURITY_TLS_SOURCE: "self-signed", OPRC_CRM_SECURITY_MTLS: "true" },
      want: [/CLIENT_NAMES.*is required/],
    },
    {
      case: "client authorities without mTLS",
      env: { OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE: "/tls/ca.crt" },
      want: [/CLIENT_CA_FILE.*no effect/],
    },
    {
      case: "several violations at once",
      env: { HTTP_PORT: "many", OPRC_CRM_PROFILE: "huge", OPRC_CRM_LIMITS_MAX_REPLICAS: "0" },
      want: [/OPRC_CRM_PROFILE/, /HTTP_PORT/, /MAX_REPLICAS/],
    },
    {
      case: "self-signed certificates for reports, without self-signed certificates and without TLS",
      env: { OPRC_CRM_PM_URL: "http://pm", OPRC_CRM_PM_TLS_SOURCE: "self-signed" },
      want: [/PM_TLS_SOURCE.*https/, /PM_TLS_SOURCE.*OPRC_CRM_SECURITY_TLS_SOURCE=self-signed/],
    },
    {
      case: "a certificate for the package manager without its key",
      env: { OPRC_CRM_PM_URL: "https://pm", OPRC_CRM_PM_TLS_CERT_FILE: "/tls/pm.crt" },
      want: [/PM_TLS_KEY_FILE.*needs its key/],
    },
    {
      case: "TLS files without an https URL",
      env: { OPRC_CRM_PM_URL: "http://pm", OPRC_CRM_PM_TLS_CA_FILE: "/tls/ca.crt" },
      want: [/PM_TLS_CA_FILE.*no effect without TLS/],
    },
    {
      case: "a lease of parts of seconds",
      env: { OPRC_CRM_LEADER_ELECTION_LEASE_SECS: "3.5" },
      want: [/whole seconds/],
    },
    { case: "availability beyond 1", env: { OPRC_MOCK_CLUSTER_AVAILABILITY: "1.5" }, want: [/MOCK_CLUSTER/] },
  ])("$case", ({ env, want }) => {
    expect(violationsOf(env)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});

const PROM = "http://prometheus.monitoring:9090";

test("reads the settings of measurements with the defaults of the design documents", () => {
  expect(configOf({ OPRC_CRM_PROM_URL: PROM })).toMatchObject({
    prometheus: {
      url: PROM,
      provider: "prometheus-operator",
      queryTimeoutMs: 5_000,
      rangeMs: 600_000,
      stepMs: 30_000,
      rateWindowMs: 120_000,
      queries: {},
    },
    analyzer: { everyMs: 30_000, assumedCpuMillicores: 500 },
  });
  const queries = { queue_length: "jobs{namespace=~$namespaces}" };
  const env = {
    OPRC_CRM_PROM_URL: "https://mimir/prometheus",
    OPRC_CRM_PROM_PROVIDER: "otel",
    OPRC_CRM_PROM_RANGE: "1h",
    OPRC_CRM_PROM_STEP: "60",
    OPRC_CRM_PROM_QUERIES: JSON.stringify(queries),
    OPRC_CRM_PROM_USERNAME: "crm",
    OPRC_CRM_PROM_PASSWORD: "secret",
    OPRC_CRM_PROM_TENANT: "team-a",
    OPRC_CRM_PROM_TLS_CA_FILE: "ca.pem",
  };
  expect(configOf(env).prometheus).toMatchObject({ provider: "otel", rangeMs: 3_600_000, stepMs: 60_000, queries });
});

test("warns about credentials for Prometheus without encryption", () => {
  const warnings = (url: string, token?: string) =>
    configWarnings(
      configOf({ OPRC_CRM_PROM_URL: url, ...(token === undefined ? {} : { OPRC_CRM_PROM_TOKEN: token }) }),
    ).filter((warning) => warning.includes("OPRC_CRM_PROM_URL"));
  expect(warnings(PROM, "t")).toHaveLength(1);
  expect([warnings(PROM), warnings("https://prom", "t"), warnings("http://127.0.0.1:9090", "t")]).toEqual([[], [], []]);
});

test.each([
  { env: { OPRC_CRM_PROM_URL: "http://me:pw@prom:9090" }, path: "URL", message: /credentials/ },
  { env: { OPRC_CRM_PROM_URL: `${PROM}/graph` }, path: "URL", message: /page/ },
  { env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_PROVIDER: "influx" }, path: "PROVIDER", message: /otel/ },
  { env: { OPRC_CRM_PROM_TOKEN: "t" }, path: "TOKEN", message: /no effect \| set OPRC_CRM_PROM_URL/ },
  {
    env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_TLS_CA_FILE: "ca.pem" },
    path: "TLS_CA_FILE",
    message: /without TLS/,
  },
  {
    env: { OPRC_CRM_PROM_URL: "https://p", OPRC_CRM_PROM_TLS_CERT_FILE: "c.pem" },
    path: "TLS_KEY_FILE",
    message: /key/,
  },
  { env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_PASSWORD: "p" }, path: "USERNAME", message: /user/ },
  {
    env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_TOKEN: "t", OPRC_CRM_PROM_USERNAME: "u" },
    path: "TOKEN",
    message: /excludes/,
  },
  { env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_RANGE: "1m" }, path: "STEP", message: /3 to 240 steps/ },
  {
    env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_RANGE: "1d", OPRC_CRM_PROM_STEP: "1s" },
    path: "STEP",
    message: /3 to 240 steps/,
  },
  { env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_QUERIES: '{"rps":"x"}' }, path: "QUERIES", message: /not a signal/ },
  {
    env: { OPRC_CRM_PROM_URL: PROM, OPRC_CRM_PROM_QUERIES: '{"restarts":"sum(x)"}' },
    path: "QUERIES",
    message: /namespaces/,
  },
])("rejects measurement settings: $env", ({ env, path, message }) => {
  const [problem] = violationsOf(env);
  expect(problem).toContain(`OPRC_CRM_PROM_${path}`);
  expect(problem).toMatch(message);
});

test.each(["OPRC_CRM_LOG", "SERVICE_LOG", "RUST_LOG", "LOG_LEVEL"])("reads the log level from %s", (name) => {
  expect(configOf({ [name]: "warn" }).log.level).toBe("warn");
});

test("accepts the settings of an older chart and lists those without effect", () => {
  const env = {
    OPRC_CRM_PROFILE: "edge",
    OPRC_CRM_FEATURES_FSM: "true",
    OPRC_CRM_TEMPLATES_ODGM_IMAGE: "registry.local/odgm:1",
    OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY: "ifnotpresent",
    OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV: "A=1,B=2",
    OPRC_CRM_PROM_MATCH_LABELS: "release=prometheus",
    OPRC_ENV_IS_EDGE: "true",
    OPRC_ZENOH_PEERS: "tcp/router:17447",
    OPRC_CRM_SERVICE_HOST: "10.0.0.1",
    OPRC_CRM_PROM_URL: "http://prometheus.monitoring:9090",
    OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS: "60",
  };
  const config = configOf(env);
  expect(config.templates).toMatchObject({ odgmPullPolicy: "IfNotPresent", odgmExtraEnv: { A: "1", B: "2" } });
  expect(config.place.isEdge).toBe(true);
  expect(unusedSettings(crmConfig, { env }).map(({ name }) => name)).toEqual([
    "OPRC_CRM_FEATURES_FSM",
    "OPRC_ZENOH_PEERS",
  ]);
});

test.each([
  { case: "one", text: "a.b-c_d~e+f/g==", tokens: ["token-4f265d28:deployer:a.b-c_d~e+f/g=="] },
  {
    case: "several, by commas",
    text: "one, two,",
    tokens: ["token-7692c3ad:deployer:one", "token-3fc4ccfe:deployer:two"],
  },
  {
    case: "several, by lines",
    text: "one\r\n\ntwo",
    tokens: ["token-7692c3ad:deployer:one", "token-3fc4ccfe:deployer:two"],
  },
  {
    case: "with names and roles",
    text: "pm:deployer:one\nview-1:viewer:a:b",
    tokens: ["pm:deployer:one", "view-1:viewer:a:b"],
  },
])("tokens: $case", ({ text, tokens }) => {
  const { security } = configOf({ OPRC_CRM_SECURITY_TOKEN: text });
  expect(security.tokens?.map(({ name, role, token }) => `${name}:${role}:${token}`)).toEqual(tokens);
});

test.each([
  { case: "only separators", text: " , ,", says: "contains no token" },
  { case: "a character that is not valid in a header", text: "good,s3cret word", says: "token 2 has a character" },
])("rejects tokens: $case", ({ text: tokens, says }) => {
  const parsed = parseConfig(crmConfig, { env: { OPRC_CRM_SECURITY_TOKEN: tokens } });
  const text = parsed.ok ? "" : JSON.stringify(parsed.error);
  expect(text).toContain(says);
  expect(text).not.toContain("s3cret");
});

test("reads the token from a file and never prints it", () => {
  const sources = { env: { OPRC_CRM_SECURITY_TOKEN_FILE: "/t" }, readFile: () => "s3cret\n" };
  const parsed = parseConfig(crmConfig, sources);
  expect(parsed.ok && parsed.value.security.tokens).toMatchObject([{ token: "s3cret" }]);
  const report = configReportText(configReport(crmConfig, sources));
  expect(report).toContain("OPRC_CRM_SECURITY_TOKEN");
  expect(report).not.toContain("s3cret");
});

describe("example configuration files", () => {
  const folder = path.resolve(import.meta.dirname, "../../../deploy/config/class-runtime-manager");
  const load = (name: string) => {
    const text = readFileSync(path.join(folder, name), "utf8");
    const parsed = parseConfig(crmConfig, { env: {}, file: { path: name, text }, readFile: () => "a-token" });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    return parsed.value;
  };

  test("all load", () => {
    expect(readdirSync(folder).sort()).toEqual(["default.yaml", "development.yaml", "production.yaml"]);
    for (const name of readdirSync(folder)) load(name);
  });

  test("production.yaml requires mutual TLS, enforces, and has nothing to warn of", () => {
    const production = load("production.yaml");
    expect(production).toMatchObject({
      profile: "full",
      security: { mtls: true },
      enforcement: { level: "full", stabilityMs: 180_000 },
      k8s: { namespaces: { all: false, listed: ["oaas", "oaas-batch"] } },
    });
    expect(configWarnings(production)).toEqual([]);
  });
});
