import fc from "fast-check";
import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, it } from "vitest";
import { SIGNALS } from "../samples.ts";
import { buildQuery, findOverrideProblems } from "./build-queries.ts";
import * as classQueries from "./class-queries.ts";
import { NAMING_SCHEMES, QUERY_TEMPLATES } from "./templates.ts";

/** Whether the PromQL grammar accepts a query. */
function isValid(query: string): boolean {
  let isError = false;
  parser.parse(query).iterate({
    enter: (node) => {
      isError ||= node.type.isError;
    },
  });
  return !isError && query.trim() !== "";
}

const scope = { namespaces: ["team-a", "team-b"], windowMs: 120_000 };
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"', "\\", "\n", "a|b", '"} or vector(1) #', "$window", "$&"),
);

describe("buildQuery", () => {
  const all = NAMING_SCHEMES.flatMap((scheme) => SIGNALS.map((signal) => ({ scheme, signal })));
  it.each(all)("$scheme $signal is valid, complete and selects the namespaces", ({ scheme, signal }) => {
    const query = buildQuery(signal, scope, scheme);
    expect(isValid(query), query).toBe(true);
    expect(query).not.toContain("$");
    // Every selector is limited to the namespaces: none reads the whole cluster.
    const selectors = query.match(/\{[^}]*\}/g) ?? [];
    expect(selectors.length).toBeGreaterThan(0);
    for (const selector of selectors) expect(selector).toContain('=~"team-a|team-b"');
  });

  it("notices an invalid query", () => {
    expect(isValid("sum by (a (rate(x[5m]))")).toBe(false);
  });

  it("stays valid and keeps its selectors, whatever the namespaces are called", () => {
    fc.assert(
      fc.property(
        fc.array(hostile, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...SIGNALS),
        (namespaces, signal) => {
          const query = buildQuery(signal, { ...scope, namespaces }, "prometheus");
          expect(isValid(query), query).toBe(true);
          const selectors = (text: string): number => countNodes(text, "VectorSelector");
          expect(selectors(query)).toBe(selectors(buildQuery(signal, scope, "prometheus")));
        },
      ),
    );
  });

  it("uses an override with its placeholders filled", () => {
    const overrides = { queue_length: "sum by (namespace, oaas_owner) (queue{namespace=~$namespaces}[$window])" };
    expect(buildQuery("queue_length", scope, "prometheus", overrides)).toBe(
      'sum by (namespace, oaas_owner) (queue{namespace=~"team-a|team-b"}[120s])',
    );
  });
});

describe("queries about one class", () => {
  const { podsCpuMillicores, podsMemoryBytes, deploymentLatencyP95, deploymentThroughput, deploymentCpuPercent } =
    classQueries;
  const selector = { namespace: "ns", name: "web" };
  const pods = { namespace: "ns", podPattern: "web-.*" };
  const texts: [string, string][] = [
    [classQueries.knativeRequestsPerSecond(selector), 'sum(rate(activator_request_count{namespace_name="ns", configuration_name="web"}[1m]))'],
    [classQueries.knativeLatencyP99Ms(selector), '1000 * max(histogram_quantile(0.99, sum(rate(activator_request_latencies_bucket{namespace_name="ns", configuration_name="web"}[1m])) by (revision_name, le)))'],
    [classQueries.httpLatencyP99Ms(selector), '1000 * histogram_quantile(0.99, sum(rate(http_server_requests_seconds_bucket{oaas_owner="web", namespace="ns"}[5m])) by (le))'],
    [podsCpuMillicores(pods), '1000 * sum(rate(container_cpu_usage_seconds_total{pod=~"web-.*",container!="",namespace="ns"}[5m]))'],
    [podsMemoryBytes(pods), 'sum(container_memory_working_set_bytes{pod=~"web-.*",container!="",namespace="ns"})'],
    [deploymentLatencyP95("d"), 'histogram_quantile(0.95, rate(http_request_duration_seconds_bucket{deployment_id="d"}[5m]))'],
    [deploymentThroughput("d"), 'rate(http_requests_total{deployment_id="d"}[5m])'],
    [deploymentCpuPercent("d"), 'rate(container_cpu_usage_seconds_total{deployment_id="d"}[5m]) * 100'],
  ]; // prettier-ignore
  it.each(texts)("%s", (query, expected) => {
    expect(query).toBe(expected);
    expect(isValid(query)).toBe(true);
  });

  it("escapes names", () => {
    fc.assert(
      fc.property(hostile, (name) => {
        for (const query of [classQueries.httpLatencyP99Ms({ namespace: name, name }), deploymentThroughput(name)]) {
          expect(isValid(query), query).toBe(true);
          expect(countNodes(query, "VectorSelector")).toBe(1);
        }
      }),
    );
  });
});

describe("findOverrideProblems", () => {
  it("accepts the default templates", () => {
    for (const scheme of NAMING_SCHEMES) expect(findOverrideProblems(QUERY_TEMPLATES[scheme])).toEqual([]);
  });

  const invalid: [unknown, string, RegExp][] = [
    ["sum(x)", "$", /map/],
    [[], "$", /map/],
    [{ rps: "x" }, "$.rps", /not a signal/],
    [{ restarts: 7 }, "$.restarts", /not a query/],
    [{ restarts: "" }, "$.restarts", /not a query/],
    [{ restarts: "sum(x)" }, "$.restarts", /namespaces/],
    [{ restarts: "x{n=~$namespaces,c=$class}" }, "$.restarts", /\$class/],
    [{ restarts: "sum(x{n=~$namespaces}" }, "$.restarts", /closing \)/],
    [{ restarts: "x{n=~$namespaces})" }, "$.restarts", /nothing opens/],
    [{ restarts: 'x{n=~$namespaces,a="b}' }, "$.restarts", /unclosed/],
    [{ restarts: `x{n=~$namespaces}${" ".repeat(9_000)}` }, "$.restarts", /longer/],
  ];
  it.each(invalid)("rejects %j at %s with a fix", (overrides, path, message) => {
    const problems = findOverrideProblems(overrides);
    expect(problems).toEqual([{ path, message: expect.stringMatching(message), fix: expect.any(String) }]);
  });
});

function countNodes(query: string, name: string): number {
  let count = 0;
  parser.parse(query).iterate({
    enter: (node) => {
      if (node.name === name) count += 1;
    },
  });
  return count;
}
