import { describe, expect, it } from "vitest";
import { tracingOptions } from "./tracing-options.ts";

const config = { timeoutMs: 1, sampler: "always_on", ratio: 1 } as const;

describe("tracingOptions", () => {
  it("returns undefined without an endpoint", () => {
    expect(tracingOptions(config, "a")).toBeUndefined();
    expect(tracingOptions(undefined, "a")).toBeUndefined();
  });

  it.each(["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"])("completes the path of %s", (endpoint) => {
    expect(tracingOptions({ ...config, endpoint }, "a")?.url).toBe("http://c:4318/v1/traces");
  });

  it("parses headers and ignores invalid pairs", () => {
    const headers = "X-Tenant=a%20b, authorization=Basic eA==,bad name=1,=2,alone,broken=%zz";
    expect(tracingOptions({ ...config, endpoint: "http://c", headers }, "a")?.headers).toEqual({
      "x-tenant": "a b",
      authorization: "Basic eA==",
      broken: "%zz",
    });
  });
});
