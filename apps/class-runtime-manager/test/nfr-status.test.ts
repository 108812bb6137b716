import { loadConfig } from "@oaas/config";
import { unavailable } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import type { PrometheusTransport } from "@oaas/prometheus-client";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startApp } from "../src/app.ts";
import { crmConfig } from "../src/config.ts";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { CLASS_RUNTIME_KIND } from "../src/controller/kinds/class-kind.ts";
import { Analyzer } from "../src/nfr/analysis/analyzer.ts";
import { ClassSource } from "../src/nfr/analysis/class-source.ts";
import { scriptedPrometheus, type ScriptedPrometheus } from "../src/nfr/testing/scripted-prometheus.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const WINDOW_MS = 120_000;
const NAMESPACE = "default";

interface ManagedObject {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: object }[];
  };
}

/** A Prometheus without series, which records queries. */
function recordingTransport(queries: URLSearchParams[]): PrometheusTransport {
  const body = '{"status":"success","data":{"resultType":"matrix","result":[]}}';
  return {
    send: async (request) => {
      queries.push(new URLSearchParams(request.body));
      return {
        status: 200,
        headers: {},
        chunks: async function* () {
          yield new TextEncoder().encode(body);
        },
      };
    },
    close: async () => undefined,
  };
}

describeOnTarget("the status of the analyzer", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let prometheus: ScriptedPrometheus;
  let analyzer: Analyzer;
  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    const owner = { namespace: NAMESPACE, oaas_owner: "web", function: "f" };
    prometheus = scriptedPrometheus(
      {
        requests_per_second: [{ labels: owner, valueAt: () => 50 }],
        latency_p99_ms: [{ labels: owner, valueAt: () => 120 }],
        ready_replicas: [{ labels: { namespace: NAMESPACE, deployment: "web" }, valueAt: () => 1 }],
      },
      { namespaces: [NAMESPACE], windowMs: WINDOW_MS },
    );
    const { actingClient: client, children, pods } = crm;
    const source = new ClassSource(CLASS_RUNTIME_KIND, crm.classRuntimes, { client, children, pods, maxReplicas: 20 });
    analyzer = new Analyzer({
      provider: prometheus,
      ambient: realAmbient,
      logger: NOOP_LOGGER,
      meter: NOOP_METER,
      everyMs: 30_000,
      rangeMs: 600_000,
      stepMs: 30_000,
      rateWindowMs: WINDOW_MS,
      scheme: "prometheus",
      overrides: {},
      settings: { ...DEFAULT_ANALYZER_SETTINGS, maxDataAgeMs: 60_000 },
      classes: () => source.list(),
      recordEvent: (event) => crm.events.record(event),
    });
    await fixture.apply(NAMESPACE, classManifest("web", { nfr_requirements: { max_latency_ms: 100 } }));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
  });
  afterAll(() => fixture?.close());

  /** One tick, after the cache has what was written before. */
  const tick = async (): Promise<void> => {
    const { metadata } = (await fixture.get(NAMESPACE, "crt", "web")) as ManagedObject & { kind: string };
    const key = { namespace: NAMESPACE, name: "web" };
    await eventually(() => crm.classRuntimes.get(key)?.metadata.resourceVersion === metadata.resourceVersion);
    await analyzer.tick(new AbortController().signal);
  };
  const managed = async (): Promise<ManagedObject> =>
    JSON.parse(await fixture.kubectl(`get crt web -n ${NAMESPACE} -o json --show-managed-fields`)) as ManagedObject;

  it("is written beside the status of the lifecycle, by its own field manager, once", async () => {
    await tick();
    const status = await fixture.status(NAMESPACE, "web");
    expect(status?.phase).toBe("available");
    expect(status?.nfr_compliance).toMatchObject({ latency_status: "Violated" });
    expect(status?.conditions?.map(({ type }) => type)).toEqual(expect.arrayContaining(["Available", "NfrObserved"]));
    const { metadata } = await managed();
    const fieldsOf = (name: string) => JSON.stringify(metadata.managedFields.filter(({ manager }) => manager === name));
    expect(fieldsOf("oprc-crm-analyzer")).toContain("NfrObserved");
    expect(fieldsOf("oprc-crm-analyzer")).not.toContain("Available");
    expect(fieldsOf("oprc-crm")).not.toContain("nfr_compliance");
    // What the first tick learnt changes the second recommendation; then nothing changes.
    await tick();
    const settled = (await managed()).metadata.resourceVersion;
    await tick();
    await tick();
    expect((await managed()).metadata.resourceVersion).toBe(settled);
    await eventually(async () => {
      const reasons = await fixture.kubectl(`get events -n ${NAMESPACE} -o jsonpath={.items[*].reason}`);
      return reasons.includes("NFRViolated") && reasons.includes("NFRObserved");
    });
  });

  it("survives a reconcile of the class", async () => {
    const before = await fixture.status(NAMESPACE, "web");
    await fixture.kubectl(`delete deployment web -n ${NAMESPACE}`);
    await eventually(async () => (await fixture.get(NAMESPACE, "deployment", "web")) !== undefined);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    const after = await fixture.status(NAMESPACE, "web");
    expect(after?.nfr_compliance).toEqual(before?.nfr_compliance);
    expect(after?.conditions?.find(({ type }) => type === "NfrObserved")).toMatchObject({ status: "True" });
  });

  it("is withdrawn when the class turns measurements off, and nothing else changes", async () => {
    prometheus.outage = unavailable("prometheus", "down");
    await fixture.kubectl(["annotate", "crt", "web", "-n", NAMESPACE, "oaas.io/enforcement=off"]);
    await eventually(async () => {
      await tick();
      const status = await fixture.status(NAMESPACE, "web");
      return status?.nfr_compliance === undefined && status?.nfr_recommendations === undefined;
    });
    const status = await fixture.status(NAMESPACE, "web");
    expect(status?.phase).toBe("available");
    expect(status?.conditions?.some(({ type }) => type === "NfrObserved")).toBe(false);
  });

  it("follows the settings: names, range, step, window, interval and replaced queries", async () => {
    const queries: URLSearchParams[] = [];
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    const config = loadConfig(crmConfig, {
      env: {
        HTTP_PORT: "0",
        OPRC_CRM_HTTP_HOST: "127.0.0.1",
        OPRC_CRM_K8S_NAMESPACE: NAMESPACE,
        OPRC_CRM_PROM_URL: "http://prometheus.test",
        OPRC_CRM_PROM_PROVIDER: "otel",
        OPRC_CRM_PROM_RANGE: "5m",
        OPRC_CRM_PROM_STEP: "10s",
        OPRC_CRM_PROM_RATE_WINDOW: "90s",
        OPRC_CRM_PROM_QUERIES: '{"queue_length":"my_queue{namespace=~$namespaces}"}',
        OPRC_CRM_ANALYZER_INTERVAL_SECS: "1s",
      },
    });
    await fixture.apply(NAMESPACE, classManifest("otel", { nfr_requirements: { max_latency_ms: 100 } }));
    const app = await startApp(config, {
      ambient: realAmbient,
      transport: createUndiciTransport(access, realAmbient),
      prometheusTransport: recordingTransport(queries),
      ownNamespace: NAMESPACE,
      identity: "settings",
      logger: NOOP_LOGGER,
      meter: NOOP_METER,
      metricsText: async () => "",
      context: NOOP_CONTEXT,
      reread: () => config,
    });
    const rangesOf = (text: string): URLSearchParams[] =>
      queries.filter((form) => form.get("query")?.includes(text) && form.get("step") === "10");
    try {
      await eventually(() => rangesOf("k8s_pod_cpu_usage").length >= 2, { timeoutMs: 60_000 });
    } finally {
      await app.close();
    }
    const [cpu] = rangesOf("k8s_pod_cpu_usage");
    expect(Number(cpu?.get("end")) - Number(cpu?.get("start"))).toBe(300);
    expect(rangesOf("my_queue")[0]?.get("query")).toBe(`my_queue{namespace=~"${NAMESPACE}"}`);
    expect(rangesOf("http_server_request_duration_seconds_count")[0]?.get("query")).toContain("[90s]");
    expect(queries.some((form) => form.get("query")?.includes("container_memory_working_set_bytes"))).toBe(false);
  });

  it("ignores a class that is deleted between the caches and the write", async () => {
    await fixture.kubectl(["annotate", "crt", "web", "-n", NAMESPACE, "oaas.io/enforcement-"]);
    prometheus.outage = undefined;
    await tick();
    await fixture.kubectl(`delete crt web -n ${NAMESPACE} --wait=true`);
    await analyzer.tick(new AbortController().signal);
    expect(await fixture.get(NAMESPACE, "crt", "web")).toBeUndefined();
  });
});
