import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCliRunner } from "./cli-runner.ts";

const FRESH = { observed_at: "2026-01-01T00:00:00Z", valid_until: "2999-01-01T00:00:00Z" };

const runtimeOf = (cluster: string, over: object) => ({
  id: `order-${cluster}`,
  deployment_unit_id: `order-${cluster}`,
  package_name: "shop",
  class_key: "shop.Order",
  target_environment: "ns",
  cluster_name: cluster,
  status: null,
  nfr_compliance: null,
  resource_refs: [],
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  partition_count: 1,
  ...over,
});

const functionOf = (function_key: string) => ({
  function_key,
  service: "s",
  port: 80,
  predicted_url: "http://s",
  observed_url: null,
  template: "dev",
  ready: true,
  reason: null,
  message: null,
  last_transition_time: null,
});

const statusOf = (over: object) => ({
  condition: "Running",
  phase: "RUNNING",
  message: null,
  last_updated: "2026-01-01T00:00:00Z",
  functions: [functionOf("place"), functionOf("cancel")],
  ...over,
});

const RUNTIMES = [
  runtimeOf("cloud", { status: statusOf({}) }),
  runtimeOf("edge", {
    status: statusOf({
      nfr_recommendations: [
        {
          component: "place",
          dimension: "replicas",
          target: 3,
          current: 1,
          evidence: {
            window: "10m",
            query: "q",
            values: { requests_per_second: 240.1, latency_p99_ms: 152.3, ready_replicas: 1 },
          },
          ...FRESH,
        },
        {
          component: "place",
          dimension: "memory",
          target: 134_217_728,
          current: 268_435_456,
          evidence: { window: "1d", query: "q", values: { p90_bytes: 100_000_000 } },
          ...FRESH,
          valid_until: "2026-01-01T00:10:00Z",
        },
      ],
      last_applied_recommendations: [{ component: "place", dimension: "replicas", target: 1, current: 2 }],
    }),
    nfr_compliance: {
      overall_status: "Violated",
      throughput_status: null,
      latency_status: "Violated",
      availability_status: null,
      last_checked: "2026-01-01T00:00:00Z",
      measurements: [
        {
          requirement: "min_throughput_rps",
          component: "place",
          status: "met",
          required: 100,
          unit: "rps",
          burn_rates: [],
        },
        {
          requirement: "max_latency_ms",
          component: "place",
          status: "violated",
          required: 100,
          unit: "ms",
          burn_rates: [],
        },
      ],
    },
  }),
];

const JSON_TYPE = { "content-type": "application/json" };
const PROBLEM_TYPE = { "content-type": "application/problem+json" };
const NO_METRICS_API = {
  type: "about:blank",
  title: "Failed precondition",
  status: 412,
  detail: "the cluster does not serve the metrics API",
  error: "the cluster does not serve the metrics API",
};
const EDGE_USAGE = [
  {
    unit_id: "order-edge",
    namespace: "shop",
    component: "odgm",
    pods: 2,
    cpu_millicores: 250,
    memory_bytes: 2 ** 29,
    max_cpu_millicores: 200,
    max_memory_bytes: 2 ** 28,
    observed_at: "2026-01-01T00:00:00Z",
  },
  {
    unit_id: "another",
    namespace: "shop",
    component: "place",
    pods: 1,
    cpu_millicores: 9,
    memory_bytes: 9,
    max_cpu_millicores: 9,
    max_memory_bytes: 9,
  },
];

describe("oaas top", () => {
  let home: string;
  let server: Server;
  let oaas: ReturnType<typeof createCliRunner>;

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), "oaas-top-"));
    server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://pm");
      const usageOf = /^\/api\/v1\/clusters\/(\w+)\/usage$/.exec(pathname)?.[1];
      if (usageOf === "edge") return response.writeHead(200, JSON_TYPE).end(JSON.stringify(EDGE_USAGE));
      if (usageOf !== undefined) return response.writeHead(412, PROBLEM_TYPE).end(JSON.stringify(NO_METRICS_API));
      const cluster = searchParams.get("cluster");
      const found = RUNTIMES.filter(({ cluster_name }) => cluster === null || cluster === cluster_name);
      return response.writeHead(200, JSON_TYPE).end(JSON.stringify(found));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    oaas = createCliRunner(home, { OAAS_PM_URL: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(home, { recursive: true, force: true });
  });

  test("shows the busiest function first, and functions that are not measured", async () => {
    const { code, out, err } = await oaas("top");
    expect(code).toBe(0);
    expect(err).toBe("note: no present usage from cloud: the cluster does not serve the metrics API\n");
    const cells = out
      .trim()
      .split("\n")
      .map((line) => line.split(/ {3,}/).slice(0, 10));
    expect(cells).toEqual([
      ["CLASS", "CLUSTER", "COMPONENT", "RPS", "LATENCY", "CPU", "MEMORY", "REPLICAS", "REQUIREMENTS", "RECOMMENDED"],
      ["shop.Order", "edge", "place", "240", "p99 152 ms", "-", "-", "1", "violated", "replicas 1 → 3"],
      ["shop.Order", "edge", "odgm", "-", "-", "250m", "512Mi", "2", "-", "-"],
      ["shop.Order", "cloud", "cancel", "-", "-", "-", "-", "-", "-", "-"],
      ["shop.Order", "cloud", "place", "-", "-", "-", "-", "-", "-", "-"],
      ["shop.Order", "edge", "cancel", "-", "-", "-", "-", "-", "-", "-"],
    ]);
  });

  test("shows the last change in the wide table", async () => {
    const { out } = await oaas("top --cluster edge -o wide");
    expect(out).toMatch(/CPU P90 +MEMORY P90 +LAST CHANGE\n.* 95\.4Mi .*place replicas 2 → 1\n/);
  });

  test("returns signals, requirements and recommendations as JSON", async () => {
    const { out } = await oaas("top --cluster edge -o json");
    expect(JSON.parse(out)).toMatchObject([
      {
        class_key: "shop.Order",
        cluster: "edge",
        component: "place",
        signals: { requests_per_second: 240.1, p90_bytes: 100_000_000 },
        requirements: [{ status: "met" }, { status: "violated" }],
        recommendations: [{ target: 3 }, { dimension: "memory" }],
        last_changes: [{ target: 1 }],
        observed_at: "2026-01-01T00:00:00Z",
      },
      { component: "odgm", usage: EDGE_USAGE[0] },
      { component: "cancel", signals: {}, recommendations: [] },
    ]);
  });

  test("says so when nothing is deployed", async () => {
    expect((await oaas("top --cluster none")).out).toBe("No components.\n");
  });
});
