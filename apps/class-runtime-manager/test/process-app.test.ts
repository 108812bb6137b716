import { loadConfig } from "@oaas/config";
import { DeploymentCondition, DeploymentService, oprcData } from "@oaas/contracts/grpc";
import { cancelled, Fault, isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { HttpRequest, Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { NOOP_CONTEXT, NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { bindService, listenOnePort, RpcChannel, RpcServer, type OnePort } from "@oaas/rpc";
import { describeOnTarget, eventually, holdTimer } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp, type AppPorts, type RunningApp } from "../src/app.ts";
import { crmConfig } from "../src/config.ts";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startFakePackageManager, type FakePackageManager } from "./support/fake-package-manager.ts";

/** A transport on which chosen calls hang until they are aborted, and that records writes. */
class HangingTransport implements Transport {
  hangsFor: ((request: HttpRequest) => boolean) | undefined;
  readonly hanging = new Set<HttpRequest>();
  readonly writes: string[] = [];
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async send(request: HttpRequest): ReturnType<Transport["send"]> {
    if (this.hangsFor?.(request)) {
      this.hanging.add(request);
      await new Promise<never>((_, reject) => {
        request.signal.addEventListener("abort", () => {
          this.hanging.delete(request);
          reject(request.signal.reason as Error);
        });
      });
    }
    if (request.method !== "GET") this.writes.push(`${request.method} ${request.path}`);
    return this.#inner.send(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** One node of a data grid that serves the given number of partitions. */
async function startGrid(grid: { partitions: number; objects: bigint }): Promise<OnePort> {
  const service = bindService(oprcData.DataService, {
    stats: async () => ({
      shards: Array.from({ length: grid.partitions }, (_, partitionId) => ({
        collection: "order",
        partitionId,
        shardId: BigInt(partitionId),
        count: (grid.objects += 1n),
      })),
    }),
    capabilities: async () => ({ stringIds: true }),
    set: async () => ({}),
  });
  return listenOnePort({
    host: "127.0.0.1",
    port: 0,
    rpc: new RpcServer({ services: [service], ambient: realAmbient }),
    http: (_, response) => void response.end(),
    timers: realAmbient.timers,
  });
}

describeOnTarget("whole manager with fake peers", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let app: RunningApp;
  let ports: Omit<AppPorts, "transport">;
  let start: () => Promise<RunningApp>;
  let pm: FakePackageManager;
  let transport: HangingTransport;
  let channel: RpcChannel;
  let gridNode: OnePort;
  const grid = { partitions: 0, objects: 0n };
  const meter = createRecordingMeter();
  const deployments = () => channel.client(DeploymentService);
  const unit = (id: string) => ({
    id,
    packageName: "shop",
    classKey: "Order",
    targetEnv: "here",
    functions: [
      {
        functionKey: "f",
        provisionConfig: { containerImage: "example.test/fn:1", maxConcurrency: 0, needHttp2: false },
      },
    ],
  });

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl("create namespace classes");
    pm = await startFakePackageManager();
    gridNode = await startGrid(grid);
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    transport = new HangingTransport(createUndiciTransport(access, realAmbient));
    const config = loadConfig(crmConfig, {
      env: {
        HTTP_PORT: "0",
        GRPC_PORT: "0",
        OPRC_CRM_HTTP_HOST: "127.0.0.1",
        OPRC_CRM_K8S_NAMESPACE: "classes",
        OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1",
        OPRC_CRM_CLUSTER_NAME: "edge-7",
        OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}`,
        OPRC_CRM_PM_METRICS_INTERVAL_SECS: "1s",
        OPRC_CRM_ODGM_HEALTH: "true",
        OPRC_CRM_ODGM_HEALTH_INTERVAL_SECS: "1s",
      },
    });
    ports = {
      ambient: realAmbient,
      ownNamespace: "classes",
      identity: "test",
      logger: NOOP_LOGGER,
      meter,
      metricsText: async () => "",
      context: NOOP_CONTEXT,
      reread: () => config,
      storeNodeResolver: () => `127.0.0.1:${gridNode.port}`,
    };
    start = () => startApp(config, { ...ports, transport });
    app = await start();
    channel = new RpcChannel({ name: "crm", address: `127.0.0.1:${app.port}`, clock: realAmbient.clock });
    await app.ready;
  });
  afterAll(async () => {
    channel.close();
    await app.close();
    await gridNode.close(100);
    await pm.close();
    await fixture.close();
  });

  const reported = (id: string): string | undefined =>
    pm.reports.findLast(({ deploymentId }) => deploymentId === id)?.status?.status;

  test("reports a class to the package manager from its first status to its deletion", async () => {
    await eventually(
      async () => (await deployments().deploy({ deploymentUnit: unit("reported") })).deploymentId === "reported",
      {
        timeoutMs: 60_000,
        what: "leadership",
      },
    );
    await eventually(() => reported("reported") === "RUNNING", { timeoutMs: 60_000 });
    expect(pm.reports.at(-1)?.origin?.cluster).toBe("edge-7");
    await eventually(() => pm.metrics.some(({ samples }) => samples.some(({ metric }) => metric === "replicas")), {
      timeoutMs: 60_000,
    });
    await deployments().deleteDeployment({ deploymentId: "reported" });
    await eventually(() => reported("reported") === "DELETED", { timeoutMs: 60_000 });
    expect(meter.value("crm_pm_reports_total", { about: "status", outcome: "failed" })).toBe(0);
  });

  test("waits for missing shards of the state store, and writes only changes", async () => {
    await fixture.apply("classes", {
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "stored" },
      spec: { package_class_key: "shop.Order", odgm_config: { collections: ["order"], partition_count: 2 } },
    });
    const missing = await fixture.waitForStatus(
      "classes",
      "stored",
      "missing shards",
      ({ odgm_cluster_status: odgm }) => Boolean(odgm?.message?.includes("lacks partition 1 of order")),
    );
    const odgmReady = (conditions: typeof missing.conditions) => conditions?.find(({ type }) => type === "OdgmReady");
    expect(odgmReady(missing.conditions)).toMatchObject({ status: "False" });
    grid.partitions = 2;
    const healthy = await fixture.waitForStatus("classes", "stored", "available", ({ phase }) => phase === "available");
    expect(odgmReady(healthy.conditions)).toMatchObject({ status: "True" });
    expect(healthy.odgm_cluster_status).toMatchObject({
      capabilities: ["string_ids"],
      collections_status: [{ name: "order", partition_count: 2, ready_shards: 2, active_partitions: 2 }],
    });
    const writes = (): number => transport.writes.filter((write) => write.includes("/classruntimes/stored")).length;
    const before = writes();
    const readings = (): number => meter.value("crm_odgm_readings_total", { outcome: "healthy" }) ?? 0;
    const read = readings();
    await eventually(() => readings() >= read + 3, { timeoutMs: 60_000, what: "three more readings" });
    expect(writes()).toBe(before);
    await app.close();
    channel.close();
    transport = new HangingTransport(
      createUndiciTransport(loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig }), realAmbient),
    );
    pm.reports.splice(0);
    app = await start();
    channel = new RpcChannel({ name: "crm", address: `127.0.0.1:${app.port}`, clock: realAmbient.clock });
    await eventually(() => reported("stored") === "RUNNING", {
      timeoutMs: 60_000,
      what: "every class to be reported again",
    });
    const again = readings();
    await eventually(() => readings() >= again + 2, { timeoutMs: 60_000, what: "two readings after the restart" });
    expect(transport.writes.filter((write) => write.includes("/classruntimes/"))).toEqual([]);
  });

  test("reads a DeploymentRecord like any class, and rejects changes to it", async () => {
    await fixture.apply("classes", {
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentRecord",
      metadata: { name: "record" },
      spec: { function: { image: "example.test/fn:1", port: 8080 } },
    });
    const condition = async () =>
      (await deployments().getClassRuntime({ deploymentId: "record" })).deployment?.status?.condition;
    await eventually(async () => (await condition()) === DeploymentCondition.RUNNING, { timeoutMs: 60_000 });
    const { items } = await deployments().listClassRuntimes({});
    expect(items.map(({ name }) => name)).toContain("record");
    await eventually(() => reported("record") === "RUNNING", { timeoutMs: 60_000 });
    const explained = await deployments().explainClassRuntime({ deploymentId: "record" });
    expect(explained.explanation?.deploymentId).toBe("record");
    const faults = await Promise.all(
      [
        deployments().deleteDeployment({ deploymentId: "record" }),
        deployments().deploy({ deploymentUnit: unit("record") }),
      ].map((call) => call.catch((thrown: unknown) => thrown)),
    );
    expect(faults.map((fault) => (fault instanceof Fault ? fault.kind : fault))).toEqual([
      "failed-precondition",
      "already-exists",
    ]);
  });

  test("GRPC_PORT opens a second port with the same services", async () => {
    expect(app.grpcPort).not.toBe(app.port);
    const second = new RpcChannel({ name: "crm", address: `127.0.0.1:${app.grpcPort}`, clock: realAmbient.clock });
    const [main, other] = await Promise.all(
      [channel, second].map((each) => each.client(DeploymentService).listClassRuntimes({})),
    );
    second.close();
    expect(other?.items.map(({ id }) => id)).toEqual(main?.items.map(({ id }) => id));
    expect((await fetch(`http://127.0.0.1:${app.grpcPort}/healthz`)).status).toBe(200);
  });

  test("serves calls during the shutdown delay, and is not ready", async () => {
    const delay = holdTimer(47_000);
    const config = ports.reread();
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    const other = await startApp(
      { ...config, server: { ...config.server, shutdownDelayMs: 47_000 } },
      { ...ports, ambient: delay.ambient, identity: "other", transport: createUndiciTransport(access, realAmbient) },
    );
    await other.ready;
    const toOther = new RpcChannel({ name: "crm", address: `127.0.0.1:${other.port}`, clock: realAmbient.clock });
    const closed = other.close();
    await eventually(() => delay.isHeld());

    const ready = await fetch(`http://127.0.0.1:${other.port}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ reasons: ["the process is stopping"] });
    await toOther.client(DeploymentService).listClassRuntimes({});

    delay.fire();
    await closed;
    await expect(fetch(`http://127.0.0.1:${other.port}/readyz`)).rejects.toThrow();
    toOther.close();
  });

  describe("Kubernetes calls end with the gRPC call", () => {
    const isWrite = ({ method, path }: HttpRequest): boolean => method !== "GET" && path.includes("/classruntimes");

    test("on a deadline", async () => {
      transport.hangsFor = isWrite;
      const fault = await deployments()
        .deploy({ deploymentUnit: unit("late") }, { deadlineMs: 300 })
        .catch((thrown: unknown) => thrown);
      expect(isFault(fault, "deadline-exceeded")).toBe(true);
      await eventually(() => transport.hanging.size === 0, { what: "the Kubernetes call to be aborted" });
      transport.hangsFor = undefined;
      expect(await fixture.get("classes", "crt", "late")).toBeUndefined();
    });

    test("on cancellation", async () => {
      transport.hangsFor = isWrite;
      const caller = new AbortController();
      const call = deployments()
        .deploy({ deploymentUnit: unit("left") }, { signal: caller.signal, deadlineMs: 60_000 })
        .catch((thrown: unknown) => thrown);
      await eventually(() => transport.hanging.size === 1, { what: "the call to reach Kubernetes" });
      caller.abort(cancelled());
      expect(isFault(await call, "cancelled")).toBe(true);
      await eventually(() => transport.hanging.size === 0, { what: "the Kubernetes call to be aborted" });
      transport.hangsFor = undefined;
      expect(await fixture.get("classes", "crt", "left")).toBeUndefined();
    });
  });
});
