import { classRuntime, type ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { EventInput } from "@oaas/kube-runtime";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { createPrometheusClient, type PrometheusTransport } from "@oaas/prometheus-client";
import { describe, expect, test } from "vitest";
import type { EnforceableClass } from "../controller/reconcile/enforceable-class.ts";
import type { ClassEnforcement } from "../enforcement/class-enforcement.ts";
import { enforcedValues } from "../enforcement/enforced-values.ts";
import { Analyzer, type MeasuredClass } from "./analysis/analyzer.ts";
import { measuredComponents } from "./components/measured-component.ts";
import { Enforcer } from "./enforcer/enforcer.ts";
import { scriptedPrometheus, type Script } from "./testing/scripted-prometheus.ts";
import { functionDeployment } from "./testing/function-deployment.ts";

const STEP_MS = 30_000;
const WINDOW_MS = 120_000;
const MINUTE = 60_000;
const MAX_AGE_MS = 180_000;
/** The load of a spike, and the replicas that serve it. */
const SPIKE_RPS = 1_800;
const NEEDED = 18;

const ENFORCEMENT: ClassEnforcement = {
  mode: "enforce",
  dimensions: new Set(["replicas"]),
  mayRestart: false,
  problems: [],
};

/** A class with one function, as analyzer and enforcer see it. Its Deployment follows the enforced value at once. */
class FakeClass {
  readonly name: string;
  /** What each writer wrote, as with server-side apply. */
  readonly #written: Record<"analyzer" | "enforcer", ClassRuntimeStatus> = { analyzer: {}, enforcer: {} };
  writes = 0;
  isDeleted = false;
  denied: Fault | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get status(): ClassRuntimeStatus {
    const { analyzer, enforcer } = this.#written;
    const conditions = [...(analyzer.conditions ?? []), ...(enforcer.conditions ?? [])];
    return { phase: "available", ...analyzer, ...enforcer, conditions };
  }

  get replicas(): number {
    return enforcedValues(this.status, ENFORCEMENT, false).get("f")?.replicas ?? 2;
  }

  condition(type: "NfrObserved" | "NfrEnforced") {
    return this.status.conditions?.find((one) => one.type === type);
  }

  async #write(writer: "analyzer" | "enforcer", status: ClassRuntimeStatus): Promise<boolean> {
    if (this.denied !== undefined) throw this.denied;
    if (this.isDeleted) return false;
    this.writes += 1;
    this.#written[writer] = JSON.parse(JSON.stringify(status)) as ClassRuntimeStatus;
    return true;
  }

  get #metadata() {
    return { name: this.name, namespace: "ns", uid: `uid-${this.name}`, generation: 1, resourceVersion: "1" };
  }

  measured(): MeasuredClass {
    const metadata = this.#metadata;
    const apiVersion = "oaas.io/v1alpha1";
    const functions = [{ function_key: "f", provision_config: { container_image: "example.test/fn:1" } }];
    const spec = { functions, nfr_requirements: { min_throughput_rps: 50, max_latency_ms: 200 } };
    const parsed = classRuntime.parse({ apiVersion, kind: "ClassRuntime", metadata, spec });
    const resources = { requests: { cpu: "500m" } };
    const deployment = functionDeployment(this.name, this.replicas, resources);
    return {
      object: { apiVersion, kind: "ClassRuntime", metadata },
      class: parsed,
      status: this.status,
      isMeasured: true,
      components: measuredComponents({
        class: parsed,
        uid: metadata.uid,
        children: [deployment],
        pods: [],
        maxReplicas: 20,
      }),
      writeStatus: (status) => this.#write("analyzer", status),
    };
  }

  enforceable(): EnforceableClass {
    const { uid, namespace, generation, name } = this.#metadata;
    return {
      uid,
      namespace,
      generation,
      regarding: { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name, namespace },
      status: this.status,
      enforcement: ENFORCEMENT,
      components: new Set(["f"]),
      values: [
        {
          component: "f",
          dimension: "replicas",
          current: this.replicas,
          minimums: [{ value: 1, source: "min_scale" }],
          maximums: [{ value: 20, source: "max_scale" }],
          path: `Deployment/${name} spec.replicas`,
          isAllowed: true,
          blockers: [],
        },
      ],
      findProblems: () => [],
      findResizeProblem: async () => undefined,
      writeStatus: (status) => this.#write("enforcer", status),
    };
  }
}

type Matrix = { metric: Record<string, string>; values: [number, string][] }[];

/** How the server answers range queries. */
type Answer = (result: Matrix) => { readonly text: string } | "hang";

const success = (result: unknown, more: object = {}): { readonly text: string } => ({
  text: JSON.stringify({ status: "success", data: { resultType: "matrix", result }, ...more }),
});
const withValues =
  (change: (at: number, value: string) => [number, string]): Answer =>
  (result) =>
    success(result.map(({ metric, values }) => ({ metric, values: values.map(([at, text]) => change(at, text)) })));

/** A manager whose Prometheus has the series of two classes. The load of `web` can spike. */
function setup(names: readonly ("web" | "other")[] = ["web"]) {
  const ambient = virtualAmbient(11);
  const web = new FakeClass("web");
  const other = new FakeClass("other");
  const load = { web: 60, answer: undefined as Answer | undefined };
  const script = scriptOf(load, { web, other });
  const source = scriptedPrometheus(script, { namespaces: ["ns"], windowMs: WINDOW_MS });
  const transport = transportOf(source, load);
  const url = "http://prometheus:9090";
  const provider = createPrometheusClient({ transport, ambient, url, urlSetting: "URL", timeoutMs: 5_000 });
  const events: EventInput[] = [];
  const recordEvent = (event: EventInput): void => void events.push(event);
  const base = { ambient, logger: NOOP_LOGGER, meter: NOOP_METER, recordEvent };
  const enforcer = new Enforcer({
    ...base,
    settings: DEFAULT_POLICY,
    isFrozen: false,
    actionsPerMinute: 100,
    maxDataAgeMs: MAX_AGE_MS,
    findForeignScaler: async () => undefined,
  });
  const classes = [web, other].filter(({ name }) => names.some((one) => one === name));
  const analyzer = new Analyzer({
    ...base,
    provider,
    everyMs: STEP_MS,
    rangeMs: 10 * MINUTE,
    stepMs: STEP_MS,
    rateWindowMs: WINDOW_MS,
    scheme: "prometheus",
    overrides: {},
    settings: { ...DEFAULT_ANALYZER_SETTINGS, rateWindowMs: WINDOW_MS, maxDataAgeMs: MAX_AGE_MS },
    classes: () => classes.map((one) => one.measured()),
    onAnalyzed: async ({ measured, components }, signal) => {
      const one = classes.find(({ name }) => name === measured.object.metadata.name);
      const findings = components.map(({ measured: { component }, analysis, recommendations }) => {
        const { urgency, badness, dataAgeMs } = analysis;
        return {
          component,
          recommendations,
          urgency,
          ...(badness === undefined ? {} : { badness }),
          ...(dataAgeMs === undefined ? {} : { dataAgeMs }),
        };
      });
      if (one) await enforcer.enforce(one.enforceable(), findings, signal);
    },
  });
  const term = new AbortController();
  const done = Promise.all([enforcer.run(term.signal), analyzer.run(term.signal)]);
  const advance = (ms: number): Promise<void> => ambient.time.advance(ms);
  const stop = async (): Promise<void> => {
    term.abort();
    await advance(0);
    await done;
  };
  return { ambient, web, other, load, events, classes, advance, stop };
}

/** Each request takes 4 millicore seconds; a replica serves 100 requests per second in time. */
function scriptOf(load: { readonly web: number }, classes: Readonly<Record<"web" | "other", FakeClass>>): Script {
  const rpsOf = (name: string): number => (name === "web" ? load.web : 60);
  const each = (labels: (name: string) => Record<string, string>, value: (name: "web" | "other") => number) =>
    (["web", "other"] as const).map((name) => ({ labels: labels(name), valueAt: () => value(name) }));
  const owner = (name: string) => ({ namespace: "ns", oaas_owner: name, function: "f" });
  const deployment = (name: string) => ({ namespace: "ns", deployment: name });
  const pod = (name: string) => ({ namespace: "ns", pod: `${name}-7d4b9c6f5d-x2x4z` });
  const latency = (name: "web" | "other") => (rpsOf(name) > 100 * classes[name].replicas ? 700 : 80);
  return {
    requests_per_second: each(owner, rpsOf),
    errors_per_second: each(owner, () => 0),
    latency_p50_ms: each(owner, latency),
    latency_p95_ms: each(owner, latency),
    latency_p99_ms: each(owner, latency),
    cpu_millicores: each(pod, (name) => 4 * rpsOf(name)),
    availability: each(deployment, () => 1),
    ready_replicas: each(deployment, (name) => classes[name].replicas),
  };
}

function transportOf(
  source: ReturnType<typeof scriptedPrometheus>,
  load: { readonly answer: Answer | undefined },
): PrometheusTransport {
  return {
    send: async ({ url, body, signal }) => {
      const form = new URLSearchParams(body);
      const ms = (name: string): number => Math.round(Number(form.get(name)) * 1000);
      const isRange = url.includes("query_range");
      const query = { expression: form.get("query") ?? "", startMs: ms("start"), endMs: ms("end"), stepMs: ms("step") };
      const { series } = isRange ? await source.queryRange(query) : { series: [] };
      const result = series.map(({ labels, samples }) => ({
        metric: { ...labels },
        values: samples.map(({ atMs, value }): [number, string] => [atMs / 1000, String(value)]),
      }));
      const answer = load.answer === undefined ? success(result) : load.answer(result);
      if (answer === "hang") {
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
        throw new Error("unreachable");
      }
      return {
        status: 200,
        headers: { "content-type": "application/json" },
        chunks: async function* () {
          yield new TextEncoder().encode(answer.text);
        },
      };
    },
    close: async () => undefined,
  };
}

const FAULTS: { readonly name: string; readonly answer: Answer; readonly message: RegExp }[] = [
  {
    name: "absent",
    answer: () => {
      throw unavailable("Prometheus", "cannot reach http://prometheus:9090 (ECONNREFUSED)");
    },
    message: /ECONNREFUSED.*last data at 2026-/,
  },
  { name: "slow", answer: () => "hang", message: /5000 ms.*last data at 2026-/ },
  {
    name: "partial",
    answer: (result) => success(result.slice(1), { warnings: ["receive series from store 10.0.0.7: down"] }),
    message: /10\.0\.0\.7: down.*last data at 2026-/,
  },
  { name: "NaN", answer: withValues((at) => [at, "NaN"]), message: /last data at 2026-/ },
  { name: "infinite", answer: withValues((at) => [at, "+Inf"]), message: /last data at 2026-/ },
  { name: "negative", answer: withValues((at) => [at, "-5"]), message: /last data at 2026-/ },
  { name: "empty", answer: () => success([]), message: /last data at 2026-/ },
  {
    name: "full of duplicates",
    answer: (result) => success([...result, ...result]),
    message: /last data at 2026-/,
  },
  { name: "another API", answer: () => ({ text: '{"results":[]}' }), message: /URL.*last data at 2026-/ },
  { name: "a login page", answer: () => ({ text: "<html>Sign in</html>" }), message: /HTML.*last data at 2026-/ },
  {
    name: "an hour behind",
    answer: withValues((at, text) => [at - 3600, text]),
    message: /last data at 2026-/,
  },
  {
    name: "an hour ahead",
    answer: withValues((at, text) => [at + 3600, text]),
    message: /last data at 2026-/,
  },
];

describe("a Prometheus that fails for an hour in the middle of a spike", () => {
  test("needs replicas in this spike, and gets them without a fault", async () => {
    const { web, load, advance, stop } = setup();
    await advance(6 * MINUTE);
    load.web = SPIKE_RPS;
    await advance(15 * MINUTE);
    expect(web.replicas).toBeGreaterThanOrEqual(NEEDED);
    await stop();
  });

  test.each(FAULTS)("and is $name: the last state stands, and the condition says why", async ({ answer, message }) => {
    const { web, load, events, advance, stop } = setup();
    await advance(6 * MINUTE);
    const before = web.replicas;
    load.web = SPIKE_RPS;
    while (web.replicas === before) await advance(STEP_MS);
    const during = web.replicas;
    const recommended = web.status.nfr_recommendations?.map(({ dimension, target }) => [dimension, target]);
    expect(during).toBeLessThan(NEEDED);
    load.answer = answer;
    // Fresh data may still act.
    await advance(MAX_AGE_MS + 2 * STEP_MS);
    const held = web.replicas;
    const { writes } = web;
    const { length } = events;
    await advance(60 * MINUTE);
    expect(web.replicas).toBe(held);
    expect(held).toBeGreaterThanOrEqual(during);
    expect(web.condition("NfrObserved")).toMatchObject({
      status: "Unknown",
      message: expect.stringMatching(message) as string,
    });
    expect(web.condition("NfrEnforced")).toMatchObject({ status: "False" });
    expect(["NoData", "DataOutdated"]).toContain(web.condition("NfrEnforced")?.reason);
    expect(web.status.nfr_recommendations?.map(({ dimension }) => dimension)).toEqual(
      recommended?.map(([dimension]) => dimension),
    );
    // The fault is reported once, not with every tick.
    expect(web.writes - writes).toBeLessThanOrEqual(3);
    expect(events.slice(length).filter(({ reason }) => reason === "NFRApplied")).toEqual([]);
    load.answer = undefined;
    await advance(15 * MINUTE);
    expect(web.condition("NfrObserved")).toMatchObject({ status: "True" });
    expect(web.replicas).toBeGreaterThanOrEqual(NEEDED);
    await stop();
  });
});

describe("a class that fails in the middle of a tick", () => {
  test("because it was deleted leaves no event, and the others are enforced", async () => {
    const { web, other, load, classes, events, advance, stop } = setup(["web", "other"]);
    load.web = SPIKE_RPS;
    web.isDeleted = true;
    await advance(15 * MINUTE);
    expect(events.filter(({ reason, regarding }) => regarding.name === "web" && reason === "NFRApplied")).toEqual([]);
    expect(other.condition("NfrEnforced")).toBeDefined();
    classes.splice(0, 1);
    await advance(5 * MINUTE);
    await stop();
  });

  test("because its status is forbidden keeps its value, is reported once, and the others are enforced", async () => {
    const { web, other, load, events, advance, stop } = setup(["web", "other"]);
    await advance(15 * MINUTE);
    const before = web.replicas;
    load.web = SPIKE_RPS;
    web.denied = new Fault({ kind: "permission-denied", action: "patch" }, "classruntimes/status is forbidden");
    await advance(60 * MINUTE);
    expect(web.replicas).toBe(before);
    const failed = events.filter(({ reason }) => reason === "NFRApplyFailed");
    expect(failed).toHaveLength(1);
    expect(failed[0]?.note).toContain("classruntimes/status is forbidden");
    expect(other.condition("NfrObserved")).toMatchObject({ status: "True" });
    web.denied = undefined;
    await advance(20 * MINUTE);
    expect(web.replicas).toBeGreaterThan(before);
    await stop();
  });
});
