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

describe("the forms of clusters", () => {
  const forms: { name: string; env: Env; clusters: readonly object[]; defaultCluster?: string; notes?: number }[] = [
    { name: "nothing", env: {}, clusters: [] },
    {
      name: "the default address",
      env: { CRM_DEFAULT_URL: "http://localhost:8088", CRM_DEFAULT_TIMEOUT: "30", CRM_DEFAULT_RETRY_ATTEMPTS: "5" },
      clusters: [{ name: "default", url: "http://localhost:8088", timeoutSeconds: 30, retryAttempts: 5 }],
      defaultCluster: "default",
    },
    {
      name: "JSON by name",
      env: json({ edge: { url: "http://a:1", api_key: "k", labels: { env: "edge" } }, "eu.1": { url: "https://b" } }),
      clusters: [
        { name: "edge", url: "http://a:1", token: "k", labels: { env: "edge" }, retryAttempts: 3 },
        { name: "eu.1", url: "https://b" },
      ],
    },
    {
      name: "JSON as a list",
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
      name: "a list of names",
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
      name: "one by one",
      env: {
        OPRC_PM_CRM_EDGE_1_URL: "http://a",
        OPRC_PM_CRM_EDGE_1_TOKEN_FILE: "/run/token",
        OPRC_PM_CRM_DEFAULT_CLUSTER: "edge-1",
      },
      clusters: [{ name: "edge-1", url: "http://a", tokenFile: "/run/token" }],
      defaultCluster: "edge-1",
    },
    {
      name: "JSON before the list before the default, and one by one beside them",
      env: {
        ...json({ a: { url: "http://a" } }),
        CRM_CLUSTERS: "b",
        CRM_CLUSTER_B_URL: "http://b",
        CRM_DEFAULT_URL: "http://d",
        OPRC_PM_CRM_C_URL: "http://c",
      },
      clusters: [{ name: "a" }, { name: "c" }],
      notes: 3,
    },
    {
      name: "one address under two names, which counts twice",
      env: json({ a: { url: "http://a:80" }, b: { url: "https://a" }, c: { url: "http://A/" } }),
      clusters: [{ name: "a" }, { name: "b" }, { name: "c" }],
      notes: 1,
    },
  ];
  it.each(forms)("$name", ({ env, clusters, defaultCluster, notes }) => {
    const found = read(env);
    expect(found).toMatchObject({ violations: [], clusters });
    expect(found.clusters).toHaveLength(clusters.length);
    if ("notes" in found) {
      expect(found.defaultCluster).toBe(defaultCluster);
      expect(found.notes).toHaveLength(notes ?? 0);
    }
  });

  const mistakes: { name: string; env: Env; found: readonly RegExp[] }[] = [
    {
      name: "everything wrong in JSON is told at once",
      env: json({ edge: { url: "ftp://a", timout: 3 }, "-x": { url: "http://b" }, c: 3, d: { url: "http://d/x?y" } }),
      found: [
        /CRM_CLUSTERS_JSON\.edge\.timout is not known/,
        /CRM_CLUSTERS_JSON\.edge\.url/,
        /CRM_CLUSTERS_JSON\['-x'\]/,
        /CRM_CLUSTERS_JSON\.c is no object/,
        /CRM_CLUSTERS_JSON\.d\.url has something behind/,
      ],
    },
    {
      name: "a name twice in a list",
      env: json([
        { name: "a", url: "http://a" },
        { name: "a", url: "http://b" },
      ]),
      found: [/\[1\]\.name names a cluster twice/],
    },
    {
      name: "a word of the API as a name, in JSON",
      env: json({ health: { url: "http://a" } }),
      found: [/CRM_CLUSTERS_JSON\.health\.name .*is a word of the API/],
    },
    {
      name: "a word of the API as a name, in a list",
      env: { CRM_CLUSTERS: "a,health", CRM_CLUSTER_A_URL: "http://a", CRM_CLUSTER_HEALTH_URL: "http://h" },
      found: [/CRM_CLUSTERS\[1\] "health" is a word of the API/],
    },
    {
      name: "a word of the API as a name, one by one",
      env: { OPRC_PM_CRM_HEALTH_URL: "http://h" },
      found: [/OPRC_PM_CRM_HEALTH_URL "health" is a word of the API/],
    },
    {
      name: "a file that is no path",
      env: json({ a: { url: "http://a", api_key_file: "" } }),
      found: [/CRM_CLUSTERS_JSON\.a\.api_key_file is empty/],
    },
    { name: "no list at all", env: { CRM_CLUSTERS_JSON: "7" }, found: [/neither an object nor a list/] },
    { name: "no JSON", env: { CRM_CLUSTERS_JSON: "{" }, found: [/must be JSON/] },
    { name: "a name without an address", env: { CRM_CLUSTERS: "edge" }, found: [/CRM_CLUSTER_EDGE_URL is not set/] },
    {
      name: "an address without its name in the list",
      env: { CRM_CLUSTERS: "a", CRM_CLUSTER_A_URL: "http://a", CRM_CLUSTER_B_URL: "http://b" },
      found: [/CRM_CLUSTER_B_URL belongs to no cluster/],
    },
    {
      name: "two names with the same variables",
      env: { CRM_CLUSTERS: "a-b,a.b", CRM_CLUSTER_A_B_URL: "http://a" },
      found: [/CRM_CLUSTERS\[1\] a\.b and a-b share/],
    },
    {
      name: "TLS said and not used",
      env: {
        CRM_CLUSTERS: "a",
        CRM_CLUSTER_A_URL: "http://a",
        CRM_CLUSTER_A_TLS_ENABLED: "true",
        CRM_CLUSTER_A_TLS_CLIENT_CERT_PATH: "/c",
      },
      found: [/TLS_CA_CERT_PATH says how to use TLS/, /has one of client certificate/, /TLS_ENABLED is on/],
    },
    {
      name: "a token twice",
      env: { OPRC_PM_CRM_A_URL: "http://a", OPRC_PM_CRM_A_TOKEN: "x", OPRC_PM_CRM_A_TOKEN_FILE: "/f" },
      found: [/OPRC_PM_CRM_A_TOKEN is given as a value and as a file/],
    },
    {
      name: "a token that no header can carry",
      env: {
        CRM_CLUSTERS: "a",
        CRM_CLUSTER_A_URL: "http://a",
        CRM_CLUSTER_A_API_KEY: "two\nlines",
        OPRC_PM_CRM_B_URL: "http://b",
        OPRC_PM_CRM_B_TOKEN: "a b",
      },
      found: [/CRM_CLUSTER_A_API_KEY has a character/, /OPRC_PM_CRM_B_TOKEN has a character/],
    },
    {
      name: "a password in an address",
      env: { CRM_DEFAULT_URL: "http://u:p@host" },
      found: [/CRM_DEFAULT_URL carries a user/],
    },
    {
      name: "a default that is no cluster",
      env: { CRM_DEFAULT_URL: "http://a", CRM_DEFAULT_CLUSTER: "b" },
      found: [/CRM_DEFAULT_CLUSTER b is no configured cluster/],
    },
    {
      name: "one cluster in two forms",
      env: { ...json({ a: { url: "http://a" } }), OPRC_PM_CRM_A_URL: "http://b" },
      found: [/OPRC_PM_CRM_A_URL a is named by another form/],
    },
    { name: "a number that is none", env: { CRM_DEFAULT_RETRY_ATTEMPTS: "many" }, found: [/RETRY_ATTEMPTS/] },
    { name: "a misspelt variable", env: { CRM_CLUSTER_JSON: "{}" }, found: [/CRM_CLUSTER_JSON/] },
  ];
  it.each(mistakes)("$name", ({ env, found }) => {
    const { violations } = read(env);
    expect(violations).toHaveLength(found.length);
    for (const pattern of found) expect(violations.some((one) => pattern.test(one))).toBe(true);
  });

  it("tells no secret, neither in reports nor in refusals", () => {
    const env = {
      ...json({ a: { url: "http://a", api_key: "hush-1", timeout: "hush-2" } }),
      OPRC_PM_CRM_B_URL: "http://b",
      OPRC_PM_CRM_B_TOKEN: "hush-3",
    };
    const refused = read(env).violations.join();
    expect(refused).not.toContain("hush");
    const shown = configReportText(
      configReport(schema, { env: { ...env, ...json({ a: { url: "http://a", api_key: "hush-1" } }) } }),
    );
    expect(shown).toContain("OPRC_PM_CRM_B_TOKEN");
    expect(shown).not.toContain("hush");
  });

  it("any JSON is read or refused with a path, never thrown at", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { violations } = read(json(value));
        for (const one of violations) expect(one).toMatch(/^\$\.CRM_CLUSTERS_JSON/);
      }),
    );
  });
});
