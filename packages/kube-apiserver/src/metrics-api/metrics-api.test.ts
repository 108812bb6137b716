import { virtualAmbient } from "@oaas/foundation/virtual";
import { beforeEach, describe, expect, it } from "vitest";
import { embeddedServer, type EmbeddedServer } from "../embedded.ts";
import type { SimulationOptions } from "../controllers/index.ts";

const ambient = virtualAmbient(1);
const signal = new AbortController().signal;
let embedded: EmbeddedServer;
let cpuMillicores = 100;

async function call(
  method: string,
  target: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await embedded.server.handle({
    method,
    target,
    signal,
    headers: { "content-type": "application/json" },
    body: body === undefined ? "" : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(response.body as string) as Record<string, unknown> };
}

async function start(simulation: SimulationOptions): Promise<void> {
  embedded = embeddedServer({ clock: ambient.time, timers: ambient.time, ids: ambient.ids, simulation });
  await embedded.server.start();
}

/** Advances time in small steps, so that controllers run in between. */
async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 4; step += 1) {
    await ambient.time.advance(250);
    for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
  }
}

const metrics = "/apis/metrics.k8s.io/v1beta1";

async function replicas(): Promise<number> {
  const { body } = await call("GET", "/apis/apps/v1/namespaces/default/deployments/web");
  return (body["spec"] as { replicas: number }).replicas;
}

async function createDeployment(count: number, annotations: object = {}): Promise<void> {
  const containers = [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m", memory: "64Mi" } } }];
  await call("POST", "/apis/apps/v1/namespaces/default/deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: count,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" }, annotations }, spec: { containers } },
    },
  });
}

async function createAutoscaler(spec: object = {}): Promise<void> {
  await call("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 8,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
      ],
      ...spec,
    },
  });
}

describe("the metrics API of a simulated cluster", () => {
  beforeEach(async () => {
    cpuMillicores = 100;
    await start({ nodes: 2, usage: () => ({ cpuMillicores, memoryBytes: 3 * 1_048_576 }) });
  });

  it("is in discovery, and not without a usage source", async () => {
    const { body } = await call("GET", metrics);
    expect(body["resources"]).toEqual([
      { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
      { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
    ]);
    expect(JSON.stringify((await call("GET", "/apis")).body)).toContain("metrics.k8s.io/v1beta1");
    await start({ nodes: 1 });
    expect(JSON.stringify((await call("GET", "/apis")).body)).not.toContain("metrics.k8s.io");
  });

  it("shows pods after one window, by label, and the sum of each node", async () => {
    await createDeployment(2);
    await pass(5);
    expect((await call("GET", `${metrics}/pods`)).body["items"]).toEqual([]);
    await pass(20);
    const { body } = await call("GET", `${metrics}/namespaces/default/pods?labelSelector=app%3Dweb`);
    const items = body["items"] as { metadata: { name: string }; window: string; containers: unknown }[];
    expect(body["kind"]).toBe("PodMetricsList");
    expect(items).toHaveLength(2);
    expect(items[0]).toMatchObject({
      window: "15s",
      containers: [{ name: "main", usage: { cpu: "100m", memory: "3Mi" } }],
    });
    expect((await call("GET", `${metrics}/pods?labelSelector=app%3Dother`)).body["items"]).toEqual([]);
    const one = await call("GET", `${metrics}/namespaces/default/pods/${items[0]?.metadata.name ?? ""}`);
    expect(one.body).toMatchObject({ kind: "PodMetrics", metadata: { namespace: "default" } });
    const nodes = (await call("GET", `${metrics}/nodes`)).body["items"] as { usage: unknown }[];
    expect(nodes.map(({ usage }) => usage)).toEqual([
      { cpu: "100m", memory: "3Mi" },
      { cpu: "100m", memory: "3Mi" },
    ]);
  });

  it("answers like a metrics server to unknown names, wrong selectors and writes", async () => {
    expect((await call("GET", `${metrics}/namespaces/default/pods/none`)).status).toBe(404);
    expect((await call("GET", `${metrics}/pods?labelSelector=%3D`)).status).toBe(400);
    expect((await call("POST", `${metrics}/namespaces/default/pods`, {})).status).toBe(405);
  });

  it("takes the annotations of KWOK before the usage source", async () => {
    await createDeployment(1, { "kwok.x-k8s.io/usage-cpu": "1500m", "kwok.x-k8s.io/usage-memory": "2Gi" });
    await pass(20);
    const { body } = await call("GET", `${metrics}/pods`);
    expect(body["items"]).toMatchObject([{ containers: [{ usage: { cpu: "1500m", memory: "2Gi" } }] }]);
  });
});

describe("an autoscaler with usage", () => {
  beforeEach(async () => {
    cpuMillicores = 60;
    await start({ nodes: 3, usage: () => ({ cpuMillicores, memoryBytes: 1_048_576 }) });
  });

  it("scales up under load, and down after the stabilization window", async () => {
    await createDeployment(2);
    await createAutoscaler();
    await pass(60);
    expect(await replicas()).toBe(2);
    cpuMillicores = 150;
    await pass(16);
    expect(await replicas()).toBe(4);
    await pass(60);
    expect(await replicas()).toBe(8);
    cpuMillicores = 5;
    await pass(240);
    expect(await replicas()).toBe(8);
    await pass(120);
    expect(await replicas()).toBe(1);
    const { body } = await call("GET", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web");
    expect(body["status"]).toMatchObject({
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 5, averageValue: "5m" } } },
      ],
    });
  });

  it("obeys its behavior", async () => {
    await createDeployment(2);
    await createAutoscaler({
      behavior: {
        scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] },
        scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: "Percent", value: 50, periodSeconds: 15 }] },
      },
    });
    cpuMillicores = 1000;
    await pass(45);
    expect(await replicas()).toBe(3);
    await pass(60);
    expect(await replicas()).toBe(4);
    cpuMillicores = 1;
    await pass(31);
    expect(await replicas()).toBeLessThanOrEqual(2);
  });

  it("explains why it cannot scale", async () => {
    await createDeployment(1);
    await pass(1);
    await createAutoscaler();
    await pass(5);
    const { body } = await call("GET", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web");
    expect(body["status"]).toMatchObject({
      conditions: [
        { type: "AbleToScale" },
        {
          type: "ScalingActive",
          reason: "FailedGetResourceMetric",
          message:
            "the HPA was unable to compute the replica count: failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)",
        },
      ],
    });
  });
});
