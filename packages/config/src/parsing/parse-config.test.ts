import { err, Fault, ok } from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  configHelp,
  configReport,
  defineConfig,
  env,
  loadConfig,
  nameInVariable,
  parseConfig,
  perName,
  unusedSettings,
} from "../index.ts";
import { configReportText } from "../output/report.ts";
import { crmLike } from "../testing/crm-like.ts";

/** Any sequence of UTF-16 code units, including lone surrogates and control characters. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

type Env = Readonly<Record<string, string>>;

const problems = (envOf: Env, args: readonly string[] = []): string[] => {
  const parsed = parseConfig(crmLike, { env: envOf, args });
  return parsed.ok
    ? []
    : parsed.error.map((violation) => `${violation.path}: ${violation.message}; ${violation.fix ?? ""}`);
};

const valueOf = (envOf: Env, args: readonly string[] = []) => loadConfig(crmLike, { env: envOf, args });

describe("values", () => {
  test("returns typed, deeply frozen defaults for an empty environment", () => {
    const config = valueOf({});
    expect(config.profile).toBe("dev");
    expect(config.httpPort).toBe(8088);
    expect(config.grpcPort).toBeUndefined();
    expect(config.enforcement).toEqual({ cooldownMs: 120_000, maxReplicaDelta: 30 });
    expect(config.clusters).toEqual({});
    expectTypeOf(config.profile).toEqualTypeOf<"dev" | "edge" | "full">();
    expectTypeOf(config.grpcPort).toEqualTypeOf<number | undefined>();
    expectTypeOf(config.clusters).toEqualTypeOf<
      Readonly<Record<string, { readonly url: string; readonly timeoutMs: number; readonly token: string | undefined }>>
    >();
    expect(() => Object.assign(config.enforcement, { cooldownMs: 1 })).toThrow(TypeError);
    expect(() => (config.matchLabels as unknown as string[]).push("x")).toThrow(TypeError);
  });

  test.each([
    ["dev", false, "debug"],
    ["edge", true, "info"],
    ["full", true, "info"],
    ["production", true, "info"],
  ])("uses the defaults of profile %s", (profile, hpa, level) => {
    const config = valueOf({ OPRC_CRM_PROFILE: profile });
    expect([config.features.hpa, config.log.level]).toEqual([hpa, level]);
  });

  test("a variable overrides the profile, a flag overrides the variable", () => {
    const envOf = { OPRC_CRM_PROFILE: "full", OPRC_CRM_FEATURES_HPA: "no", HTTP_PORT: "1" };
    expect(valueOf(envOf).features.hpa).toBe(false);
    expect(valueOf(envOf, ["--oprc-crm-features-hpa", "--HTTP_PORT=2"])).toMatchObject({
      features: { hpa: true },
      httpPort: 2,
    });
  });

  test("treats an empty value as not set; an empty flag unsets the variable", () => {
    expect(valueOf({ HTTP_PORT: "", OPRC_CRM_NOT_OURS: "" }).httpPort).toBe(8088);
    expect(valueOf({ HTTP_PORT: "1" }, ["--http-port="]).httpPort).toBe(8088);
  });
});

describe("families", () => {
  test("returns a record per NAME with defaults", () => {
    const config = valueOf({
      CRM_CLUSTER_EU_WEST_1_URL: "http://eu:8088",
      CRM_CLUSTER_US_URL: "https://us",
      CRM_CLUSTER_US_TIMEOUT: "5",
    });
    expect(config.clusters).toEqual({
      [nameInVariable("eu-west.1")]: { url: "http://eu:8088", timeoutMs: 30_000, token: undefined },
      US: { url: "https://us", timeoutMs: 5000, token: undefined },
    });
  });

  test("prefers the longest matching suffix", () => {
    const schema = defineConfig({
      title: "t",
      prefixes: [],
      variables: {
        clusters: perName("CLUSTER_<NAME>_", {
          path: env("PATH").path().optional().doc("d"),
          certPath: env("CERT_PATH").path().optional().doc("d"),
        }),
      },
    });
    expect(loadConfig(schema, { env: { CLUSTER_EU_CERT_PATH: "/c" } }).clusters).toEqual({
      EU: { path: undefined, certPath: "/c" },
    });
  });

  test("reports a missing required member by its full name", () => {
    expect(problems({ CRM_CLUSTER_EU_TIMEOUT: "5" })).toEqual(["$.CRM_CLUSTER_EU_URL: is required; set it"]);
  });

  test("does not assign a declared variable to a family", () => {
    const schema = defineConfig({
      title: "t",
      prefixes: ["OPRC_PM_"],
      variables: {
        defaultUrl: env("OPRC_PM_CRM_DEFAULT_URL").url().optional().doc("d"),
        crms: perName("OPRC_PM_CRM_<NAME>_", { url: env("URL").url().doc("d") }),
      },
    });
    const config = loadConfig(schema, { env: { OPRC_PM_CRM_DEFAULT_URL: "http://a", OPRC_PM_CRM_B_URL: "http://b" } });
    expect(config).toEqual({ defaultUrl: "http://a", crms: { B: { url: "http://b" } } });
  });
});

describe("violations", () => {
  test("are reported together in one fault", () => {
    const envOf = { HTTP_PORT: "many", OPRC_CRM_PROFILE: "prodd", OPRC_CRM_FEATURES_HAP: "1", OPRC_CRM_PROM_URL: "x" };
    expect(problems(envOf)).toHaveLength(4);
    const fault = (() => {
      try {
        return loadConfig(crmLike, { env: envOf });
      } catch (thrown) {
        return thrown as Fault;
      }
    })() as Fault;
    expect(fault).toBeInstanceOf(Fault);
    expect([fault.kind, fault.code, fault.violations.length]).toEqual(["invalid-argument", "OAAS_CONFIG_INVALID", 4]);
    expect(fault.message).toContain('\n  HTTP_PORT: must be a whole number from 0 to 65535, not "many"');
    expect(fault.message).toContain(
      "OPRC_CRM_FEATURES_HAP: is an unknown variable; did you mean OPRC_CRM_FEATURES_HPA?",
    );
  });

  test.each([
    {
      case: "a transposition counts as one edit",
      name: "OPRC_CRM_FEATURES_HAP",
      nearest: "OPRC_CRM_FEATURES_HPA",
    },
    { case: "a superfluous prefix", name: "OPRC_CRM_HTTP_PORT", nearest: "HTTP_PORT" },
    { case: "an alias is a known name too", name: "OPRC_CRM_LOGG", nearest: "OPRC_CRM_LOG" },
    { case: "a file variable is a known name too", name: "OPRC_CRM_TOKEN_FIEL", nearest: "OPRC_CRM_TOKEN_FILE" },
    {
      case: "a family's member with the NAME kept",
      name: "CRM_CLUSTER_EU_WEST_ULR",
      nearest: "CRM_CLUSTER_EU_WEST_URL",
    },
  ])("unknown $name: did you mean $nearest? ($case)", ({ name, nearest }) => {
    expect(problems({ [name]: "1" })).toEqual([`$.${name}: is an unknown variable; did you mean ${nearest}?`]);
  });

  test("suggests the nearest flag for an unknown flag", () => {
    expect(problems({}, ["--htpp-port=1"])).toEqual([
      "$['--htpp-port']: is an unknown flag; did you mean --http-port?",
    ]);
  });

  test("rejects positional arguments and flags without a value, and does not print them", () => {
    expect(problems({}, ["--oprc-crm-features-hpa", "secret", "--http-port"])).toEqual([
      "$.arguments[1]: is not a flag; use --name=value or --name value",
      "$.HTTP_PORT: has no value; use --http-port=value",
    ]);
    expect(problems({}, ["--http-port", "--oprc-crm-features-hpa"])).toEqual([
      "$.HTTP_PORT: has no value; use --http-port=value",
    ]);
  });

  test("reads --name value like --name=value; a boolean flag needs no value", () => {
    const args = ["--http-port", "8080", "--oprc-crm-features-hpa", "--crm-cluster-eu-url", "http://eu"];
    expect(valueOf({}, args)).toMatchObject({
      httpPort: 8080,
      features: { hpa: true },
      clusters: { EU: { url: "http://eu" } },
    });
    expect(problems({}, ["--htpp-port", "1"])).toEqual([
      "$['--htpp-port']: is an unknown flag; did you mean --http-port?",
    ]);
  });

  test("a boolean flag of a family needs no value", () => {
    const schema = defineConfig({
      title: "t",
      prefixes: [],
      variables: {
        clusters: perName("CLUSTER_<NAME>_", {
          insecure: env("INSECURE").bool().default(false).doc("d"),
          url: env("URL").string().default("").doc("d"),
        }),
      },
    });
    expect(loadConfig(schema, { env: {}, args: ["--cluster-eu-insecure", "--cluster-eu-url", "x"] }).clusters).toEqual({
      EU: { insecure: true, url: "x" },
    });
  });

  test("accepts equal values under two names and rejects different ones", () => {
    expect(valueOf({ OPRC_CRM_LOG: "WARN", SERVICE_LOG: "warning" }).log.level).toBe("warn");
    expect(problems({ OPRC_CRM_LOG: "warn", SERVICE_LOG: "info" })).toEqual([
      "$.OPRC_CRM_LOG: conflicts with SERVICE_LOG, another name of the same setting; set only one of the two",
    ]);
  });

  test("checks rules between variables when each variable is valid", () => {
    expect(problems({ OPRC_CRM_PROFILE: "full", OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true" })).toEqual([
      "$.OPRC_CRM_PROM_URL: is required when enforcement is on; ",
    ]);
  });
});

describe("removed settings", () => {
  const envOf = {
    OPRC_CRM_MEMORY_HEADROOM: "any text",
    OPRC_CRM_MEMORY_LIMIT_FACTOR: "",
    TRACING_ENDPOINT: "x",
  };

  test("are accepted with any value and do not appear in the configuration", () => {
    expect(problems(envOf, ["--oprc-crm-memory-headroom=full"])).toEqual([]);
    expect(valueOf(envOf)).toEqual(valueOf({}));
  });

  test("are listed with the reason when they are set", () => {
    expect(
      unusedSettings(crmLike, { env: envOf, args: ["--tracing-endpoint=", "--oprc-crm-memory-headroom"] }),
    ).toEqual([{ name: "OPRC_CRM_MEMORY_HEADROOM", text: "true", reason: "Memory has other margins." }]);
    expect(unusedSettings(crmLike, { env: envOf }).map(({ name }) => name)).toEqual([
      "OPRC_CRM_MEMORY_HEADROOM",
      "TRACING_ENDPOINT",
    ]);
  });

  test("are suggested for a misspelt name", () => {
    expect(problems({ OPRC_CRM_MEMORY_HEADROOMS: "1" })).toEqual([
      "$.OPRC_CRM_MEMORY_HEADROOMS: is an unknown variable; did you mean OPRC_CRM_MEMORY_HEADROOM?",
    ]);
  });

  test("cannot be declared as used as well", () => {
    const variables = { port: env("A_PORT").port().default(1).doc("Port.") };
    expect(() => defineConfig({ title: "t", prefixes: [], variables, removedSettings: { No: ["A_PORT"] } })).toThrow(
      "A_PORT is declared twice",
    );
  });
});

describe("variables that Kubernetes injects", () => {
  test.each([
    ["OPRC_CRM_SERVICE_HOST", "10.0.0.1"],
    ["OPRC_CRM_SERVICE_PORT", "8088"],
    ["OPRC_CRM_SERVICE_PORT_GRPC_WEB", "8088"],
    ["OPRC_CRM_PORT", "tcp://10.0.0.1:8088"],
    ["OPRC_CRM_PORT_8088_TCP", "tcp://10.0.0.1:8088"],
    ["OPRC_CRM_PORT_8088_TCP_PROTO", "tcp"],
    ["OPRC_CRM_PORT_8088_TCP_PORT", "8088"],
    ["OPRC_CRM_PORT_53_UDP_ADDR", "fd00::1"],
    ["OPRC_CRM_GATEWAY_PORT", "tcp://[fd00::1]:80"],
  ])("ignores %s=%s", (name, value) => {
    expect(problems({ [name]: value })).toEqual([]);
  });

  test("ignores a Service address in a declared port variable", () => {
    expect(valueOf({ HTTP_PORT: "tcp://10.0.0.1:80" }).httpPort).toBe(8088);
  });

  test("reports an unknown port variable with a number", () => {
    expect(problems({ OPRC_CRM_PORT: "8088" })).toHaveLength(1);
  });
});

describe("files", () => {
  const readFile = (path: string): string => {
    if (path === "/s/token") return "s3cret value\n";
    if (path === "/s/empty") return "\n";
    throw Object.assign(new Error("nope"), { code: "ENOENT" });
  };
  const load = (envOf: Env, args: readonly string[] = []) => parseConfig(crmLike, { env: envOf, args, readFile });

  test("reads a secret from a file without its trailing newline", () => {
    expect(load({ OPRC_CRM_TOKEN_FILE: "/s/token" })).toMatchObject({ ok: true, value: { token: "s3cret value" } });
    expect(load({}, ["--oprc-crm-token-file=/s/token"])).toMatchObject({ value: { token: "s3cret value" } });
    const member = load({ CRM_CLUSTER_A_URL: "http://a", CRM_CLUSTER_A_TOKEN_FILE: "/s/token" });
    expect(member).toMatchObject({ value: { clusters: { A: { token: "s3cret value" } } } });
  });

  test.each([
    {
      case: "missing file",
      env: { OPRC_CRM_TOKEN_FILE: "/s/no" },
      message: "cannot read the file /s/no (ENOENT)",
    },
    { case: "empty file", env: { OPRC_CRM_TOKEN_FILE: "/s/empty" }, message: "names the empty file /s/empty" },
    {
      case: "two sources with different values",
      env: { OPRC_CRM_TOKEN: "other", OPRC_CRM_TOKEN_FILE: "/s/token" },
      message: "conflicts with OPRC_CRM_TOKEN_FILE, another name of the same setting",
    },
  ])("reports $case", ({ env: envOf, message }) => {
    expect(load(envOf)).toMatchObject({ ok: false, error: [{ message }] });
  });

  test("rejects a file variable when files cannot be read", () => {
    expect(problems({ OPRC_CRM_TOKEN_FILE: "/s/token" })[0]).toContain("reading files is not supported here");
  });
});

describe("invalid declarations", () => {
  const variable = env("A").int({ max: 5 }).default(1).doc("d");
  const define = (variables: Parameters<typeof defineConfig>[0]["variables"]) => () =>
    defineConfig({ title: "t", prefixes: [], variables });

  test.each([
    ["declared twice", { a: variable, b: variable }],
    ["declared twice", { a: variable, b: env("B").int().default(1).doc("d").alias("A") }],
    ["has no doc", { a: env("A").int().default(1) }],
    ["not a valid variable name", { a: env("a-b").int().default(1).doc("d") }],
    ["an invalid default", { a: env("A").int({ max: 5 }).default(6).doc("d") }],
    ["unknown profile", { a: env("A").int().default(1).defaultIn({ dev: 2 }).doc("d") }],
  ])("%s", (message, variables) => {
    expect(define(variables as never)).toThrow(message);
  });

  test("rejects a default that is not a duration", () => {
    expect(() => env("A").duration().default("5 parsecs")).toThrow("is not a valid duration");
  });
});

describe("properties", () => {
  const known = ["HTTP_PORT", "OPRC_CRM_PROFILE", "OPRC_CRM_TOKEN", "OPRC_CRM_TOKEN_FILE", "OPRC_CRM_PROM_URL"];
  const names = fc.oneof(
    fc.constantFrom(...known, "CRM_CLUSTER_A_URL", "CRM_CLUSTER__URL", "OPRC_CRM_", "__proto__", "SERVICE_LOG"),
    fc.string(),
    fc.string().map((text) => `OPRC_CRM_${text}`),
    fc.string().map((text) => `CRM_CLUSTER_${text}`),
  );
  const envs = fc.dictionary(names, fc.oneof(anyText, fc.constantFrom("1", "true", "full")));

  test("never throws, and an invalid configuration has violations", () => {
    fc.assert(
      fc.property(
        envs,
        fc.array(
          fc.oneof(
            fc.string(),
            names.map((name) => `--${name}=1`),
          ),
        ),
        (envOf, args) => {
          const readFile = (): string => {
            throw new Error("no file");
          };
          const parsed = parseConfig(crmLike, { env: envOf, args, readFile });
          configReport(crmLike, { env: envOf, args, readFile });
          expect(parsed.ok || parsed.error.length > 0).toBe(true);
        },
      ),
    );
  });

  test("reports the origin of the effective value", () => {
    const sources = fc.record({
      flag: fc.option(fc.nat(1000), { nil: undefined }),
      variable: fc.option(fc.nat(1000), { nil: undefined }),
      alias: fc.option(fc.nat(1000), { nil: undefined }),
      profile: fc.constantFrom("dev", "edge", "full"),
    });
    fc.assert(
      fc.property(sources, ({ flag, variable, alias, profile }) => {
        fc.pre(variable === undefined || alias === undefined || flag !== undefined || variable === alias);
        const envOf = {
          OPRC_CRM_PROFILE: profile,
          ...(variable === undefined ? {} : { OPRC_CRM_LIMITS_MAX_REPLICAS: String(variable) }),
          ...(alias === undefined ? {} : { MAX_REPLICAS: String(alias) }),
        };
        const args = flag === undefined ? [] : [`--oprc-crm-limits-max-replicas=${flag}`];
        const entry = configReport(crmLike, { env: envOf, args }).find(
          (one) => one.name === "OPRC_CRM_LIMITS_MAX_REPLICAS",
        );
        const byDefault = profile === "full" ? (["50", "profile"] as const) : (["20", "default"] as const);
        const [value, from] =
          flag !== undefined
            ? [String(flag), "flag"]
            : variable !== undefined
              ? [String(variable), "env"]
              : alias !== undefined
                ? [String(alias), "alias"]
                : byDefault;
        expect([entry?.value, entry?.origin.from]).toEqual([value, from]);
      }),
    );
  });

  test("never prints a secret in report, help or errors", () => {
    const secrets = fc
      .string({ unit: "grapheme-ascii", minLength: 8, maxLength: 30 })
      .map((text) => `#${text.trim()}#q7`);
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom("ok", "bad-port", "bad-json", "contradiction", "positional"),
        (secret, turn) => {
          const envOf: Env = {
            OPRC_CRM_TOKEN: secret,
            OPRC_CRM_PIN: secret,
            OPRC_CRM_PROM_URL: `http://user:${encodeURIComponent(secret)}@host/path`,
            OPRC_CRM_CLUSTERS: `{"token": "${secret}", ${turn === "bad-json" ? secret : ""}`,
            CRM_CLUSTER_A_URL: `nonsense://user:${secret}@host`,
            CRM_CLUSTER_A_TOKEN: secret,
            ...(turn === "bad-port" ? { HTTP_PORT: "x" } : {}),
            ...(turn === "contradiction" ? { CRM_TOKEN: `${secret}2` } : {}),
          };
          const args = turn === "positional" ? ["--oprc-crm-token", secret] : [];
          const parsed = parseConfig(crmLike, { env: envOf, args });
          const everything = [
            configReportText(configReport(crmLike, { env: envOf, args })),
            configHelp(crmLike),
            parsed.ok ? "" : JSON.stringify(parsed.error),
          ].join("\n");
          expect(parsed.ok).toBe(false);
          expect(everything).not.toContain(secret);
          expect(everything).not.toContain(encodeURIComponent(secret));
        },
      ),
    );
  });
});

test("prefixes the violations of a JSON check with the variable", () => {
  const schema = defineConfig({
    title: "t",
    prefixes: [],
    variables: {
      clusters: env("CLUSTERS_JSON")
        .json("array of clusters", (value) =>
          Array.isArray(value) ? ok(value as unknown[]) : err([{ path: "$.kind", message: "must be an array" }]),
        )
        .doc("d"),
    },
  });
  expect(parseConfig(schema, { env: { CLUSTERS_JSON: "{}" } })).toEqual({
    ok: false,
    error: [{ path: "$.CLUSTERS_JSON.kind", message: "must be an array" }],
  });
  const good = parseConfig(schema, { env: { CLUSTERS_JSON: '[{"a":[1]}]' } });
  expect(good).toEqual({ ok: true, value: { clusters: [{ a: [1] }] } });
  expect(good.ok && Object.isFrozen((good.value.clusters as { a: number[] }[])[0]?.a)).toBe(true);
});
