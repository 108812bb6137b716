import { configReportText, configReport, defineConfig, parseConfig } from "@oaas/config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkClusters, clustersFrom } from "./configured-clusters.ts";
import { clusterVariables } from "./cluster-variables.ts";

const schema = defineConfig({
  title: "test",
  prefixes: ["CRM_", "OPRC_PM_"],
  variables: { crm: clusterVariables },
  checks: [({ crm }) => checkClusters(crm)],
});

type Env = Readonly<Record<string, string>>;

function read(env: Env) {
  const parsed = parseConfig(schema, { env });
  if (!parsed.ok) return { violations: parsed.error.map(({ path, message }) => `${path} ${message}`), clusters: [] };
  const made = clustersFrom(parsed.value.crm);
  if (!made.ok) return expect.unreachable("the schema's own check passed");
  return { violations: [], ...made.value };
}

const json = (value: unknown): Env => ({ CRM_CLUSTERS_JSON: JSON.stringify(value) });

describe("clustersFrom", () => {
  const forms: { name: string; env: Env; clusters: readonly object[]; defaultCluster?: string; warnings?: number }[] = [
    { name: "no settings", env: {}, clusters: [] },
    {
      name: "CRM_DEFAULT_URL",
      env: { CRM_DEFAULT_URL: "http://localhost:8088", CRM_DEFAULT_TIMEOUT: "30", CRM_DEFAULT_RETRY_ATTEMPTS: "5" },
      clusters: [{ name: "default", url: "http://localhost:8088", timeoutSeconds: 30, retryAttempts: 5 }],
      defaultCluster: "default",
    },
    {
      name: "CRM_CLUSTERS_JSON as an object",
      env: json({ edge: { url: "http://a:1", api_key: "k", labels: { env: "edge" } }, "eu.1": { url: "https://b" } }),
      clusters: [
        { name: "edge", url: "http://a:1", token: "k", labels: { env: "edge" }, retryAttempts: 3 },
        { name: "eu.1", url: "https://b" },
      ],
    },
    {
      name: "CRM_CLUSTERS_JSON as a list",
      env: json([
        {
          name: "edge",
          url: "https://a:1",
          timeout: 7,
          retry_attempts: 0,
          api_key_file: "/run/token",
          tls: { ca_cert: "/ca", client_cert: "/c", client_key: "/k", insecure: true },
        },
      ]),
      clusters: [
        {
          name: "edge",
          timeoutSeconds: 7,
          retryAttempts: 0,
          tokenFile: "/run/token",
          tls: { caFile: "/ca", certificateFile: "/c", keyFile: "/k", insecure: true },
        },
      ],
    },
    {
      name: "promised availability and cost in CRM_CLUSTERS_JSON",
      env: json({
        a: {
          url: "http://a",
          availability: { value: 0.999, source: "contract", date: "2026-01-31", weight_hours: 24 },
          cost: { cpu_hour: 0.04, gib_hour: 0, currency: "EUR" },
        },
        b: { url: "http://b", availability: { value: 0.9, source: "estimate", date: "2026-01-31" } },
      }),
      clusters: [
        {
          name: "a",
          availability: { value: 0.999, source: "contract", date: "2026-01-31", weightHours: 24 },
          cost: { cpuHour: 0.04, gibHour: 0, currency: "EUR" },
        },
        { name: "b", availability: { value: 0.9, weightHours: 168 } },
      ],
    },
    {
      name: "CRM_CLUSTERS",
      env: {
        CRM_CLUSTERS: "edge-1, cloud",
        CRM_CLUSTER_EDGE_1_URL: "https://a",
        CRM_CLUSTER_EDGE_1_TIMEOUT: "2s",
        CRM_CLUSTER_EDGE_1_TLS_ENABLED: "true",
        CRM_CLUSTER_EDGE_1_TLS_CA_CERT_PATH: "/ca",
        CRM_CLUSTER_EDGE_1_API_KEY: "k",
        CRM_CLUSTER_CLOUD_URL: "http://b:9",
        CRM_CLUSTER_CLOUD_LABELS: "env=cloud,zone=1",
        CRM_DEFAULT_CLUSTER: "cloud",
      },
      clusters: [
        { name: "edge-1", timeoutSeconds: 2, token: "k", tls: { caFile: "/ca", insecure: false } },
        { name: "cloud", labels: { env: "cloud", zone: "1" } },
      ],
      defaultCluster: "cloud",
    },
    {
      name: "OPRC_PM_CRM_<NAME>_ variables",
      env: {
        OPRC_PM_CRM_EDGE_1_URL: "http://a",
        OPRC_PM_CRM_EDGE_1_TOKEN_FILE: "/run/token",
        OPRC_PM_CRM_DEFAULT_CLUSTER: "edge-1",
      },
      clusters: [{ name: "edge-1", url: "http://a", tokenFile: "/run/token" }],
      defaultCluster: "edge-1",
    },
    {
      name: "CRM_CLUSTERS_JSON overrides CRM_CLUSTERS and CRM_DEFAULT_URL",
      env: {
        ...json({ a: { url: "http://a" } }),
        CRM_CLUSTERS: "b",
        CRM_CLUSTER_B_URL: "http://b",
        CRM_DEFAULT_URL: "http://d",
        OPRC_PM_CRM_C_URL: "http://c",
      },
      clusters: [{ name: "a" }, { name: "c" }],
      warnings: 3,
    },
    {
      name: "one address with two names is a warning",
      env: json({ a: { url: "http://a:80" }, b: { url: "https://a" }, c: { url: "http://A/" } }),
      clusters: [{ name: "a" }, { name: "b" }, { name: "c" }],
      warnings: 1,
    },
  ];
  it.each(forms)("$name", ({ env, clusters, defaultCluster, warnings }) => {
    const found = read(env);
    expect(found).toMatchObject({ violations: [], clusters });
    expect(found.clusters).toHaveLength(clusters.length);
    if ("warnings" in found) {
      expect(found.defaultCluster).toBe(defaultCluster);
      expect(found.warnings).toHaveLength(warnings ?? 0);
    }
  });

  const invalid: { name: string; env: Env; found: readonly RegExp[] }[] = [
    {
      name: "reports all violations of CRM_CLUSTERS_JSON together",
      env: json({ edge: { url: "ftp://a", timout: 3 }, "-x": { url: "http://b" }, c: 3, d: { url: "http://d/x?y" } }),
      found: [
        /CRM_CLUSTERS_JSON\.edge\.timout is unknown/,
        /CRM_CLUSTERS_JSON\.edge\.url/,
        /CRM_CLUSTERS_JSON\['-x'\]/,
        /CRM_CLUSTERS_JSON\.c is not an object/,
        /CRM_CLUSTERS_JSON\.d\.url has a path, query or fragment/,
      ],
    },
    {
      name: "a promise that is certain, undated or weightless, and a price below 0",
      env: json({
        a: { url: "http://a", availability: { value: 1, source: "x", date: "2026-02-30", weight_hours: 0 } },
        b: { url: "http://b", availability: { value: 0, source: "" } },
        c: { url: "http://c", cost: { cpu_hour: -1, currency: "euro" } },
        d: { url: "http://d", availability: 0.99 },
      }),
      found: [
        /a\.availability\.value is out of range/,
        /a\.availability\.date/,
        /a\.availability\.weight_hours is out of range/,
        /b\.availability\.value is out of range/,
        /b\.availability\.source is empty/,
        /b\.availability\.date/,
        /c\.cost\.cpu_hour is out of range/,
        /c\.cost\.gib_hour/,
        /c\.cost\.currency/,
        /d\.availability/,
      ],
    },
    {
      name: "a duplicate name in a list",
      env: json([
        { name: "a", url: "http://a" },
        { name: "a", url: "http://b" },
      ]),
      found: [/\[1\]\.name is a duplicate cluster name/],
    },
    {
      name: "a reserved name in CRM_CLUSTERS_JSON",
      env: json({ health: { url: "http://a" } }),
      found: [/CRM_CLUSTERS_JSON\.health\.name .*is reserved by the API/],
    },
    {
      name: "a reserved name in CRM_CLUSTERS",
      env: { CRM_CLUSTERS: "a,health", CRM_CLUSTER_A_URL: "http://a", CRM_CLUSTER_HEALTH_URL: "http://h" },
      found: [/CRM_CLUSTERS\[1\] "health" is reserved by the API/],
    },
    {
      name: "a reserved name in OPRC_PM_CRM_<NAME>_URL",
      env: { OPRC_PM_CRM_HEALTH_URL: "http://h" },
      found: [/OPRC_PM_CRM_HEALTH_URL "health" is reserved by the API/],
    },
    {
      name: "an empty file name",
      env: json({ a: { url: "http://a", api_key_file: "" } }),
      found: [/CRM_CLUSTERS_JSON\.a\.api_key_file is empty/],
    },
    { name: "neither an object nor a list", env: { CRM_CLUSTERS_JSON: "7" }, found: [/neither an object nor a list/] },
    { name: "invalid JSON", env: { CRM_CLUSTERS_JSON: "{" }, found: [/must be JSON/] },
    { name: "a name without a URL", env: { CRM_CLUSTERS: "edge" }, found: [/CRM_CLUSTER_EDGE_URL is not set/] },
    {
      name: "a URL of a cluster that is not listed",
      env: { CRM_CLUSTERS: "a", CRM_CLUSTER_A_URL: "http://a", CRM_CLUSTER_B_URL: "http://b" },
      found: [/CRM_CLUSTER_B_URL does not belong to a cluster/],
    },
    {
      name: "two names with the same variables",
      env: { CRM_CLUSTERS: "a-b,a.b", CRM_CLUSTER_A_B_URL: "http://a" },
      found: [/CRM_CLUSTERS\[1\] a\.b and a-b use the same variables/],
    },
    {
      name: "TLS settings for an http:// URL",
      env: {
        CRM_CLUSTERS: "a",
        CRM_CLUSTER_A_URL: "http://a",
        CRM_CLUSTER_A_TLS_ENABLED: "true",
        CRM_CLUSTER_A_TLS_CLIENT_CERT_PATH: "/c",
      },
      found: [/TLS_CA_CERT_PATH is set, but/, /has only one of client certificate/, /TLS_ENABLED is true/],
    },
    {
      name: "a token as value and file",
      env: { OPRC_PM_CRM_A_URL: "http://a", OPRC_PM_CRM_A_TOKEN: "x", OPRC_PM_CRM_A_TOKEN_FILE: "/f" },
      found: [/OPRC_PM_CRM_A_TOKEN is set as a value and as a file/],
    },
    {
      name: "a token with invalid characters",
      env: {
        CRM_CLUSTERS: "a",
        CRM_CLUSTER_A_URL: "http://a",
        CRM_CLUSTER_A_API_KEY: "two\nlines",
        OPRC_PM_CRM_B_URL: "http://b",
        OPRC_PM_CRM_B_TOKEN: "a b",
      },
      found: [/CRM_CLUSTER_A_API_KEY contains a character/, /OPRC_PM_CRM_B_TOKEN contains a character/],
    },
    {
      name: "a password in a URL",
      env: { CRM_DEFAULT_URL: "http://u:p@host" },
      found: [/CRM_DEFAULT_URL contains a user/],
    },
    {
      name: "a default that is not a cluster",
      env: { CRM_DEFAULT_URL: "http://a", CRM_DEFAULT_CLUSTER: "b" },
      found: [/CRM_DEFAULT_CLUSTER b is not a configured cluster/],
    },
    {
      name: "one cluster configured twice",
      env: { ...json({ a: { url: "http://a" } }), OPRC_PM_CRM_A_URL: "http://b" },
      found: [/OPRC_PM_CRM_A_URL cluster a is configured twice/],
    },
    { name: "an invalid number", env: { CRM_DEFAULT_RETRY_ATTEMPTS: "many" }, found: [/RETRY_ATTEMPTS/] },
    { name: "an unknown variable", env: { CRM_CLUSTER_JSON: "{}" }, found: [/CRM_CLUSTER_JSON/] },
  ];
  it.each(invalid)("$name", ({ env, found }) => {
    const { violations } = read(env);
    expect(violations).toHaveLength(found.length);
    for (const pattern of found) expect(violations.some((one) => pattern.test(one))).toBe(true);
  });

  it("never prints secrets in reports or violations", () => {
    const env = {
      ...json({ a: { url: "http://a", api_key: "s3cret-1", timeout: "s3cret-2" } }),
      OPRC_PM_CRM_B_URL: "http://b",
      OPRC_PM_CRM_B_TOKEN: "s3cret-3",
    };
    const reported = read(env).violations.join();
    expect(reported).not.toContain("s3cret");
    const printed = configReportText(
      configReport(schema, { env: { ...env, ...json({ a: { url: "http://a", api_key: "s3cret-1" } }) } }),
    );
    expect(printed).toContain("OPRC_PM_CRM_B_TOKEN");
    expect(printed).not.toContain("s3cret");
  });

  it("accepts or rejects any JSON without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { violations } = read(json(value));
        for (const one of violations) expect(one).toMatch(/^\$\.CRM_CLUSTERS_JSON/);
      }),
    );
  });
});
