import { environmentConfig } from "@oaas/contracts/crd";
import { buildQuery, NAMING_SCHEMES, QUERY_TEMPLATES } from "@oaas/nfr/queries";
import { describe, expect, it } from "vitest";
import { checkQueries, environmentQueries } from "./check-queries.ts";

function specOf(queries: Record<string, string>) {
  const metadata = { name: "small", namespace: "ns" };
  const spec = { kind: "dev", metrics: { queries } };
  return environmentConfig.parse({ apiVersion: "oaas.io/v1alpha1", kind: "EnvironmentConfig", metadata, spec }).spec;
}

describe("checkQueries", () => {
  it.each(NAMING_SCHEMES)("accepts the queries of the cluster (%s)", (scheme) => {
    const spec = specOf(QUERY_TEMPLATES[scheme]);
    expect(checkQueries(spec)).toEqual([]);
    expect(environmentQueries(spec)).toEqual(QUERY_TEMPLATES[scheme]);
  });

  const invalid: [string, string, string, RegExp][] = [
    ["an unknown signal", "rps", "x{namespace=~$namespaces}", /not a signal/],
    ["an unknown placeholder", "restarts", "x{namespace=~$namespaces,class=$class}", /\$class/],
    ["no namespaces", "restarts", "sum(x)", /namespaces/],
    ["a syntax error", "restarts", "sum by (x{namespace=~$namespaces})", /not valid PromQL: 1:10/],
    ["an unknown function", "restarts", "speed(x{namespace=~$namespaces})", /unknown function with name "speed"/],
    ["a wrong type", "restarts", "rate(x{namespace=~$namespaces})", /not valid PromQL/],
    ["a selector of all namespaces", "restarts", "x{namespace=~$namespaces} or y", /selector without \$namespaces/],
    ["namespaces as a text", "restarts", 'y or label_replace(x, "a", "$namespaces", "", "")', /not valid PromQL/],
    ["an exclusion", "restarts", "x{namespace!~$namespaces}", /selector without \$namespaces/],
  ];
  it.each(invalid)("rejects %s, with the field and a fix", (_, signal, template, message) => {
    const violations = checkQueries(specOf({ [signal]: template }));
    const path = `$.metrics.queries.${signal}`;
    expect(violations).toEqual([{ path, message: expect.stringMatching(message), fix: expect.any(String) }]);
  });
});

describe("environmentQueries", () => {
  it("is undefined without queries", () => {
    expect(environmentQueries(specOf({}))).toBeUndefined();
  });

  it("replaces the query of its signal", () => {
    const queries = environmentQueries(specOf({ queue_length: "jobs{namespace=~$namespaces}" }));
    const scope = { namespaces: ["a"], windowMs: 60_000 };
    expect(buildQuery("queue_length", scope, "prometheus", queries)).toBe('jobs{namespace=~"a"}');
  });
});
