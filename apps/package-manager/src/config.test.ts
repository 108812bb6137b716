import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseConfig, unusedSettings } from "@oaas/config";
import { describe, expect, it } from "vitest";
import { isAuthenticationOff, listenHost, pmConfig, sendsTokensInClear, servesMetrics } from "./config.ts";

const read = (env: Readonly<Record<string, string>>) => parseConfig(pmConfig, { env });

function violationsIn(env: Readonly<Record<string, string>>): readonly string[] {
  const parsed = read(env);
  return parsed.ok ? [] : parsed.error.map(({ path, message, fix }) => `${path} ${message}; ${fix}`);
}

describe("invalid settings", () => {
  it.each([
    { why: "an invalid value", env: { SERVER_PORT: "many" }, message: /SERVER_PORT must be a whole number .*"many"/ },
    { why: "a misspelt name", env: { STORAGE_TYP: "etcd" }, message: /STORAGE_TYP .*STORAGE_TYPE/ },
    {
      why: "a public address without credentials",
      env: { SERVER_HOST: "0.0.0.0" },
      message: /SERVER_HOST .*no credentials.*AUTH_MODE=off/,
    },
    { why: "auth without credentials", env: { AUTH_MODE: "required" }, message: /AUTH_MODE requires credentials/ },
    {
      why: "a store that workers cannot share",
      env: { SERVER_WORKERS: "2" },
      message: /SERVER_WORKERS .*STORAGE_TYPE=etcd/,
    },
    { why: "clusters that are not JSON", env: { CRM_CLUSTERS_JSON: "{" }, message: /CRM_CLUSTERS_JSON must be JSON/ },
    {
      why: "less memory than one body needs",
      env: { SERVER_MAX_BODIES_BYTES: "8388608" },
      message: /SERVER_MAX_BODIES_BYTES is less than twice SERVER_MAX_BODY_BYTES .*at least 16777216/,
    },
    {
      why: "every page as admin",
      env: { SERVER_CORS_ORIGINS: "*" },
      message: /SERVER_CORS_ORIGINS .*authentication is/,
    },
    { why: "an issuer without an audience", env: { OIDC_ISSUER: "https://i" }, message: /OIDC_AUDIENCE is required/ },
    {
      why: "a group without a role",
      env: { OIDC_ROLE_MAPPING: '{"ops":"root"}' },
      message: /OIDC_ROLE_MAPPING\.ops must be viewer, deployer or admin/,
    },
    { why: "groups that are a list", env: { OIDC_ROLE_MAPPING: "[]" }, message: /OIDC_ROLE_MAPPING must be an object/ },
    { why: "an audit file without a name", env: { AUDIT_SINK: "file" }, message: /AUDIT_FILE is required/ },
    { why: "a collector without a URL", env: { AUDIT_SINK: "otlp" }, message: /AUDIT_OTLP_ENDPOINT is required/ },
    { why: "a misspelt audit setting", env: { AUDIT_FIL: "x" }, message: /AUDIT_FIL .*AUDIT_FILE/ },
    { why: "a user without a password", env: { ETCD_USERNAME: "pm" }, message: /ETCD_PASSWORD is missing/ },
    {
      why: "an encryption key of the wrong length, which is not repeated",
      env: { STORAGE_ENCRYPTION_KEY: "c2hvcnQ=" },
      message: /^(?!.*c2hvcnQ).*STORAGE_ENCRYPTION_KEY line 1 is not a key of 32 bytes.*openssl rand -base64 32/,
    },
    { why: "a certificate without its key", env: { ETCD_CLIENT_CERT_PATH: "/c" }, message: /ETCD_CLIENT_KEY_PATH is/ },
  ])("$why", ({ env, message }) => {
    expect(violationsIn(env)).toEqual([expect.stringMatching(message)]);
  });

  it("are reported all at once", () => {
    const found = violationsIn({ SERVER_PORT: "x", DEPLOY_FAN_OUT: "0", STORAGE_TYPE: "paper" }).join();
    for (const name of ["SERVER_PORT", "DEPLOY_FAN_OUT", "STORAGE_TYPE"]) expect(found).toContain(name);
  });
});

/** Every variable of the earlier implementation and of its documents, with a valid value. */
const PROMISED: Readonly<Record<string, string>> = {
  SERVER_PORT: "8080",
  SERVER_HOST: "127.0.0.1",
  SERVER_WORKERS: "1",
  STATIC_DIR: "static",
  STORAGE_TYPE: "etcd",
  ETCD_ENDPOINTS: "localhost:2379",
  ETCD_KEY_PREFIX: "/oaas/pm",
  ETCD_TIMEOUT: "30",
  ETCD_USERNAME: "pm",
  ETCD_PASSWORD: "secret",
  ETCD_TLS_ENABLED: "true",
  ETCD_CA_CERT_PATH: "/ca",
  ETCD_CLIENT_CERT_PATH: "/cert",
  ETCD_CLIENT_KEY_PATH: "/key",
  ETCD_TLS_INSECURE: "false",
  CRM_DEFAULT_URL: "http://crm:8088",
  CRM_DEFAULT_TIMEOUT: "30",
  CRM_DEFAULT_RETRY_ATTEMPTS: "3",
  CRM_CLUSTERS_JSON: '{"json":{"url":"http://json:8088"}}',
  CRM_CLUSTERS: "edge-1",
  CRM_CLUSTER_EDGE_1_URL: "https://edge:8088",
  CRM_CLUSTER_EDGE_1_TIMEOUT: "5",
  CRM_CLUSTER_EDGE_1_RETRY_ATTEMPTS: "1",
  CRM_CLUSTER_EDGE_1_API_KEY: "secret",
  CRM_CLUSTER_EDGE_1_TLS_ENABLED: "true",
  CRM_CLUSTER_EDGE_1_TLS_CA_CERT_PATH: "/ca",
  CRM_CLUSTER_EDGE_1_TLS_CLIENT_CERT_PATH: "/cert",
  CRM_CLUSTER_EDGE_1_TLS_CLIENT_KEY_PATH: "/key",
  CRM_CLUSTER_EDGE_1_TLS_INSECURE: "false",
  CRM_DEFAULT_CLUSTER: "json",
  CRM_HEALTH_CACHE_TTL: "15",
  CRM_HEALTH_CHECK_INTERVAL: "60",
  CRM_CIRCUIT_BREAKER_FAILURE_THRESHOLD: "5",
  CRM_CIRCUIT_BREAKER_TIMEOUT: "60",
  DEPLOY_MAX_RETRIES: "2",
  DEPLOY_ROLLBACK_ON_PARTIAL: "false",
  PACKAGE_DELETE_CASCADE: "false",
  OBSERVABILITY_ENABLED: "true",
  LOG_LEVEL: "info",
  LOG_FORMAT: "plain",
  METRICS_ENABLED: "true",
  METRICS_PORT: "9090",
  TRACING_ENABLED: "false",
  TRACING_ENDPOINT: "http://otel:4318",
  GATEWAY_URL: "http://gateway",
  GATEWAY_TIMEOUT: "30",
  GATEWAY_MAX_PAYLOAD_BYTES: "52428800",
  OPRC_COMPILER_URL: "http://compiler",
  OPRC_COMPILER_TIMEOUT: "120",
  OPRC_COMPILER_MAX_RETRIES: "2",
  OPRC_ARTIFACT_DIR: "/data/wasm-modules",
  OPRC_ARTIFACT_BASE_URL: "http://pm/api/v1/artifacts",
  OPRC_PM_CRM_DEFAULT_CLUSTER: "json",
  OPRC_PM_CRM_CLOUD_URL: "http://cloud:8088",
  OPRC_PM_CRM_CLOUD_TOKEN: "secret",
};

describe("settings of earlier releases", () => {
  it.each(Object.keys(PROMISED))("%s is accepted", (name) => {
    const violations = violationsIn(PROMISED).filter((violation) => violation.startsWith(`${name} `));
    expect(violations).toEqual([]);
  });

  it("are valid together", () => {
    expect(violationsIn(PROMISED)).toEqual([]);
  });
});

describe("the address and authentication", () => {
  it.each([
    { env: {}, host: "127.0.0.1", open: true },
    { env: { AUTH_TOKENS_FILE: "/t" }, host: "0.0.0.0", open: false },
    { env: { AUTH_TOKENS_FILE: "/t", SERVER_HOST: "10.0.0.1" }, host: "10.0.0.1", open: false },
    { env: { OIDC_ISSUER: "https://i", OIDC_AUDIENCE: "pm" }, host: "0.0.0.0", open: false },
    { env: { AUTH_MODE: "off", SERVER_HOST: "0.0.0.0" }, host: "0.0.0.0", open: true },
    { env: { AUTH_MODE: "off", AUTH_TOKENS_FILE: "/t" }, host: "127.0.0.1", open: true },
    { env: { SERVER_HOST: "::1" }, host: "::1", open: true },
  ])("$env", ({ env, host, open }) => {
    const parsed = read(env);
    if (!parsed.ok) return expect.unreachable(JSON.stringify(parsed.error));
    return expect([listenHost(parsed.value), isAuthenticationOff(parsed.value)]).toEqual([host, open]);
  });
});

describe("tokens in clear text", () => {
  const TOKENS = { AUTH_TOKENS_FILE: "/t" };
  const TLS = { OPRC_PM_SECURITY_TLS_CERT_FILE: "/c", OPRC_PM_SECURITY_TLS_KEY_FILE: "/k" };
  it.each([
    { env: TOKENS, clear: true },
    { env: { ...TOKENS, SERVER_HOST: "10.0.0.1" }, clear: true },
    { env: { OIDC_ISSUER: "https://i", OIDC_AUDIENCE: "pm" }, clear: true },
    { env: { ...TOKENS, SERVER_HOST: "127.0.0.1" }, clear: false },
    { env: { ...TOKENS, ...TLS }, clear: false },
    { env: { AUTH_MODE: "off", SERVER_HOST: "0.0.0.0" }, clear: false },
    { env: {}, clear: false },
  ])("$env", ({ env, clear }) => {
    const parsed = read(env);
    if (!parsed.ok) return expect.unreachable(JSON.stringify(parsed.error));
    return expect(sendsTokensInClear(parsed.value)).toBe(clear);
  });
});

describe("metrics and unused settings", () => {
  const parse = (env: Readonly<Record<string, string>>) => {
    const parsed = read(env);
    if (!parsed.ok) return expect.unreachable(JSON.stringify(parsed.error));
    return parsed.value;
  };

  it("metrics are served unless one of the two settings disables them", () => {
    expect(servesMetrics(parse({}))).toBe(true);
    expect(servesMetrics(parse({ METRICS_ENABLED: "false" }))).toBe(false);
    expect(servesMetrics(parse({ OBSERVABILITY_ENABLED: "false" }))).toBe(false);
  });

  it("lists settings of earlier releases that have no effect", () => {
    const names = (env: Readonly<Record<string, string>>) => unusedSettings(pmConfig, { env }).map(({ name }) => name);
    expect(names({ GATEWAY_URL: "http://g", STATIC_DIR: "static", TRACING_ENABLED: "true" })).toEqual([
      "STATIC_DIR",
      "GATEWAY_URL",
      "TRACING_ENABLED",
    ]);
    expect(names({ METRICS_ENABLED: "true" })).toEqual([]);
  });
});

describe("example configuration files", () => {
  const folder = path.resolve(import.meta.dirname, "../../../deploy/config/package-manager");
  const load = (name: string) =>
    parseConfig(pmConfig, {
      env: {},
      file: { path: name, text: readFileSync(path.join(folder, name), "utf8") },
      readFile: (file) => (file.endsWith("encryption-key") ? Buffer.alloc(32, 7).toString("base64") : "token"),
    });

  it("all load", () => {
    expect(readdirSync(folder).sort()).toEqual(["default.yaml", "development.yaml", "production.yaml"]);
    for (const name of readdirSync(folder)) expect(load(name), name).toMatchObject({ ok: true });
  });

  it("default.yaml states the defaults", () => {
    const [file, defaults] = [load("default.yaml"), read({})];
    if (!file.ok || !defaults.ok) throw new Error("invalid");
    expect(file.value).toEqual({ ...defaults.value, server: { ...defaults.value.server, host: "127.0.0.1" } });
  });

  it("production.yaml requires tokens, TLS and a shared store", () => {
    const production = load("production.yaml");
    if (!production.ok) throw new Error("invalid");
    expect(isAuthenticationOff(production.value)).toBe(false);
    expect(sendsTokensInClear(production.value)).toBe(false);
    expect(production.value).toMatchObject({
      storage: { type: "etcd", etcdTls: true },
      crm: { defaultCluster: "eu-west" },
    });
  });
});
