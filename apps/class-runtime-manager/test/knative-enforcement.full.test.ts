import type { KubeObject } from "@oaas/kube-core";
import {
  describeOnTarget,
  eventually,
  startKnative,
  startPrometheus,
  type KnativeUnderTest,
  type PrometheusUnderTest,
  type TargetSuite,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compressTime, startMeasuringLoop, type MeasuringLoop } from "./support/compressed-time.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { FieldWriters } from "./support/field-writers.ts";
import { startActivatorStandIn, type ActivatorStandIn } from "./support/knative-stats.ts";
import { startLoad, type SyntheticLoad } from "./support/synthetic-load.ts";

const NAMESPACE = "classes";
const SPEED = 15;
const HOUR_MS = 3_600_000;
const MIN_SCALE = "autoscaling.knative.dev/min-scale";

interface List {
  readonly items: readonly KubeObject[];
}

const KNATIVE: TargetSuite = {
  needs: ["kubectl", "knative-manifests", "knative", "prometheus"],
  realOnly: "the controllers and webhooks of Knative need a real API server",
};

describeOnTarget("enforcement on real Knative with a real Prometheus", KNATIVE, () => {
  let fixture: ControllerFixture;
  let knative: KnativeUnderTest;
  let prometheus: PrometheusUnderTest;
  let activator: ActivatorStandIn;
  let loop: MeasuringLoop;
  let load: SyntheticLoad;
  let pods: readonly string[] = [];
  const writers = new FieldWriters();
  const watching = new AbortController();
  let watched: Promise<void> | undefined;

  const list = async (kinds: string): Promise<readonly KubeObject[]> => {
    const text = await fixture.kubectl(`get ${kinds} -n ${NAMESPACE} -o json --show-managed-fields`);
    return (JSON.parse(text) as List).items;
  };
  /** Follows the pods, which share the load, and the owners of all fields. */
  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      const found = await list(
        "pods,ksvc,configurations.serving.knative.dev,revisions.serving.knative.dev,deployments",
      );
      pods = found.flatMap(({ kind, metadata }) => (kind === "Pod" ? [metadata.name ?? ""] : []));
      writers.observe(found.filter(({ kind }) => kind !== "Pod"));
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const minScale = async (): Promise<number> => {
    const [revision] = await list("revisions.serving.knative.dev");
    return Number(revision?.metadata.annotations?.[MIN_SCALE] ?? 1);
  };
  const waitFor = (what: string, isTrue: () => Promise<boolean>, timeoutMs = 180_000): Promise<unknown> =>
    eventually(isTrue, { what, timeoutMs });
  const eventReasons = async (): Promise<readonly string[]> => {
    const text = await fixture.kubectl(`get events -n ${NAMESPACE} -o jsonpath={.items[*].reason}`);
    return text.split(" ").filter((reason) => reason.startsWith("NFR"));
  };

  beforeAll(async () => {
    [fixture, prometheus] = await Promise.all([ControllerFixture.start(), startPrometheus()]);
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    knative = await startKnative(fixture.cluster);
    const crm = await fixture.startController({ namespaces: [NAMESPACE], facts: { ...FACTS, enforcement: "basic" } });
    const fn = {
      function_key: "f",
      provision_config: { container_image: "dev.local/fn:1", min_scale: 1, cpu_request: "500m" },
    };
    const spec = {
      selected_template: "knative",
      functions: [fn],
      nfr_requirements: { min_throughput_rps: 20, max_latency_ms: 100 },
      enforcement: { mode: "observe", dimensions: ["replicas"] },
    };
    await fixture.apply(NAMESPACE, classManifest("web", spec));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    activator = startActivatorStandIn(() => [{ namespace: NAMESPACE, name: "web-00001", concurrency: 0.1 }]);
    const ambient = compressTime(SPEED, Date.now() - 2 * HOUR_MS);
    const one = { scheme: "knative", namespace: NAMESPACE, name: "web", cpuPerRequest: 20, capacityRps: 50 } as const;
    watched = watch();
    load = startLoad({ ...one, pods: () => pods }, prometheus, ambient.clock, 48);
    loop = startMeasuringLoop(crm, NAMESPACE, prometheus.url, ambient);
  });
  afterAll(async () => {
    watching.abort();
    await watched;
    await load?.stop();
    await loop?.stop();
    activator?.close();
    await knative?.close();
    await prometheus?.close();
    await fixture?.close();
  });

  test("shows in mode observe what it would do, and changes nothing", async () => {
    await waitFor("NFRSkippedObserve", async () => (await eventReasons()).includes("NFRSkippedObserve"));
    expect(await minScale()).toBe(1);
  });

  test("raises the minimum scale in steps, and Knative starts pods of the same revision", async () => {
    const [first] = pods;
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} oaas.io/enforcement=enforce`);
    await waitFor("a higher minimum", async () => (await minScale()) >= 3);
    await waitFor("pods of Knative", async () => pods.length >= 3);
    expect(pods).toContain(first);
    const applied = (await fixture.status(NAMESPACE, "web"))?.last_applied_recommendations;
    expect(applied).toMatchObject([{ lane: "stable", path: `Revision/web-00001 ${MIN_SCALE}` }]);
    // NFRSkippedCooldown needs a decision in the seconds between both safeguards: enforcement-journey.full.test.ts shows it.
    expect(await eventReasons()).toEqual(expect.arrayContaining(["NFRSkippedStability", "NFRApplied"]));
  });

  test("takes the emergency lane in a spike", async () => {
    const before = await minScale();
    load.rps = 500;
    await fixture.waitForStatus(NAMESPACE, "web", "an emergency", ({ last_applied_recommendations: applied }) =>
      Boolean(applied?.some(({ lane }) => lane === "emergency")),
    );
    await waitFor("at least four more pods", async () => pods.length >= before + 4);
  });

  test("lowers the minimum again when the spike is over", async () => {
    const most = await minScale();
    load.rps = 25;
    await waitFor("a lower minimum", async () => (await minScale()) <= most - 3, 300_000);
    await waitFor("fewer pods", async () => pods.length <= most - 3);
  });

  test("keeps one revision, one writer of each field, and returns to the spec when it ends", async () => {
    const revisions = await list("revisions.serving.knative.dev");
    expect(revisions.map(({ metadata }) => metadata.name)).toEqual(["web-00001"]);
    expect((await list("ksvc"))[0]?.metadata.generation).toBe(1);
    expect([...writers.shared]).toEqual([]);
    expect(writers.fought).toEqual([]);
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} --overwrite oaas.io/enforcement=observe`);
    await waitFor("no enforced minimum", async () => {
      const [revision] = await list("revisions.serving.knative.dev");
      return revision?.metadata.annotations?.[MIN_SCALE] === undefined;
    });
    await waitFor("the pods of the spec", async () => pods.length === 1);
  });
});
