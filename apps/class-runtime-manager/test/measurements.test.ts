import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import { InspectionService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { describeWith, eventually, startPrometheus, type PrometheusUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectPrometheus } from "../src/adapters/prometheus.ts";
import { crmConfig } from "../src/config.ts";
import { writeLoad } from "./support/class-load.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const STEP_MS = 1_000;
const MINUTE = 60_000;

describeWith(["kubernetes", "prometheus"], "measurements with a real Prometheus", () => {
  let fixture: ControllerFixture;
  let prometheus: PrometheusUnderTest;
  let manager: ManagerProcess;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "crm-measurements-"));
    [fixture, prometheus] = await Promise.all([ControllerFixture.start(), startPrometheus()]);
    manager = await startManagerProcess(fixture.cluster.kubeconfig, folder, {
      OPRC_CRM_K8S_NAMESPACE: "default",
      OPRC_CRM_PROM_URL: prometheus.url,
      OPRC_CRM_ANALYZER_INTERVAL_SECS: "1s",
      OPRC_CRM_PROM_STEP: `${STEP_MS}ms`,
      OPRC_CRM_PROM_RANGE: "1m",
      OPRC_CRM_PROM_RATE_WINDOW: "10s",
    });
  });
  afterAll(async () => {
    await manager?.stop();
    await prometheus?.close();
    await fixture?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const observed = async () =>
    (await fixture.status("default", "web"))?.conditions?.find(({ type }) => type === "NfrObserved");
  /** The status once NfrObserved has the status; samples are written up to now meanwhile. */
  const waitForObserved = (wanted: string) =>
    eventually(
      async () => {
        const condition = await observed();
        if (condition?.status === wanted) return condition;
        throw new Error(`NfrObserved: ${JSON.stringify(condition)}`);
      },
      { timeoutMs: 90_000, what: `NfrObserved to be ${wanted}` },
    );

  it("measures the classes of an environment by its own queries", async () => {
    const query = "sum by (namespace, oaas_owner, function) (rate(shop_hits{namespace=~$namespaces}[$window]))";
    await fixture.apply("default", {
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name: "shops" },
      spec: { kind: "dev", metrics: { queries: { requests_per_second: query } } },
    });
    const feed = async (seconds: number): Promise<void> => {
      const now = Math.floor(Date.now() / 1_000) * 1_000;
      const times = Array.from({ length: seconds }, (_, index) => now - (seconds - index) * 1_000);
      const series = ["shop", "plain"].flatMap((owner) =>
        Object.entries({ shop_hits: 70, http_requests_total: 40 }).map(([name, perSecond]) => ({
          labels: { __name__: name, namespace: "default", oaas_owner: owner, function: "f", code: "200" },
          samples: times.map((atMs) => ({ atMs, value: (atMs / 1_000 - 1.7e9) * perSecond })),
        })),
      );
      await prometheus.write(series);
    };
    await feed(180);
    await fixture.apply("default", classManifest("shop", { target_environment: "shops" }));
    await fixture.apply("default", classManifest("plain"));
    const measuredRps = async (name: string): Promise<number | undefined> => {
      const recommended = (await fixture.status("default", name))?.nfr_recommendations ?? [];
      return recommended.find(({ dimension }) => dimension === "replicas")?.evidence?.values["requests_per_second"];
    };
    const [shop, plain] = await eventually(
      async () => {
        await feed(60);
        const rates = [await measuredRps("shop"), await measuredRps("plain")] as const;
        return rates.every((rate) => rate !== undefined) && rates;
      },
      { timeoutMs: 90_000, what: "both classes to be measured" },
    );
    // The start of a window may lack samples, for both alike.
    expect(shop).toBeGreaterThan(45);
    expect(plain).toBeGreaterThan(20);
    expect(plain).toBeLessThan(41);
    await fixture.kubectl("delete crt shop plain -n default");
  });

  it("writes recommendations and compliance, and says when it is blind", async () => {
    const requirements = { min_throughput_rps: 30, max_latency_ms: 200 };
    await fixture.apply("default", classManifest("web", { nfr_requirements: requirements }));
    expect(await waitForObserved("Unknown")).toMatchObject({ reason: "NoSeries" });

    const stopFeeding = new AbortController();
    const feeding = (async () => {
      let writtenTo = Date.now() - 3 * MINUTE;
      while (!stopFeeding.signal.aborted) {
        const now = Date.now() - 500;
        await writeLoad(prometheus, writtenTo, now);
        writtenTo += Math.floor((now - writtenTo) / 1_000) * 1_000;
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    })();
    await waitForObserved("True");
    const status = await fixture.waitForStatus("default", "web", "verdicts", ({ nfr_compliance: compliance }) =>
      ["Violated"].includes(compliance?.latency_status ?? ""),
    );
    expect(status.nfr_compliance).toMatchObject({ overall_status: "Violated", throughput_status: "Compliant" });
    const latency = status.nfr_compliance?.measurements?.find(({ requirement }) => requirement === "max_latency_ms");
    expect(latency).toMatchObject({ component: "f", status: "violated", required: 200 });
    expect(latency?.observed).toBeGreaterThan(400);
    const replicas = status.nfr_recommendations?.find(({ dimension }) => dimension === "replicas");
    expect(replicas).toMatchObject({ component: "f", current: 1 });
    // The CPU of web-admin would need many more.
    expect(replicas?.evidence?.values["cpu_millicores"] ?? 200).toBeLessThan(1_000);

    // The query that is narrowed to one class selects its series only, also those of past pods.
    const { series } = await manager.channel.client(InspectionService).getSignals({
      deploymentId: "web",
      namespace: "default",
      rangeSeconds: 60,
      stepSeconds: 2,
    });
    const valuesOf = (name: string): readonly number[] =>
      (series.find(({ signal }) => signal === name)?.values ?? []).filter((value) => !Number.isNaN(value));
    expect(Math.max(...valuesOf("requests_per_second"))).toBeGreaterThan(20);
    expect(Math.max(...valuesOf("latency_p99_ms"))).toBeGreaterThan(200);
    expect(Math.max(...valuesOf("cpu_millicores"))).toBeGreaterThan(0);
    expect(Math.max(...valuesOf("cpu_millicores"))).toBeLessThan(1_000);
    expect(series.find(({ signal }) => signal === "latency_p99_ms")).toMatchObject({ target: 200 });

    // The lifecycle and the analyzer write different fields.
    const managed = await fixture.kubectl("get crt web -n default -o json --show-managed-fields");
    const fields = (JSON.parse(managed) as { metadata: { managedFields: { manager: string; fieldsV1: object }[] } })
      .metadata.managedFields;
    const ofAnalyzer = JSON.stringify(fields.find(({ manager: name }) => name === "oprc-crm-analyzer")?.fieldsV1);
    expect(ofAnalyzer).toContain("f:nfr_compliance");
    expect(ofAnalyzer).not.toContain("f:phase");
    const events = await fixture.kubectl("get events -n default -o jsonpath={.items[*].reason}");
    expect(events).toContain("NFRViolated");
    const metrics = await (await fetch(`http://127.0.0.1:${manager.port}/metrics`)).text();
    expect(metrics).toMatch(/crm_nfr_violations_total\{requirement="latency"\} 1/);

    stopFeeding.abort();
    await feeding;
    await prometheus.close();
    const blind = await waitForObserved("Unknown");
    expect(blind).toMatchObject({ reason: "PrometheusUnavailable" });
    expect(blind.message).toMatch(/cannot reach http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\); last data at 20/);
    const after = await fixture.status("default", "web");
    expect(after?.nfr_recommendations?.find(({ dimension }) => dimension === "replicas")).toMatchObject({
      component: "f",
    });
    expect(after?.nfr_compliance).toMatchObject({ overall_status: "Unknown" });
    expect(after?.phase).toBe("available");
  });
});

describe("connectPrometheus", () => {
  const seen: IncomingHttpHeaders[] = [];
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.headers);
      if (request.headers["x-scope-orgid"] === "slow") return;
      response.end('{"status":"success","data":{"resultType":"vector","result":[]}}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const connect = (env: Record<string, string>) => {
    const { prometheus } = loadConfig(crmConfig, { env });
    const { token: promToken, password: promPassword } = prometheus;
    return connectPrometheus(prometheus, realAmbient, () => ({
      tokens: [],
      pmToken: undefined,
      promToken,
      promPassword,
    }));
  };

  it("is off without a URL", () => {
    expect(connect({})).toBeUndefined();
  });

  it.each([
    [{ OPRC_CRM_PROM_TOKEN: "t0k" }, { authorization: "Bearer t0k" }],
    [{ OPRC_CRM_PROM_USERNAME: "u", OPRC_CRM_PROM_PASSWORD: "p" }, { authorization: "Basic dTpw" }],
    [{ OPRC_CRM_PROM_TENANT: "team-a" }, { "x-scope-orgid": "team-a" }],
  ])("sends %j", async (env, headers) => {
    const client = connect({ OPRC_CRM_PROM_URL: url, ...env });
    expect(await client?.healthCheck()).toMatchObject({ isHealthy: true });
    expect(seen.at(-1)).toMatchObject(headers);
    await client?.close();
  });

  it("gives up after the configured timeout", async () => {
    const client = connect({
      OPRC_CRM_PROM_URL: url,
      OPRC_CRM_PROM_TENANT: "slow",
      OPRC_CRM_PROM_QUERY_TIMEOUT_SECS: "200ms",
    });
    expect(await client?.healthCheck()).toMatchObject({ isHealthy: false, reason: expect.stringContaining("200 ms") });
    await client?.close();
  });
});
