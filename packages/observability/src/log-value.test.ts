import { Fault, internal, invalidArgument, unavailable } from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toLogValue } from "./log-value.ts";
import { isSecretKey } from "./secrets.ts";

describe("secrets", () => {
  test.each([
    "password",
    "dbPassword",
    "ETCD_PASSWORD",
    "api-key",
    "apiKey",
    "x_api_key",
    "Authorization",
    "set-cookie",
    "client_secret",
    "accessToken",
    "tokens",
    "privateKey",
    "credentials",
    "passwd",
    "PGPASSWORD",
    "connectionString",
    "SENTRY_DSN",
    "signing-key",
  ])("redacts the value of %s", (key) => {
    expect(toLogValue({ deep: [{ [key]: { even: "objects" } }] })).toEqual({ deep: [{ [key]: "***" }] });
  });

  test.each([
    "class_key",
    "key",
    "tokenizer",
    "secretary",
    "cookieless",
    "correlation_id",
    "partition_keys",
    "passwordless",
  ])("%s is not a secret", (key) => {
    expect(isSecretKey(key)).toBe(false);
  });

  test.each([
    ["connect to http://user:hunter2@host/path failed", "connect to http://***@host/path failed"],
    ["header Authorization: Bearer abcdefgh.ijkl", "header Authorization: Bearer ***"],
    ["basic abcdefgh", "basic ***"],
    ["a bearer of news", "a bearer of news"],
    ["http://host/a@b", "http://host/a@b"],
  ])("redacts credentials in the text %j", (text, want) => {
    expect(toLogValue(text)).toBe(want);
  });

  test("redacts secrets at any depth of a fault", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]{12,20}$/), (secret) => {
        const root = Object.assign(new Error(`GET http://u:${secret}@h`), {
          config: { headers: { authorization: secret } },
        });
        const fault = unavailable("etcd", "etcd is down", { cause: root, context: { password: secret } });
        expect(JSON.stringify(toLogValue({ fault, token: secret }))).not.toContain(secret);
      }),
    );
  });
});

describe("shapes", () => {
  test.each<[string, unknown, unknown]>([
    ["NaN as a text", Number.NaN, "NaN"],
    ["a bigint as a text", 12345678901234567890n, "12345678901234567890"],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["an invalid date", new Date(Number.NaN), "[invalid date]"],
    ["bytes as their count", new Uint8Array(3), "[3 bytes]"],
    ["a map", new Map([[1, "a"]]), { "1": "a" }],
    ["a set", new Set([1]), [1]],
    ["a URL", new URL("http://u:p@h/"), "http://***@h/"],
    ["a function", () => 1, "[function]"],
    ["without undefined members", { a: undefined, b: null }, { b: null }],
    ["the key __proto__", JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])("%s", (_why, value, want) => {
    expect(toLogValue(value)).toEqual(want);
  });

  test("truncates cycles, depth and length with a marker", () => {
    const cyclic: Record<string, unknown> = { a: 1 };
    cyclic["self"] = cyclic;
    expect(toLogValue(cyclic)).toEqual({ a: 1, self: "[circular]" });
    const deep = Array.from({ length: 30 }).reduce<unknown>((inner) => ({ inner }), "end");
    expect(JSON.stringify(toLogValue(deep))).toContain("[too deep]");
    expect((toLogValue(Array.from({ length: 150 }, () => 1)) as unknown[]).at(-1)).toBe("[50 more]");
    expect(toLogValue("x".repeat(9000))).toMatch(/x\[808 more\]$/);
  });

  test("a repeated object is not a cycle", () => {
    const shared = { a: 1 };
    expect(toLogValue([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });
});

describe("faults", () => {
  test("includes kind, code, detail, context, violations and causes", () => {
    const root = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const middle = unavailable("etcd", "etcd is down", { cause: root, retryAfterMs: 5 });
    const fault = invalidArgument("package", [{ path: "$.name", message: "is empty" }], {
      cause: middle,
      context: { tries: 3 },
      correlationId: "c1",
    });
    expect(toLogValue(fault)).toEqual({
      kind: "invalid-argument",
      code: "OAAS_INVALID_ARGUMENT",
      message: "package is invalid: $.name: is empty",
      retryable: false,
      subject: "package",
      violations: [{ path: "$.name", message: "is empty" }],
      correlation_id: "c1",
      context: { tries: 3 },
      cause: {
        kind: "unavailable",
        code: "OAAS_UNAVAILABLE",
        message: "etcd is down",
        retryable: true,
        dependency: "etcd",
        retryAfterMs: 5,
        cause: {
          name: "Error",
          message: "connect ECONNREFUSED",
          stack: expect.stringContaining("log-value.test.ts") as string,
          facts: { code: "ECONNREFUSED" },
        },
      },
    });
  });

  test("includes the parts of a partial failure and the errors of an aggregate", () => {
    const parts = [{ name: "eu", fault: unavailable("eu", "down") }];
    const partial = new Fault({ kind: "partial-failure", parts }, "half");
    expect(toLogValue(partial)).toMatchObject({ parts: [{ name: "eu", fault: { kind: "unavailable" } }] });
    expect(toLogValue(new AggregateError([new TypeError("a")], "many"))).toMatchObject({
      errors: [{ name: "TypeError" }],
    });
  });

  test("includes the stack of internal faults only", () => {
    expect(toLogValue(internal("bug"))).toHaveProperty("stack");
    expect(toLogValue(unavailable("x", "y"))).not.toHaveProperty("stack");
  });

  test("ends a cyclic chain of causes", () => {
    const a = new Error("a");
    const b = new Error("b", { cause: a });
    a.cause = b;
    expect(JSON.stringify(toLogValue(a))).toContain("[circular]");
  });
});
