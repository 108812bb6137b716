import { parseConfig } from "@oaas/config";
import { describe, expect, it } from "vitest";
import { isOpen, listenHost, pmConfig, servesMetrics, unusedSettings } from "./config.ts";

const read = (env: Readonly<Record<string, string>>) => parseConfig(pmConfig, { env });

function mistakesIn(env: Readonly<Record<string, string>>): readonly string[] {
  const parsed = read(env);
  return parsed.ok ? [] : parsed.error.map(({ path, message, fix }) => `${path} ${message}; ${fix}`);
}

describe("settings that cannot be", () => {
  it.each([
    { why: "a wrong value", env: { SERVER_PORT: "many" }, says: /SERVER_PORT must be a whole number .*"many"/ },
    { why: "a misspelt name", env: { STORAGE_TYP: "etcd" }, says: /STORAGE_TYP .*STORAGE_TYPE/ },
    { why: "open to others", env: { SERVER_HOST: "0.0.0.0" }, says: /SERVER_HOST .*no credentials.*AUTH_MODE=off/ },
    { why: "auth without credentials", env: { AUTH_MODE: "required" }, says: /AUTH_MODE requires credentials/ },
    { why: "a store not to be shared", env: { SERVER_WORKERS: "2" }, says: /SERVER_WORKERS .*STORAGE_TYPE=etcd/ },
    { why: "clusters that are no JSON", env: { CRM_CLUSTERS_JSON: "{" }, says: /CRM_CLUSTERS_JSON must be JSON/ },
    { why: "an issuer for anybody", env: { OIDC_ISSUER: "https://i" }, says: /OIDC_AUDIENCE is required/ },
    { why: "a user without a password", env: { ETCD_USERNAME: "pm" }, says: /ETCD_PASSWORD is missing/ },
    { why: "a certificate without its key", env: { ETCD_CLIENT_CERT_PATH: "/c" }, says: /ETCD_CLIENT_KEY_PATH is/ },
  ])("$why", ({ env, says }) => {
    expect(mistakesIn(env)).toEqual([expect.stringMatching(says)]);
  });

  it("are told all at once", () => {
    const found = mistakesIn({ SERVER_PORT: "x", DEPLOY_FAN_OUT: "0", STORAGE_TYPE: "paper" }).join();
    for (const name of ["SERVER_PORT", "DEPLOY_FAN_OUT", "STORAGE_TYPE"]) expect(found).toContain(name);
  });
});

describe("who is let in from where", () => {
  it.each([
    { env: {}, host: "127.0.0.1", open: true },
    { env: { AUTH_TOKENS_FILE: "/t" }, host: "0.0.0.0", open: false },
    { env: { AUTH_TOKENS_FILE: "/t", SERVER_HOST: "10.0.0.1" }, host: "10.0.0.1", open: false },
    { env: { OIDC_ISSUER: "https://i", OIDC_AUDIENCE: "pm" }, host: "0.0.0.0", open: false },
    { env: { AUTH_MODE: "off", SERVER_HOST: "0.0.0.0" }, host: "0.0.0.0", open: true },
    { env: { AUTH_MODE: "off", AUTH_TOKENS_FILE: "/t" }, host: "0.0.0.0", open: true },
    { env: { SERVER_HOST: "::1" }, host: "::1", open: true },
  ])("$env", ({ env, host, open }) => {
    const parsed = read(env);
    if (!parsed.ok) return expect.unreachable(JSON.stringify(parsed.error));
    return expect([listenHost(parsed.value), isOpen(parsed.value)]).toEqual([host, open]);
  });
});

describe("what it tells of itself", () => {
  const told = (env: Readonly<Record<string, string>>) => {
    const parsed = read(env);
    if (!parsed.ok) return expect.unreachable(JSON.stringify(parsed.error));
    return parsed.value;
  };

  it("serves metrics unless one of the two switches is off", () => {
    expect(servesMetrics(told({}))).toBe(true);
    expect(servesMetrics(told({ METRICS_ENABLED: "false" }))).toBe(false);
    expect(servesMetrics(told({ OBSERVABILITY_ENABLED: "false" }))).toBe(false);
  });

  it("takes the older name of the collector", () => {
    expect(told({ TRACING_ENDPOINT: "http://otel:4318" }).tracing).toMatchObject({
      enabled: true,
      endpoint: "http://otel:4318",
    });
  });

  it("says which settings of earlier releases have no effect", () => {
    expect(unusedSettings(told({ GATEWAY_URL: "http://g", STATIC_DIR: "static" }))).toEqual([
      "STATIC_DIR is set and not used",
      "GATEWAY_URL is set and not used",
    ]);
    expect(unusedSettings(told({}))).toEqual([]);
  });
});
