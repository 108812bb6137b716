import { loadConfig } from "@oaas/config";
import { InspectionService } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import type { PrometheusTransport } from "@oaas/prometheus-client";
import { createPrometheusApi, TimeSeriesStore } from "@oaas/promql";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp, type RunningApp } from "../src/app.ts";
import { crmConfig } from "../src/config.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "default";
const SECOND = 1000;

/** The Prometheus API over a store in memory; `outage` answers instead while it is set. */
function createTransport(store: TimeSeriesStore) {
  const answer = createPrometheusApi({ store, now: () => Date.now(), version: "test" });
  const state: { outage: number | undefined; readonly transport: PrometheusTransport } = {
    outage: undefined,
    transport: {
      send: async ({ method, url, body }) => {
        const { pathname, search } = new URL(url);
        const request = { method, path: pathname, search: search.slice(1), ...(body === undefined ? {} : { body }) };
        const response = state.outage === undefined ? answer(request) : { status: state.outage, body: "" };
        return {
          status: response.status,
          headers: {},
          chunks: async function* () {
            yield new TextEncoder().encode(response.body);
          },
        };
      },
      close: async () => undefined,
    },
  };
  return state;
}

describeOnTarget("inspection of class runtimes", { needs: ["kubectl"] }, () => {
  const store = new TimeSeriesStore();
  const prometheus = createTransport(store);
  let fixture: ControllerFixture;
  let app: RunningApp;
  let channel: RpcChannel;
  let inspection: RpcClient<typeof InspectionService>;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    app = await start({ OPRC_CRM_PROM_URL: "http://prometheus.test" });
    channel = connect(app);
    inspection = channel.client(InspectionService);
    await fixture.apply(
      NAMESPACE,
      classManifest("web", {
        selected_template: "dev",
        state_spec: {},
        nfr_requirements: { min_throughput_rps: 40, max_latency_ms: 200 },
        functions: [
          {
            function_key: "f",
            provision_config: { container_image: "example.test/fn:1", cpu_request: "100m" },
            config: { API_TOKEN: "very-secret", MODE: "fast" },
          },
        ],
      }),
    );
    await fixture.apply(NAMESPACE, classManifest("other", { selected_template: "dev" }));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    await fixture.waitForPhase(NAMESPACE, "other", "available");
  });
  afterAll(async () => {
    channel?.close();
    await app?.close();
    await fixture?.close();
  });

  function start(env: Readonly<Record<string, string>>): Promise<RunningApp> {
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    const config = loadConfig(crmConfig, {
      env: {
        HTTP_PORT: "0",
        OPRC_CRM_HTTP_HOST: "127.0.0.1",
        OPRC_CRM_K8S_NAMESPACE: NAMESPACE,
        OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
        OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1",
        OPRC_CRM_ODGM_HEALTH: "false",
        ...env,
      },
    });
    return startApp(config, {
      ambient: realAmbient,
      transport: createUndiciTransport(access, realAmbient),
      prometheusTransport: prometheus.transport,
      ownNamespace: NAMESPACE,
      identity: "inspection",
      logger: NOOP_LOGGER,
      meter: NOOP_METER,
      metricsText: async () => "",
      context: NOOP_CONTEXT,
      reread: () => config,
    });
  }

  function connect({ port }: RunningApp): RpcChannel {
    return new RpcChannel({ name: "crm", address: `127.0.0.1:${port}`, clock: realAmbient.clock });
  }

  const faultOf = (call: Promise<unknown>): Promise<Fault> =>
    call.then(
      () => Promise.reject(new Error("the call succeeded")),
      (thrown: unknown) => Fault.from(thrown),
    );

  const podsOf = (deploymentId: string) =>
    eventually(
      async () => {
        const { pods } = await inspection.listPods({ deploymentId });
        if (pods.length === 0 || !pods.every(({ ready }) => ready)) throw new Error(JSON.stringify(pods));
        return pods;
      },
      { what: "pods that are ready" },
    );

  test("reads the signals of one class with targets, and only its own", async () => {
    const [pod] = await podsOf("web");
    const now = Math.floor(Date.now() / SECOND) * SECOND;
    for (let at = now - 300 * SECOND; at <= now; at += 5 * SECOND) {
      const seconds = (at - now) / SECOND + 1000;
      for (const [owner, rate] of [
        ["web", 50],
        ["other", 7],
      ] as const) {
        const labels = { namespace: NAMESPACE, oaas_owner: owner, function: "f" };
        store.append({ __name__: "http_requests_total", ...labels, code: "200" }, at, seconds * rate);
        store.append({ __name__: "http_requests_total", ...labels, code: "500" }, at, seconds);
      }
      const container = { namespace: NAMESPACE, pod: pod?.name ?? "", container: "function" };
      store.append({ __name__: "container_memory_working_set_bytes", ...container }, at, 2 ** 20);
    }
    const { series, start, stepSeconds } = await inspection.getSignals({
      deploymentId: "web",
      component: "f",
      rangeSeconds: 120,
      stepSeconds: 10,
    });
    expect(stepSeconds).toBe(10);
    expect(Date.parse(start)).toBeGreaterThan(Date.now() - 200 * SECOND);
    const signal = (name: string) => series.find((one) => one.component === "f" && one.signal === name);
    expect(signal("requests_per_second")).toMatchObject({ target: 40, targetKind: "at_least" });
    expect(signal("requests_per_second")?.values).toHaveLength(13);
    expect(signal("requests_per_second")?.values.at(-2)).toBeCloseTo(51, 1);
    expect(signal("error_ratio")?.values.at(-2)).toBeCloseTo(1 / 51, 3);
    expect(signal("memory_bytes")?.values.at(-2)).toBe(2 ** 20);
    expect(signal("latency_p99_ms")).toMatchObject({ target: 200, targetKind: "at_most" });
    expect(signal("latency_p99_ms")?.values.every(Number.isNaN)).toBe(true);
    expect(signal("cpu_millicores")).toMatchObject({ target: 100, targetKind: "requested" });
    expect(signal("ready_replicas")).toMatchObject({ target: 1, targetKind: "requested" });
  });

  test("rejects signals with the wrong range, component or class", async () => {
    const range = await faultOf(inspection.getSignals({ deploymentId: "web", rangeSeconds: 1 }));
    expect(range.detail).toMatchObject({ kind: "invalid-argument", violations: [{ path: "$.range_seconds" }] });
    const component = await faultOf(inspection.getSignals({ deploymentId: "web", component: "nope" }));
    expect(component).toMatchObject({ kind: "not-found", message: expect.stringContaining("the class runs f, odgm") });
    const missing = await faultOf(inspection.getSignals({ deploymentId: "nope" }));
    expect(missing.kind).toBe("not-found");
  });

  test("fails with the reason while Prometheus fails, and answers again afterwards", async () => {
    prometheus.outage = 401;
    const fault = await faultOf(inspection.getSignals({ deploymentId: "web" }));
    prometheus.outage = undefined;
    expect(fault.kind).toBe("failed-precondition");
    expect(fault.message).toMatch(/cannot read the signal \w+: .*401/);
    expect((await inspection.getSignals({ deploymentId: "web" })).series).not.toEqual([]);
  });

  test("fails without a metrics provider, and serves the other reads", async () => {
    const plain = await start({});
    const own = connect(plain);
    try {
      await plain.ready;
      const client = own.client(InspectionService);
      const fault = await faultOf(client.getSignals({ deploymentId: "web" }));
      expect(fault).toMatchObject({
        kind: "failed-precondition",
        message: expect.stringContaining("set OPRC_CRM_PROM_URL"),
      });
      expect((await client.listPods({ deploymentId: "web" })).pods).not.toEqual([]);
    } finally {
      own.close();
      await plain.close();
    }
  });

  test("reads a child without managed fields and with secrets masked", async () => {
    const read = await inspection.getObject({ deploymentId: "web", kind: "Deployment", name: "web" });
    expect(read).toMatchObject({ apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: NAMESPACE });
    const object = JSON.parse(read.object) as { metadata: object; spec: object; status: object };
    expect(object.metadata).not.toHaveProperty("managedFields");
    expect(object.metadata).toMatchObject({ ownerReferences: [{ kind: "ClassRuntime", name: "web" }] });
    expect(object.status).toHaveProperty("replicas", 1);
    expect(read.object).not.toContain("very-secret");
    expect(JSON.stringify(object.spec)).toContain('"name":"API_TOKEN","value":"***"');
    expect(JSON.stringify(object.spec)).toContain('"name":"MODE","value":"fast"');
  });

  test("serves only objects of the class runtime: no Secret, no pod, no object of another class", async () => {
    await fixture.kubectl(`create secret generic web -n ${NAMESPACE} --from-literal=a=b`);
    await fixture.kubectl(`label secret web -n ${NAMESPACE} oaas.io/owner=web`);
    const [pod] = await podsOf("web");
    const wrong = [
      ["Secret", "web"],
      ["Pod", pod?.name ?? ""],
      ["Deployment", "other"],
      ["ClassRuntime", "web"],
      ["deployment", "web"],
      ["Deployment", "../web"],
    ];
    for (const [kind = "", name = ""] of wrong) {
      const fault = await faultOf(inspection.getObject({ deploymentId: "web", kind, name }));
      expect(fault, `${kind}/${name}`).toMatchObject({
        kind: "not-found",
        message: expect.stringContaining("which has objects of"),
      });
    }
    const empty = await faultOf(inspection.getObject({ deploymentId: "web" }));
    expect(empty.detail).toMatchObject({ violations: [{ path: "$.kind" }, { path: "$.name" }] });
  });

  test("lists the pods of function and state store with their nodes", async () => {
    const pods = await podsOf("web");
    expect(pods.map(({ component }) => component)).toEqual(["f", "odgm"]);
    expect(pods[0]).toMatchObject({ phase: "Running", ready: true, restarts: 0, reason: "" });
    expect(pods[0]?.node).not.toBe("");
    expect(Date.parse(pods[0]?.createdAt ?? "")).toBeGreaterThan(0);
    expect((await faultOf(inspection.listPods({ deploymentId: "nope" }))).kind).toBe("not-found");
  });

  test("lists the conditions, and their changes from the Events about the class, newest first", async () => {
    const { conditions, events } = await eventually(
      async () => {
        const read = await inspection.getConditions({ deploymentId: "web" });
        if (!read.events.some(({ reason }) => reason === "Available")) throw new Error(JSON.stringify(read));
        return read;
      },
      { what: "the event of the phase" },
    );
    expect(conditions.find(({ type }) => type === "Available")).toMatchObject({ status: "True" });
    expect(events.map(({ reason }) => reason)).toContain("TemplateSelected");
    const times = events.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(JSON.stringify(events)).not.toContain("other");
  });
});
