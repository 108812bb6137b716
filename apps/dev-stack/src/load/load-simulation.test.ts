import { virtualAmbient } from "@oaas/foundation/virtual";
import { SIGNALS } from "@oaas/nfr";
import { buildQuery } from "@oaas/nfr/queries";
import { labelsToObject, QueryEngine } from "@oaas/promql";
import { beforeEach, describe, expect, test } from "vitest";
import { LOAD_ANNOTATION, LOAD_VARIABLE, LoadSimulation } from "./load-simulation.ts";

const { time } = virtualAmbient(1);
let pods: unknown[] = [];
let classes: unknown[] = [];
let autoscalers: unknown[] = [];
let simulation: LoadSimulation;

function pod(name: string, options: { isReady?: boolean; component?: string; load?: string } = {}): object {
  const { isReady = true, component = "function", load } = options;
  const env = load === undefined ? [] : [{ name: LOAD_VARIABLE, value: load }];
  return {
    metadata: {
      namespace: "default",
      name,
      labels: {
        "oaas.io/owner": "hello",
        "oaas.io/deployment-id": "d1",
        "oaas.io/class": "shop.Hello",
        ...(component === "function" ? { "oaas.io/function": "greet" } : {}),
      },
    },
    spec: { containers: [{ name: "main", env, resources: { limits: { cpu: "500m" } } }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  };
}

function list({ resource }: { readonly resource: string }): readonly unknown[] {
  if (resource === "pods") return pods;
  if (resource === "classruntimes") return classes;
  if (resource === "horizontalpodautoscalers") return autoscalers;
  const labels = { "oaas.io/owner": "hello" };
  return resource === "deployments"
    ? [
        {
          metadata: { namespace: "default", name: "hello", labels },
          spec: { replicas: 2 },
          status: { readyReplicas: pods.length },
        },
      ]
    : [];
}

/** The series of a query, now. */
function query(text: string): readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[] {
  const result = new QueryEngine(simulation.store).queryInstant(text, time.now());
  if (result.type !== "vector") throw new Error(result.type);
  return result.series.map(({ labels, points }) => ({
    labels: labelsToObject(labels),
    value: points[0]?.value ?? Number.NaN,
  }));
}

async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds / 5; step += 1) await time.advance(5000);
}

const scope = { namespaces: ["default"], windowMs: 30_000 };

beforeEach(() => {
  pods = [pod("hello-1"), pod("hello-2")];
  classes = [];
  autoscalers = [];
  simulation = new LoadSimulation({ clock: time, timers: time, list });
  simulation.start();
  return () => simulation.stop();
});

describe("LoadSimulation", () => {
  test("gives every function a small load that its metrics show", async () => {
    await pass(60);
    expect(query(buildQuery("requests_per_second", scope, "prometheus"))).toEqual([
      {
        labels: { namespace: "default", oaas_owner: "hello", function: "greet" },
        value: expect.closeTo(2, 6) as number,
      },
    ]);
    expect(simulation.states).toEqual([
      {
        namespace: "default",
        owner: "hello",
        function: "greet",
        requests_per_second: 2,
        failed_per_second: 0,
        ready_replicas: 2,
        mean_latency_ms: 10,
      },
    ]);
  });

  test("adds requests of clients to the load of the next interval", async () => {
    await pass(30);
    for (let index = 0; index < 50; index += 1) simulation.countRequest(pod("hello-1") as { metadata: object });
    await pass(5);
    expect(simulation.states[0]).toMatchObject({ requests_per_second: 12 });
    await pass(5);
    expect(simulation.states[0]).toMatchObject({ requests_per_second: 2 });
  });

  test("has series for every signal that the class runtime manager asks for", async () => {
    await pass(60);
    const missing = SIGNALS.filter((signal) => query(buildQuery(signal, scope, "prometheus")).length === 0);
    expect(missing).toEqual([]);
  });

  test("uses CPU in proportion to the load, and reports it in the metrics API", async () => {
    classes = [{ metadata: { namespace: "default", name: "hello", annotations: { [LOAD_ANNOTATION]: "40" } } }];
    await pass(60);
    const cpu = query(buildQuery("cpu_millicores", scope, "prometheus")).map(({ value }) => value);
    // Two pods share 40 requests/s of 5 ms each, besides 2 millicores each when idle.
    expect(cpu).toEqual([expect.closeTo(102, 6), expect.closeTo(102, 6)]);
    expect(simulation.usageOf({ metadata: { namespace: "default", name: "hello-1" } })?.cpuMillicores).toBeCloseTo(
      102,
      6,
    );
    expect(simulation.usageOf({ metadata: { namespace: "default", name: "other" } })).toBeUndefined();
  });

  test("saturates in a spike, and recovers with more replicas", async () => {
    await pass(30);
    simulation.setSpike(true);
    await pass(60);
    expect(query(buildQuery("latency_p95_ms", scope, "prometheus"))[0]?.value).toBeGreaterThan(1000);
    expect(query(buildQuery("errors_per_second", scope, "prometheus"))[0]?.value).toBeGreaterThan(100);
    expect(query(buildQuery("cpu_throttled_ratio", scope, "prometheus"))[0]?.value).toBe(1);
    pods = Array.from({ length: 10 }, (_, index) => pod(`hello-${index}`));
    await pass(60);
    expect(simulation.states[0]).toMatchObject({ ready_replicas: 10, failed_per_second: 0 });
    expect(query(buildQuery("latency_p95_ms", scope, "prometheus"))[0]?.value).toBeLessThan(100);
    simulation.setSpike(false);
    await pass(5);
    expect(simulation.states[0]?.requests_per_second).toBe(2);
  });

  test("sends no requests to pods that are not ready, nor to the state store", async () => {
    pods = [pod("hello-1"), pod("hello-2", { isReady: false }), pod("hello-odgm-0", { component: "odgm" })];
    await pass(60);
    const rates = query("sum by (pod) (rate(http_requests_total[30s]))");
    expect(rates.map(({ labels, value }) => [labels["pod"], Math.round(value)])).toEqual([
      ["hello-1", 2],
      ["hello-2", 0],
    ]);
    expect(query("container_memory_working_set_bytes")).toHaveLength(3);
  });

  test("fails requests while no pod is ready", async () => {
    pods = [pod("hello-1", { isReady: false })];
    await pass(10);
    expect(simulation.states[0]).toMatchObject({ failed_per_second: 2, ready_replicas: 0 });
  });

  test("ends the series of deleted pods at once, and forgets them after an hour", async () => {
    await pass(30);
    pods = [];
    await pass(5);
    expect(query('{pod=~"hello.*"}')).toEqual([]);
    expect(simulation.states).toEqual([]);
    await pass(3600);
    expect(query("count(last_over_time(container_cpu_usage_seconds_total[2h]))")).toEqual([]);
  });

  test("shows what the autoscaler of a function wants", async () => {
    await pass(5);
    const labels = { "oaas.io/owner": "hello", "oaas.io/function": "greet" };
    const cpu = (value: object): object[] => [{ type: "Resource", resource: { name: "cpu", ...value } }];
    const spec = { metrics: cpu({ target: { averageUtilization: 70 } }) };
    autoscalers = [{ metadata: { namespace: "default", labels }, spec }];
    expect(simulation.states[0]?.autoscaler).toBe("no metrics yet");
    const status = { desiredReplicas: 7, currentMetrics: cpu({ current: { averageUtilization: 480 } }) };
    autoscalers = [{ metadata: { namespace: "default", labels }, spec, status }];
    expect(simulation.states[0]?.autoscaler).toBe("CPU 480 % of the request, target 70 %: 7 replicas");
  });

  test("follows the load in the config of a function, also in a spike; an annotation takes precedence", async () => {
    const loadNow = (): number | undefined => simulation.states[0]?.requests_per_second;
    pods = [pod("hello-1", { load: "20..320/60s" })];
    await pass(5);
    expect(loadNow()).toBe(20);
    simulation.setSpike(true);
    await pass(15);
    expect(loadNow()).toBe(170);
    await pass(15);
    expect(loadNow()).toBe(320);
    pods = [pod("hello-1", { load: "20..320/60s" }), pod("hello-2", { load: "20..320/60s" })];
    await pass(15);
    expect(simulation.states[0]).toMatchObject({ requests_per_second: 170, ready_replicas: 2 });
    classes = [{ metadata: { namespace: "default", name: "hello", annotations: { [LOAD_ANNOTATION]: "40" } } }];
    await pass(5);
    expect(loadNow()).toBe(40);
  });

  test.each(["lots", "", "-1"])("ignores the annotation %j", async (text) => {
    classes = [{ metadata: { namespace: "default", name: "hello", annotations: { [LOAD_ANNOTATION]: text } } }];
    await pass(5);
    expect(simulation.states[0]?.requests_per_second).toBe(2);
  });

  test("stops", async () => {
    simulation.stop();
    await pass(60);
    expect(simulation.store.size).toBe(0);
  });
});
