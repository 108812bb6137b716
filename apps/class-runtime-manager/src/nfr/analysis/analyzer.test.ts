import { classRuntime, type ClassRuntimeStatus } from "@oaas/contracts/crd";
import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { EventInput } from "@oaas/kube-runtime";
import { SIGNALS, type Signal } from "@oaas/nfr";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, it } from "vitest";
import { measuredComponents } from "../components/measured-component.ts";
import { scriptedPrometheus, type Script, type ScriptedSeries } from "../testing/scripted-prometheus.ts";
import { Analyzer, type AnalyzedClass, type AnalyzerOptions, type MeasuredClass } from "./analyzer.ts";
import { functionDeployment } from "../testing/function-deployment.ts";

const STEP_MS = 30_000;
const RANGE_MS = 600_000;
const WINDOW_MS = 120_000;

/** A class with one function, whose status is what was written. */
class FakeClass {
  readonly name: string;
  writes: ClassRuntimeStatus[] = [];
  status: ClassRuntimeStatus = { phase: "available" };
  isDeleted = false;
  isMeasured = true;
  readonly #requirements: object;

  constructor(
    name: string,
    requirements: object = { min_throughput_rps: 50, max_latency_ms: 200, availability: 0.99 },
  ) {
    this.name = name;
    this.#requirements = requirements;
  }

  measured(): MeasuredClass {
    const metadata = { name: this.name, namespace: "ns", uid: `uid-${this.name}`, generation: 3, resourceVersion: "1" };
    const apiVersion = "oaas.io/v1alpha1";
    const functions = [{ function_key: "f", provision_config: { container_image: "example.test/fn:1" } }];
    const spec = { functions, nfr_requirements: this.#requirements };
    const parsed = classRuntime.parse({ apiVersion, kind: "ClassRuntime", metadata, spec });
    const deployment = functionDeployment(this.name, 2);
    return {
      object: { apiVersion, kind: "ClassRuntime", metadata },
      class: parsed,
      status: this.status,
      isMeasured: this.isMeasured,
      components: this.isMeasured
        ? measuredComponents({ class: parsed, uid: metadata.uid, children: [deployment], pods: [], maxReplicas: 20 })
        : [],
      writeStatus: async (status) => {
        if (this.isDeleted) return false;
        this.writes.push(status);
        this.status = { phase: this.status.phase, ...status };
        return true;
      },
    };
  }

  condition() {
    return this.status.conditions?.find(({ type }) => type === "NfrObserved");
  }
}

const owner = (name: string) => ({ namespace: "ns", oaas_owner: name, function: "f" });
const constant = (labels: Record<string, string>, value: number): ScriptedSeries => ({ labels, valueAt: () => value });

/** A class with two pods that serves 100 requests per second in 80 ms. */
function healthyScript(names: readonly string[], over: Partial<Record<Signal, number>> = {}): Script {
  const values = { requests_per_second: 100, latency_p50_ms: 20, latency_p95_ms: 60, latency_p99_ms: 80, errors_per_second: 0, queue_length: 0, ...over }; // prettier-ignore
  const byOwner = Object.entries(values).map(([signal, value]) => [
    signal,
    names.map((name) => constant(owner(name), value)),
  ]);
  const byPod = (value: number) =>
    names.flatMap((name) =>
      ["x2x4z", "b5c6d"].map((id) => constant({ namespace: "ns", pod: `${name}-7d4b9c6f5d-${id}` }, value)),
    );
  const byDeployment = (value: number) => names.map((name) => constant({ namespace: "ns", deployment: name }, value));
  const slow = names.flatMap((name) => [
    constant({ ...owner(name), le: "0.2" }, 100),
    constant({ ...owner(name), le: "+Inf" }, 100),
  ]);
  return {
    ...(Object.fromEntries(byOwner) as Script),
    slow_requests_per_second: slow,
    cpu_millicores: byPod(120),
    cpu_throttled_ratio: byPod(0),
    memory_bytes: byPod(1e8),
    restarts: byPod(0),
    oom_kills: byPod(0),
    availability: byDeployment(1),
    ready_replicas: byDeployment(2),
  };
}

function setup(classes: readonly FakeClass[], script: Script, over: Pick<AnalyzerOptions, "minMemoryBytes"> = {}) {
  const ambient = virtualAmbient(3);
  const provider = scriptedPrometheus(script, { namespaces: ["ns"], windowMs: WINDOW_MS });
  const meter = createRecordingMeter();
  const events: EventInput[] = [];
  const analyzed: AnalyzedClass[] = [];
  const listed = [...classes];
  const create = () =>
    new Analyzer({
      provider,
      ambient,
      logger: NOOP_LOGGER,
      meter,
      everyMs: STEP_MS,
      rangeMs: RANGE_MS,
      stepMs: STEP_MS,
      rateWindowMs: WINDOW_MS,
      scheme: "prometheus",
      overrides: {},
      settings: { ...DEFAULT_ANALYZER_SETTINGS, rateWindowMs: WINDOW_MS },
      classes: () => listed.map((one) => one.measured()),
      recordEvent: (event) => events.push(event),
      onAnalyzed: async (one) => void analyzed.push(one),
      ...over,
    });
  /** Runs an analyzer for some time, as the leader. */
  const lead = async (ms: number): Promise<void> => {
    const term = new AbortController();
    const done = create().run(term.signal);
    await ambient.time.advance(ms);
    term.abort();
    await ambient.time.advance(0);
    await done;
  };
  const start = () => {
    const term = new AbortController();
    const done = create().run(term.signal);
    return { advance: (ms: number) => ambient.time.advance(ms), stop: async () => (term.abort(), await done) };
  };
  return { ambient, provider, meter, events, analyzed, listed, lead, start };
}

const MINUTE = 60_000;

describe("Analyzer", () => {
  it("writes recommendations, compliance and NfrObserved once, and nothing while nothing changes", async () => {
    const web = new FakeClass("web");
    const { lead, events } = setup([web], healthyScript(["web"]));
    await lead(2 * 60 * MINUTE);
    expect(web.condition()).toMatchObject({ status: "True", reason: "MetricsObserved", observedGeneration: 3 });
    const recommended = web.status.nfr_recommendations?.map(({ component, dimension }) => `${component}/${dimension}`);
    expect(recommended).toEqual(["f/cpu", "f/memory", "f/replicas"]);
    const cpu = web.status.nfr_recommendations?.find(({ dimension }) => dimension === "cpu")?.target ?? 0;
    // 120 millicores per pod and a margin of 15 %, in buckets of 5 %.
    expect(cpu).toBeGreaterThan(120 * 1.1);
    expect(cpu).toBeLessThan(120 * 1.25);
    expect(web.status.nfr_compliance).toMatchObject({ overall_status: "Compliant" });
    expect(web.writes).toHaveLength(1);
    expect(events.map(({ reason }) => reason)).toEqual(["NFRObserved"]);
  });

  it("costs zero writes for a class without requests", async () => {
    const idle = new FakeClass("idle");
    const { lead } = setup([idle], healthyScript(["idle"], { requests_per_second: 0, latency_p99_ms: 0, latency_p95_ms: 0, latency_p50_ms: 0 })); // prettier-ignore
    await lead(10 * MINUTE);
    const before = idle.writes.length;
    const later = setup([idle], healthyScript(["idle"], { requests_per_second: 0 }));
    await later.ambient.time.advance(10 * MINUTE);
    await later.lead(3 * 60 * MINUTE);
    expect(idle.writes.length - before).toBe(0);
  });

  it.each([1, 60])("asks one query per signal and tick for %d classes", async (count) => {
    const names = Array.from({ length: count }, (_, index) => `class-${index}`);
    const { provider, start } = setup(names.map((name) => new FakeClass(name)), healthyScript(names)); // prettier-ignore
    const running = start();
    await running.advance(1_000);
    const first = provider.asked.length;
    await running.advance(STEP_MS);
    await running.stop();
    const tick = provider.asked.slice(first);
    expect(tick.map(({ signal }) => signal).toSorted()).toEqual([...SIGNALS].toSorted());
    // The first tick also reads the history of requests and of usage.
    expect(first).toBe(SIGNALS.length + 3 + 2);
  });

  it("keeps the sizes and their confidence across a change of leader", async () => {
    const web = new FakeClass("web");
    const { lead } = setup([web], healthyScript(["web"]));
    await lead(10 * MINUTE);
    const sizes = () =>
      web.status.nfr_recommendations
        ?.filter(({ dimension }) => dimension !== "replicas")
        .map(({ dimension, target, confidence }) => ({ dimension, target, isConfident: (confidence ?? 0) > 0.9 }));
    // The pods ran before this process started.
    expect(sizes()).toMatchObject([
      { dimension: "cpu", isConfident: true },
      { dimension: "memory", isConfident: true },
    ]);
    const writes = web.writes.length;
    await lead(10 * MINUTE);
    expect(web.writes.length).toBe(writes);
  });

  it.each([
    [undefined, 250 * 1024 * 1024],
    [500_000_000, 500_000_000],
  ])("recommends at least the least memory (%s)", async (minMemoryBytes, target) => {
    const web = new FakeClass("web");
    const options = minMemoryBytes === undefined ? {} : { minMemoryBytes };
    await setup([web], healthyScript(["web"]), options).lead(2 * MINUTE);
    const memory = web.status.nfr_recommendations?.find(({ dimension }) => dimension === "memory");
    expect(memory).toMatchObject({ target, evidence: { floor: "min_memory" } });
  });

  it("keeps the learnt capacity across a change of leader, without a write", async () => {
    const web = new FakeClass("web");
    // Latency follows the load of a replica: the capacity is between 300 and 450 requests per second.
    const loadAt = (atMs: number): number => 200 + 100 * Math.floor((atMs / (20 * MINUTE)) % 8);
    const script = healthyScript(["web"]);
    const byLoad = (valueOf: (load: number) => number): ScriptedSeries[] => [
      { labels: owner("web"), valueAt: (atMs) => valueOf(loadAt(atMs)) },
    ];
    const { lead, analyzed, ambient } = setup([web], {
      ...script,
      requests_per_second: byLoad((load) => load),
      latency_p99_ms: byLoad((load) => (load > 700 ? 400 : 80)),
    });
    await lead(3 * 60 * MINUTE);
    const replicasOf = () => {
      const { components } = analyzed.at(-1) ?? {};
      const found = components?.[0]?.recommendations.find(({ dimension }) => dimension === "replicas");
      return { target: found?.target, values: found?.basis.values, floor: found?.basis.floor };
    };
    const before = replicasOf();
    const [stored] = web.status.nfr_capacity ?? [];
    expect(stored).toMatchObject({ component: "f", revision: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(stored?.confidence).toBeGreaterThanOrEqual(0.5);
    expect(stored?.points.split(";").length).toBeGreaterThan(4);
    const writes = web.writes.length;
    await ambient.time.advance(1_000);
    await lead(1_000);
    expect(replicasOf()).toEqual(before);
    expect(web.writes.length).toBe(writes);
    const { nfr_capacity: _, ...lost } = web.status;
    web.status = lost;
    await lead(1_000);
    // Without it, the last target stands.
    expect(replicasOf().target).toBeGreaterThanOrEqual(before.target ?? 0);
    expect(replicasOf().values?.["capacity_confidence"]).toBeLessThan(before.values?.["capacity_confidence"] ?? 0);
  });

  it("reads the history of requests once they can be read, whatever else fails", async () => {
    const { provider, start } = setup([new FakeClass("web")], healthyScript(["web"]));
    const history = () => provider.asked.filter(({ stepMs }) => stepMs !== STEP_MS).map(({ signal }) => signal);
    provider.broken = new Set(["restarts", "errors_per_second"]);
    const running = start();
    await running.advance(MINUTE);
    expect(history()).toEqual([]);
    provider.broken = new Set(["restarts"]);
    await running.advance(10 * MINUTE);
    await running.stop();
    expect(history()).toEqual([
      "requests_per_second",
      "errors_per_second",
      "slow_requests_per_second",
      "cpu_millicores",
      "memory_bytes",
    ]);
    const first = provider.asked.find(({ stepMs }) => stepMs !== STEP_MS);
    expect((first?.endMs ?? 0) - (first?.startMs ?? 0)).toBe(3 * 24 * 60 * MINUTE - 5 * MINUTE);
  });

  it("fetches only what is new, and what it missed during an outage", async () => {
    const { provider, start } = setup([new FakeClass("web")], healthyScript(["web"]));
    const running = start();
    const spans = () => provider.asked.filter(({ signal }) => signal === "restarts").map(({ startMs, endMs }) => endMs - startMs); // prettier-ignore
    await running.advance(2 * STEP_MS + 1_000);
    expect(spans()).toEqual([RANGE_MS, 3 * STEP_MS, 3 * STEP_MS]);
    provider.outage = unavailable("prometheus", "down");
    await running.advance(4 * STEP_MS);
    provider.outage = undefined;
    await running.advance(STEP_MS);
    expect(spans().at(-1)).toBe(7 * STEP_MS);
    await running.stop();
  });

  it("keeps the last state during an outage, and says why and since when", async () => {
    const web = new FakeClass("web");
    const { provider, start, ambient, events, meter } = setup([web], healthyScript(["web"]));
    const running = start();
    await running.advance(5 * MINUTE);
    const targets = () => web.status.nfr_recommendations?.map(({ dimension, target }) => [dimension, target]);
    const recommended = targets();
    const lastData = ambient.clock.now() - (ambient.clock.now() % STEP_MS);
    provider.outage = unavailable("prometheus", "cannot reach http://prometheus:9090 (ECONNREFUSED)");
    await running.advance(2 * MINUTE);
    expect(web.condition()?.status).toBe("True");
    await running.advance(58 * MINUTE);
    expect(web.condition()).toMatchObject({ status: "Unknown", reason: "PrometheusUnavailable" });
    expect(web.condition()?.message).toContain("cannot reach http://prometheus:9090 (ECONNREFUSED)");
    expect(web.condition()?.message).toContain(new Date(lastData).toISOString());
    expect(targets()).toEqual(recommended);
    expect(recommended).not.toHaveLength(0);
    expect(web.status.nfr_compliance).toMatchObject({ overall_status: "Unknown" });
    expect(meter.value("crm_nfr_classes", { observed: "Unknown" })).toBe(1);
    const afterOutage = web.writes.length;
    expect(afterOutage).toBeLessThanOrEqual(4);
    provider.outage = undefined;
    await running.advance(15 * MINUTE);
    expect(web.condition()).toMatchObject({ status: "True" });
    await running.stop();
    expect(events.map(({ reason }) => reason)).toEqual(["NFRObserved", "NFRNotObserved", "NFRObserved"]);
  });

  it.each([
    ["a partial answer", { isPartial: true, warnings: ["store 10.0.0.7 is down"] }, /store 10\.0\.0\.7 is down/],
    ["an answer without series", { series: [] }, /no series of this class/],
  ] as const)("treats %s as unknown", async (_, changes, message) => {
    const web = new FakeClass("web");
    const { provider, lead, analyzed } = setup([web], healthyScript(["web"]));
    provider.changes = changes;
    await lead(5 * MINUTE);
    expect(web.condition()).toMatchObject({ status: "Unknown", message: expect.stringMatching(message) });
    expect(web.status.nfr_compliance).toMatchObject({ overall_status: "Unknown" });
    expect(analyzed.at(-1)?.components[0]?.recommendations).toEqual([]);
    expect(web.writes.length).toBe(1);
  });

  it("does not combine outdated samples of one signal with fresh ones of the others", async () => {
    const web = new FakeClass("web");
    const { provider, start, analyzed } = setup([web], healthyScript(["web"], { latency_p99_ms: 900 }));
    const running = start();
    await running.advance(5 * MINUTE);
    expect(web.status.nfr_compliance).toMatchObject({ latency_status: "Violated" });
    provider.broken = new Set(["latency_p99_ms"]);
    await running.advance(5 * MINUTE);
    await running.stop();
    expect(web.condition()).toMatchObject({ status: "Unknown", reason: "QueriesFailed", message: expect.stringContaining("latency_p99_ms") }); // prettier-ignore
    expect(web.status.nfr_compliance).toMatchObject({ latency_status: "Unknown", throughput_status: "Compliant" });
    expect(analyzed.at(-1)?.components[0]?.analysis.urgency.ratio).toBeUndefined();
  });

  it("reports a violation once, with an event and a metric, and its end", async () => {
    const web = new FakeClass("web");
    const script = healthyScript(["web"]);
    const { provider, start, events, meter } = setup([web], script);
    const running = start();
    await running.advance(5 * MINUTE);
    provider.script = healthyScript(["web"], { latency_p99_ms: 900 });
    await running.advance(20 * MINUTE);
    expect(web.status.nfr_compliance).toMatchObject({ latency_status: "Violated", overall_status: "Violated" });
    const violated = events.filter(({ reason }) => reason === "NFRViolated");
    expect(violated).toHaveLength(1);
    expect(violated[0]).toMatchObject({ type: "Warning", note: expect.stringMatching(/latency of f is violated: measured \d+, target 200, over 10m/) }); // prettier-ignore
    expect(meter.value("crm_nfr_violations_total", { requirement: "latency" })).toBe(1);
    provider.script = script;
    await running.advance(20 * MINUTE);
    await running.stop();
    expect(events.map(({ reason }) => reason)).toEqual(["NFRObserved", "NFRViolated", "NFRMet"]);
  });

  it("counts the time of a violation, across changes of the leader", async () => {
    const classes = [new FakeClass("web"), new FakeClass("other")];
    const script = healthyScript(["web", "other"]);
    const latencies = [constant(owner("web"), 900), constant(owner("other"), 80)];
    const { lead, meter } = setup(classes, { ...script, latency_p99_ms: latencies });
    const seconds = (name: string, requirement = "latency") =>
      meter.value("crm_nfr_violated_seconds_total", {
        class_namespace: "ns",
        class: name,
        component: "f",
        requirement,
      });
    await lead(10 * MINUTE);
    expect(seconds("web")).toBe(600);
    expect([seconds("web", "throughput"), seconds("other")]).toEqual([0, 0]);
    await lead(5 * MINUTE);
    expect(seconds("web")).toBe(900);
  });

  it("removes the violation time of a class that is not measured any more", async () => {
    const web = new FakeClass("web");
    const { start, meter, listed } = setup([web], healthyScript(["web"], { latency_p99_ms: 900 }));
    const labels = { class_namespace: "ns", class: "web", component: "f", requirement: "latency" };
    const running = start();
    await running.advance(2 * MINUTE);
    expect(meter.value("crm_nfr_violated_seconds_total", labels)).toBe(120);
    listed.shift();
    await running.advance(MINUTE);
    expect(meter.value("crm_nfr_violated_seconds_total", labels)).toBeUndefined();
    await running.stop();
  });

  it("keeps the start of a verdict and the target across a change of leader", async () => {
    const web = new FakeClass("web");
    const { lead } = setup([web], healthyScript(["web"]));
    await lead(30 * MINUTE);
    const before = structuredClone(web.status);
    const writes = web.writes.length;
    await lead(10 * MINUTE);
    const since = (status: ClassRuntimeStatus) => status.nfr_compliance?.measurements?.map((one) => one.since);
    expect(since(web.status)).toEqual(since(before));
    const target = (status: ClassRuntimeStatus) =>
      status.nfr_recommendations?.find(({ dimension }) => dimension === "replicas")?.target ?? 0;
    expect(target(web.status)).toBeGreaterThanOrEqual(target(before));
    expect(web.writes.length - writes).toBeLessThanOrEqual(2);
  });

  it("ignores a class that is deleted in the middle of a tick, and measures the others", async () => {
    const [gone, web] = [new FakeClass("gone"), new FakeClass("web")];
    gone.isDeleted = true;
    const { lead, events, listed } = setup([gone, web], healthyScript(["gone", "web"]));
    await lead(MINUTE);
    expect(events.map(({ regarding }) => regarding.name)).toEqual(["web"]);
    listed.shift();
    await lead(MINUTE);
    expect(web.condition()).toMatchObject({ status: "True" });
  });

  it("removes its fields from a class that turns measurements off", async () => {
    const web = new FakeClass("web");
    const { lead, provider } = setup([web], healthyScript(["web"]));
    await lead(MINUTE);
    web.isMeasured = false;
    const asked = provider.asked.length;
    await lead(5 * MINUTE);
    expect(web.status).toEqual({ phase: "available" });
    expect(provider.asked).toHaveLength(asked);
  });

  it("says nothing about a class that is starting, and what is missing once it is available", async () => {
    const web = new FakeClass("web");
    web.status = { phase: "progressing" };
    const { start, events } = setup([web], {});
    const running = start();
    await running.advance(10 * MINUTE);
    expect(web.writes).toEqual([]);
    web.status = { phase: "available" };
    await running.advance(MINUTE);
    await running.stop();
    expect(web.condition()).toMatchObject({ status: "Unknown", reason: "NoSeries" });
    expect(events.map(({ reason }) => reason)).toEqual(["NFRNotObserved"]);
  });

  it("asks for the health of the server instead of all signals while its circuit breaker is open", async () => {
    const { lead, provider } = setup([new FakeClass("web")], healthyScript(["web"]));
    provider.breaker = "open";
    provider.outage = unavailable("prometheus", "down");
    await lead(5 * MINUTE);
    expect(provider.asked).toEqual([]);
  });
});
