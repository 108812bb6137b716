import { describe, expect, test } from "vitest";
import { changedSettings, configFault, configFilePath, configReport, configReportText, parseConfig } from "../index.ts";
import { defineConfig } from "../schema/define-config.ts";
import { loggingVariables } from "../schema/standard-variables.ts";
import { env } from "../schema/variable.ts";
import { ok } from "@oaas/foundation";

const schema = defineConfig({
  title: "Example",
  prefixes: ["EX_"],
  profile: "profile",
  configFile: "EX_CONFIG_FILE",
  variables: {
    profile: env("EX_PROFILE").oneOf(["dev", "full"]).default("dev").doc("Preset."),
    server: {
      host: env("EX_HOST").string().default("127.0.0.1").doc("Address."),
      port: env("EX_PORT").port().default(8080).alias("EX_OLD_PORT").doc("Port."),
      graceMs: env("EX_GRACE").duration({ bare: "s" }).default("10s").defaultIn({ full: "30s" }).doc("Grace."),
      origins: env("EX_ORIGINS").list().default(["a"]).reloads().doc("Origins."),
      labels: env("EX_LABELS").keyValues().default({}).doc("Labels."),
      tls: env("EX_TLS").bool().default(false).doc("TLS."),
      tenant: env("EX_TENANT").string().optional().doc("Tenant."),
    },
    auth: {
      token: env("EX_TOKEN").string().secret().optional().reloads().doc("Token."),
      clustersJson: env("EX_CLUSTERS")
        .json("clusters", (value) => ok(value))
        .secret({ members: ["api_key"] })
        .optional()
        .fileKey("clusters")
        .doc("Clusters."),
      pod: env("EX_POD").string().optional().fileKey(false).doc("Set by the manifest."),
    },
    log: loggingVariables(),
  },
  checks: [
    ({ server }) => (server.host === "0.0.0.0" && !server.tls ? [{ path: "$.EX_HOST", message: "needs EX_TLS" }] : []),
  ],
});

const FILES: Readonly<Record<string, string>> = { "/secret": "s3cret\n" };
const sourcesOf = (text: string, given: Readonly<Record<string, string>> = {}, args: readonly string[] = []) => ({
  env: given,
  args,
  file: { path: "ex.yaml", text },
  readFile: (path: string) => {
    const content = FILES[path];
    if (content === undefined) throw Object.assign(new Error("missing"), { code: "ENOENT" });
    return content;
  },
});

const parse = (...given: Parameters<typeof sourcesOf>) => parseConfig(schema, sourcesOf(...given));

function problemsOf(...given: Parameters<typeof sourcesOf>): string[] {
  const parsed = parse(...given);
  return parsed.ok
    ? []
    : configFault(schema, parsed.error)
        .message.split("\n")
        .slice(1)
        .map((line) => line.trim());
}

describe("values", () => {
  test("reads scalars, lists, mappings and documents with the parsers of the variables", () => {
    const text = `
profile: full
server:
  port: 9090
  grace: 1m30s
  origins: [https://a, https://b]
  labels: {team: a, size: 3}
  tls: true
  tenant: 012
auth:
  tokenFile: /secret
  clusters:
    edge: {url: "http://a", labels: {env: edge}}
log: {level: warn}
`;
    const parsed = parse(text);
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        profile: "full",
        server: {
          port: 9090,
          graceMs: 90_000,
          origins: ["https://a", "https://b"],
          labels: { team: "a", size: "3" },
          tls: true,
          tenant: "012",
        },
        auth: { token: "s3cret", clustersJson: { edge: { url: "http://a", labels: { env: "edge" } } } },
        log: { level: "warn" },
      },
    });
  });

  test("an empty file, an empty value and null set nothing; an empty list does", () => {
    expect(parse("")).toMatchObject({ ok: true, value: { server: { port: 8080, origins: ["a"] } } });
    expect(parse("server:\n  port:\n  host: ''\n")).toMatchObject({ ok: true, value: { server: { port: 8080 } } });
    expect(parse("server: {origins: []}\n")).toMatchObject({ ok: true, value: { server: { origins: [] } } });
  });

  test("a flag overrides the environment, which overrides the file, which overrides the profile", () => {
    const text = "profile: full\nserver: {port: 1, host: file, grace: 5s}\n";
    const sources = sourcesOf(text, { EX_HOST: "env", EX_OLD_PORT: "2" }, ["--ex-port=3"]);
    const report = configReportText(configReport(schema, sources));
    expect(report).toMatch(/^EX_PORT=3 +# flag --ex-port$/m);
    expect(report).toMatch(/^EX_HOST=env +# environment$/m);
    expect(report).toMatch(/^EX_GRACE=5s +# ex\.yaml:2, server\.grace$/m);
    expect(report).toMatch(/^EX_PROFILE=full +# ex\.yaml:1, profile$/m);
    expect(configReportText(configReport(schema, sourcesOf("profile: full\n")))).toMatch(
      /^EX_GRACE=30s +# default of profile full$/m,
    );
    expect(configReportText(configReport(schema, sourcesOf(text, {}, ["--ex-host="])))).toMatch(
      /^EX_HOST=127\.0\.0\.1 +# default$/m,
    );
  });

  test("prints no secret of a file", () => {
    const sources = sourcesOf("auth: {tokenFile: /secret, clusters: {a: {url: http://a}}}\n");
    const report = configReportText(configReport(schema, sources));
    expect(report).toMatch(/^EX_TOKEN=\*\*\* +# file \/secret, from auth\.tokenFile$/m);
    expect(report).not.toContain("s3cret");
  });
});

describe("rejects", () => {
  test.each([
    { why: "unknown key", text: "server:\n  prot: 1\n", problem: /^ex\.yaml:2:3: server\.prot: .*mean server\.port\?/ },
    {
      why: "variable as a key",
      text: "EX_OLD_PORT: 1\n",
      problem: /^ex\.yaml:1:1: EX_OLD_PORT: .*mean server\.port\?/,
    },
    { why: "key in another group", text: "port: 1\n", problem: /^ex\.yaml:1:1: port: .*mean server\.port\?/ },
    { why: "key of no file", text: "auth: {pod: x}\n", problem: /^ex\.yaml:1:8: auth\.pod: is an unknown setting/ },
    { why: "prototype", text: "__proto__: {a: 1}\n", problem: /__proto__.*is an unknown setting/ },
    { why: "duplicate key", text: "log: {}\nlog: {}\n", problem: /^ex\.yaml:2:1: the key "log" is repeated/ },
    { why: "no mapping", text: "- a\n", problem: /^ex\.yaml:1:1: is not a mapping of settings/ },
    { why: "scalar group", text: "server: 1\n", problem: /^ex\.yaml:1:1: server: is not a mapping/ },
    { why: "list for a scalar", text: "server: {port: [1]}\n", problem: /server\.port: must be a text, a number/ },
    {
      why: "invalid value",
      text: "server:\n  port: many\n",
      problem: /^ex\.yaml:2:3: server\.port \(EX_PORT\): must be a whole number from 0 to 65535, not "many"$/,
    },
    { why: "comma", text: "server:\n  origins:\n    - a\n    - b,c\n", problem: /^ex\.yaml:4:7: server\.origins\[1\]/ },
    { why: "inline secret", text: "auth: {token: x}\n", problem: /auth\.token: is a secret, .*set auth\.tokenFile$/ },
    {
      why: "inline secret member",
      text: "auth:\n  clusters:\n    - url: a\n      api_key: x\n",
      problem: /^ex\.yaml:4:7: auth\.clusters\[0\]\.api_key: is a secret.*set api_key_file$/,
    },
    {
      why: "unreadable secret file",
      text: "auth:\n  tokenFile: /none\n",
      problem: /^ex\.yaml:2:3: auth\.tokenFile \(EX_TOKEN\): cannot read the file \/none \(ENOENT\)$/,
    },
    {
      why: "rule between settings",
      text: "server:\n\n  host: 0.0.0.0\n",
      problem: /^ex\.yaml:3:3: server\.host \(EX_HOST\): needs EX_TLS$/,
    },
    { why: "syntax", text: "server: {port: 1\n", problem: /^ex\.yaml:\d:\d+: a list \[ \] or map/ },
    { why: "two documents", text: "log: {}\n---\nlog: {}\n", problem: /contains more than one document/ },
    { why: "too long", text: `#${"x".repeat(1024 * 1024)}`, problem: /longer than 1048576 characters/ },
    { why: "too deep", text: "[".repeat(50), problem: /nested too deeply/ },
    { why: "alias bomb", text: `a: &a [1]\nb: [${"*a,".repeat(200)}]\n`, problem: /too many aliases/ },
  ])("$why", ({ text, problem }) => {
    expect(problemsOf(text)).toContainEqual(expect.stringMatching(problem));
  });

  test("reports all problems at once, and no more than a bounded number", () => {
    expect(problemsOf("server: {prot: 1, port: many}\nlog: {level: loud}\n")).toHaveLength(3);
    const many = Array.from({ length: 5000 }, (_, index) => `k${index}: 1\n`).join("");
    expect(problemsOf(many)).toHaveLength(100);
  });

  test("does not print secret values", () => {
    expect(problemsOf("auth: {token: hunter2}\n").join()).not.toContain("hunter2");
  });

  test("a declaration in which two settings have the same key", () => {
    const variables = {
      lease: env("EX_LEASE").string().default("a").doc("Name."),
      leaseMs: env("EX_LEASE_TIME").duration().default("1s").doc("Time."),
    };
    expect(() => defineConfig({ title: "X", prefixes: [], configFile: "EX_FILE", variables })).toThrow(
      /same key lease/,
    );
  });
});

test("finds the file in --config, its variable, or nowhere", () => {
  const pathOf = (given: Record<string, string>, args: readonly string[]) =>
    configFilePath(schema, { env: given, args });
  expect(pathOf({}, [])).toBeUndefined();
  expect(pathOf({ EX_CONFIG_FILE: "a.yaml" }, [])).toBe("a.yaml");
  expect(pathOf({ EX_CONFIG_FILE: "a.yaml" }, ["--config", "b.yaml"])).toBe("b.yaml");
  expect(pathOf({ EX_CONFIG_FILE: "a.yaml" }, ["--config="])).toBeUndefined();
  expect(pathOf({}, ["--ex-config-file=c.yaml"])).toBe("c.yaml");
  expect(() => pathOf({}, ["--config"])).toThrow(/use --config FILE/);
});

test("separates changed settings that reload from those that need a restart", () => {
  const before = sourcesOf("server: {port: 1, origins: [a]}\nlog: {level: info}\n");
  const after = sourcesOf("server: {port: 2, origins: [b]}\nlog: {level: debug}\n");
  expect(changedSettings(schema, before, after)).toEqual({
    reloaded: ["EX_ORIGINS", "LOG_LEVEL"],
    restart: ["EX_PORT"],
  });
  expect(changedSettings(schema, before, before)).toEqual({ reloaded: [], restart: [] });
});
