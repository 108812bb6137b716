import type { KubeObject } from "@oaas/kube-core";
import {
  componentFile,
  describeWith,
  eventually,
  runCommand,
  startKeda,
  startMetricsApi,
  startPrometheus,
  type KedaUnderTest,
  type MetricsApi,
  type PrometheusUnderTest,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compressTime, startMeasuringLoop, type MeasuringLoop } from "./support/compressed-time.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { FieldWriters } from "./support/field-writers.ts";
import { kedaTemplate } from "./support/keda-class.ts";
import { SELF_HEALER, startSelfHealer, type SelfHealer } from "./support/self-healer.ts";
import { startLoad, type SyntheticLoad } from "./support/synthetic-load.ts";

const NAMESPACE = "shared";
const SPEED = 15;
const HOUR_MS = 3_600_000;
/** An hour of the measuring loop. */
const RUN_MS = HOUR_MS / SPEED;
const CPU_PER_REQUEST = 20;

/** The autoscaler decides every second, and on pods that have just started. */
const AUTOSCALING = [
  "--horizontal-pod-autoscaler-sync-period=1s",
  "--horizontal-pod-autoscaler-cpu-initialization-period=1s",
  "--horizontal-pod-autoscaler-initial-readiness-delay=1s",
];

interface Scaler extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly minReplicas?: number;
    readonly minReplicaCount?: number;
    readonly enforcement?: { readonly mode?: string };
  };
  readonly status?: { readonly phase?: string };
}

/** The kind of VPA without its schema: its recommender runs on samples. */
const VPA_KIND = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "verticalpodautoscalers.autoscaling.k8s.io",
    annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797" },
  },
  spec: {
    group: "autoscaling.k8s.io",
    scope: "Namespaced",
    names: { kind: "VerticalPodAutoscaler", plural: "verticalpodautoscalers", singular: "verticalpodautoscaler" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const verticalAutoscaler = (name: string): KubeObject =>
  ({
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: { name },
    spec: { targetRef: { apiVersion: "apps/v1", kind: "Deployment", name }, updatePolicy: { updateMode: "Off" } },
  }) as KubeObject;

/** The class in Git. */
const gitClass = (name: string, over: object = {}): KubeObject => {
  const provision = { container_image: "example.test/fn:1", cpu_request: "500m", min_scale: 1, max_scale: 12 };
  return classManifest(name, {
    functions: [{ function_key: "f", provision_config: provision }],
    nfr_requirements: { min_throughput_rps: 20, max_latency_ms: 100 },
    enforcement: { mode: "enforce", dimensions: ["replicas"] },
    ...over,
  }) as KubeObject;
};

/** How often a sequence of numbers changes its direction. */
function directionChanges(values: readonly number[]): number {
  const steps = values.slice(1).flatMap((value, index) => Math.sign(value - (values[index] ?? value)) || []);
  return steps.slice(1).filter((step, index) => step !== steps[index]).length;
}

const SCALERS = [
  { scaler: "its own autoscaler", needs: [], over: {}, kind: "HorizontalPodAutoscaler", withKeda: false },
  {
    scaler: "KEDA",
    needs: ["keda", "keda-crds"],
    over: { selected_template: "with-keda" },
    kind: "ScaledObject",
    withKeda: true,
  },
] as const;

for (const { scaler, needs, over, kind, withKeda } of SCALERS) {
  const needed = ["kubernetes", "kwok", "kubectl", "prometheus", "vpa", ...needs] as const;
  describeWith(needed, `a class with ${scaler}, the VPA recommender and a self-healer`, () => {
    let fixture: ControllerFixture;
    let prometheus: PrometheusUnderTest;
    let metrics: MetricsApi;
    let keda: KedaUnderTest | undefined;
    let loop: MeasuringLoop;
    let load: SyntheticLoad;
    let healer: SelfHealer;
    let pods: readonly string[] = [];
    const writers = new FieldWriters();
    const history = new Map<string, number[]>();
    const watching = new AbortController();
    let watched: Promise<unknown> | undefined;
    let failure: unknown;

    const KINDS = `crt,deployments,hpa,verticalpodautoscalers,services,pdb${withKeda ? ",scaledobjects" : ""}`;
    const list = async (kinds: string): Promise<readonly Scaler[]> => {
      const text = await fixture.kubectl(`get ${kinds} -n ${NAMESPACE} -o json --show-managed-fields`);
      return (JSON.parse(text) as { readonly items: readonly Scaler[] }).items;
    };
    const remember = (what: string, value: number | undefined): void => {
      const past = history.get(what) ?? [];
      if (value !== undefined && past.at(-1) !== value) history.set(what, [...past, value]);
    };
    const usagePerPod = (): number => (load.rps * CPU_PER_REQUEST) / Math.max(1, pods.length);
    const watch = async (): Promise<void> => {
      while (!watching.signal.aborted) {
        const found = await list(`${KINDS},pods`);
        const running = found.filter((one) => one.kind === "Pod" && one.status?.phase === "Running");
        pods = running.map(({ metadata }) => metadata.name ?? "");
        const objects = found.filter((one) => one.kind !== "Pod");
        writers.observe(objects);
        for (const { kind: of, spec } of objects) {
          if (of === "Deployment") remember("replicas", spec?.replicas);
          if (of === kind) remember("minimum", spec?.minReplicas ?? spec?.minReplicaCount);
        }
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    };
    /** Writes the recommendation of VPA's own code to the status, as its recommender does. */
    const recommend = async (): Promise<void> => {
      const steps: object[] = [];
      while (!watching.signal.aborted) {
        const atMs = Date.now();
        for (const pod of pods) {
          steps.push({ op: "cpu", pod, atMs, stepMs: 1, values: [Math.round(usagePerPod())] });
          steps.push({ op: "memory", pod, atMs, stepMs: 1, values: [100_000_000] });
        }
        const cases = [{ name: "web", steps: [...steps, { op: "recommend", pod: "" }] }];
        const { stdout } = await runCommand(componentFile("vpa-recommend"), [], { stdin: JSON.stringify({ cases }) });
        const { cases: results } = JSON.parse(stdout) as {
          cases: { recommendations: { target: { cpu: number; memory: number } }[] }[];
        };
        const target = results[0]?.recommendations[0]?.target;
        const container = { containerName: "main", target: { cpu: `${target?.cpu}m`, memory: String(target?.memory) } };
        const status = { recommendation: { containerRecommendations: [container] } };
        await fixture.kubectl([
          ...`patch verticalpodautoscalers web -n ${NAMESPACE} --subresource=status --type=merge --field-manager=vpa-recommender -p`.split(
            " ",
          ),
          JSON.stringify({ status }),
        ]);
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      }
    };
    /** Everything but statuses of others, and every write to the class. */
    const settledState = async (): Promise<string> =>
      JSON.stringify(
        (await list(KINDS)).map(({ kind: of, metadata, spec }) => [
          of,
          metadata.name,
          spec,
          of === "ClassRuntime" ? metadata.resourceVersion : metadata.generation,
        ]),
      );

    beforeAll(async () => {
      [fixture, prometheus] = await Promise.all([
        ControllerFixture.start({ controllerManagerArgs: AUTOSCALING }),
        startPrometheus(),
      ]);
      await fixture.kubectl(`create namespace ${NAMESPACE}`);
      await fixture.kubectl("apply -f -", JSON.stringify(VPA_KIND));
      await fixture.kubectl(`wait --for=condition=Established crd/${VPA_KIND.metadata.name} --timeout=60s`);
      metrics = await startMetricsApi(fixture.cluster, () =>
        pods.map((pod) => ({ pod, cpuMillicores: Math.round(usagePerPod()) })),
      );
      if (withKeda) {
        keda = await startKeda(fixture.cluster);
        await fixture.apply(NAMESPACE, kedaTemplate());
      }
      const crm = await fixture.startController({ namespaces: [NAMESPACE], facts: { ...FACTS, enforcement: "basic" } });
      const ambient = compressTime(SPEED, Date.now() - 2 * HOUR_MS);
      // Slower than its CPU shows: the autoscaler alone does not keep the latency, so that its minimum is raised.
      const one = { scheme: "http", namespace: NAMESPACE, name: "web", capacityRps: 12 } as const;
      load = startLoad({ ...one, cpuPerRequest: CPU_PER_REQUEST, pods: () => pods }, prometheus, ambient.clock, 20);
      healer = startSelfHealer(fixture, NAMESPACE, [gitClass("web", over), verticalAutoscaler("web")]);
      await fixture.waitForPhase(NAMESPACE, "web", "available");
      watched = Promise.all([watch(), recommend()]).catch((thrown: unknown) => (failure = thrown));
      loop = startMeasuringLoop(crm, NAMESPACE, prometheus.url, ambient);
    });
    afterAll(async () => {
      watching.abort();
      await watched;
      await healer?.stop();
      await load?.stop();
      await loop?.stop();
      await keda?.close();
      await metrics?.close();
      await prometheus?.close();
      await fixture?.close();
    });

    test("follows the load while every field keeps one writer", async () => {
      const startedMs = performance.now();
      load.rps = 90;
      await eventually(() => (history.get("minimum")?.at(-1) ?? 0) >= 4, {
        timeoutMs: 240_000,
        what: "a higher minimum",
      });
      await eventually(() => pods.length >= 4, { timeoutMs: 60_000, what: "four pods" });
      const high = history.get("minimum")?.at(-1) ?? 0;
      load.rps = 30;
      await eventually(() => (history.get("minimum")?.at(-1) ?? high) < high, {
        timeoutMs: 240_000,
        what: "a lower minimum",
      });
      const restMs = RUN_MS - (performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)));
      expect([...writers.shared]).toEqual([]);
      expect(writers.fought).toEqual([]);
    });

    test("does not oscillate: two changes of load are at most two changes of direction", () => {
      expect(directionChanges(history.get("minimum") ?? [])).toBeLessThanOrEqual(2);
      expect(directionChanges(history.get("replicas") ?? [])).toBeLessThanOrEqual(2);
    });

    test("writes nothing while the load is constant", async () => {
      await eventually(
        async () => {
          const before = await settledState();
          // Five minutes of the measuring loop.
          await new Promise((resolve) => setTimeout(resolve, 300_000 / SPEED));
          return (await settledState()) === before;
        },
        { timeoutMs: 240_000, what: "no write in five minutes" },
      );
      expect(healer.heals).toBe(0);
    });

    test("leaves the spec to the self-healer, which undoes a change by hand", async () => {
      await fixture.kubectl([
        "patch",
        "crt",
        "web",
        "-n",
        NAMESPACE,
        "--type=merge",
        "-p",
        '{"spec":{"enforcement":{"mode":"off"}}}',
      ]);
      await eventually(() => healer.heals === 1, { timeoutMs: 60_000, what: "one repair" });
      await eventually(async () => (await list("crt")).some(({ spec }) => spec?.enforcement?.mode === "enforce"), {
        what: "the mode of Git",
      });
      expect(failure).toBeUndefined();
    });
  });
}

describeWith(["kubernetes", "kwok", "kubectl", "prometheus"], "a class whose replicas Git states too", () => {
  let fixture: ControllerFixture;
  let prometheus: PrometheusUnderTest;
  let loop: MeasuringLoop;
  let load: SyntheticLoad;
  let healer: SelfHealer;

  beforeAll(async () => {
    [fixture, prometheus] = await Promise.all([ControllerFixture.start(), startPrometheus()]);
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    const facts = { ...FACTS, features: { ...FACTS.features, hpa: false }, enforcement: "basic" } as const;
    const crm = await fixture.startController({ namespaces: [NAMESPACE], facts });
    const ambient = compressTime(SPEED, Date.now() - 2 * HOUR_MS);
    const one = { scheme: "http", namespace: NAMESPACE, name: "web", capacityRps: 100 } as const;
    const pods = (): readonly string[] => ["web-7d4b9c6f5d-x2x4z"];
    load = startLoad({ ...one, cpuPerRequest: CPU_PER_REQUEST, pods }, prometheus, ambient.clock, 90);
    await fixture.apply(NAMESPACE, gitClass("web"));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    const replicas = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { replicas: 2 } };
    healer = startSelfHealer(fixture, NAMESPACE, [replicas]);
    loop = startMeasuringLoop(crm, NAMESPACE, prometheus.url, ambient);
  });
  afterAll(async () => {
    await healer?.stop();
    await load?.stop();
    await loop?.stop();
    await prometheus?.close();
    await fixture?.close();
  });

  test("yields, and names the manager that owns the field", async () => {
    const status = await fixture.waitForStatus(NAMESPACE, "web", "Conflict", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "Conflict")),
    );
    const condition = status.conditions?.find(({ type }) => type === "NfrEnforced");
    expect(condition?.message).toContain(SELF_HEALER);
    expect(condition?.message).toContain("replicas");
    const { heals } = healer;
    // Ten minutes of the measuring loop.
    await new Promise((resolve) => setTimeout(resolve, 600_000 / SPEED));
    expect(healer.heals).toBe(heals);
    expect(await fixture.kubectl(`get deploy web -n ${NAMESPACE} -o jsonpath={.spec.replicas}`)).toBe("2");
  });
});
