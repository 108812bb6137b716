import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually, startKeda, type KedaUnderTest, type TargetSuite } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import {
  kedaClass,
  kedaTemplate,
  managersOf,
  PROMETHEUS_TRIGGER,
  scaledObject,
  type ScaledObject,
} from "./support/keda-class.ts";
import { startPrometheusStandIn } from "./support/prometheus-stand-in.ts";
import { startQuickEnforcer, type QuickEnforcer } from "./support/quick-enforcer.ts";

const NAMESPACE = "scaled";

const KEDA: TargetSuite = {
  needs: ["kubectl", "keda-crds", "keda"],
  realOnly: "the operator of KEDA needs a real API server",
};

interface Scaled extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly minReplicas?: number; readonly maxReplicas?: number };
}

describeOnTarget("classes on real KEDA", KEDA, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let keda: KedaUnderTest;

  beforeAll(async () => {
    const controllerManagerArgs = ["--horizontal-pod-autoscaler-sync-period=1s"];
    fixture = await ControllerFixture.start({ controllerManagerArgs });
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    const facts = { ...FACTS, enforcement: "full" } as const;
    crm = await fixture.startController({ namespaces: [NAMESPACE], facts });
    keda = await startKeda(fixture.cluster);
    await fixture.apply(NAMESPACE, kedaTemplate());
  });
  afterAll(async () => {
    await keda?.close();
    await fixture?.close();
  });

  const startEnforcer = (name: string, target: number): QuickEnforcer => {
    const enforcer = startQuickEnforcer(crm, { namespace: NAMESPACE, name });
    enforcer.wanted.target = target;
    return enforcer;
  };
  const autoscalerOf = (name: string) => fixture.get<Scaled>(NAMESPACE, "hpa", `keda-hpa-${name}`);
  const waitUntil = (what: string, check: () => Promise<void>): Promise<void> =>
    eventually(check, { timeoutMs: 90_000, what });
  /** Waits until ScaledObject, autoscaler of KEDA and Deployment agree. */
  const waitForMinimum = (name: string, minimum: number): Promise<void> =>
    waitUntil(`minimum ${minimum} of ${name}`, async () => {
      const object = await fixture.get<ScaledObject>(NAMESPACE, "scaledobject", name);
      expect(object?.spec.minReplicaCount).toBe(minimum);
      expect((await autoscalerOf(name))?.spec.minReplicas).toBe(minimum);
      expect((await fixture.get<Scaled>(NAMESPACE, "deploy", name))?.spec.replicas).toBe(minimum);
    });

  test("a recommendation raises the minimum, the autoscaler of KEDA and the replicas", async () => {
    await fixture.apply(NAMESPACE, kedaClass("web", { max_scale: 4 }));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    await waitForMinimum("web", 1);
    const before = await autoscalerOf("web");
    expect(before?.spec.maxReplicas).toBe(4);
    const enforcer = startEnforcer("web", 3);
    await waitForMinimum("web", 3);
    await enforcer.stop();
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    // KEDA copies our labels to its autoscaler, which must not make it a child of the class.
    const after = await autoscalerOf("web");
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.metadata.labels).toMatchObject({ "oaas.io/owner": "web" });
  });

  test("each field has one writer", async () => {
    const writers = (object: string, field: string) => managersOf(fixture, NAMESPACE, object, field);
    expect(await writers("scaledobject/web", "minReplicaCount")).toEqual(["oprc-crm"]);
    expect(await writers("scaledobject/web", "maxReplicaCount")).toEqual(["oprc-crm"]);
    expect(await writers("hpa/keda-hpa-web", "minReplicas")).toEqual(["keda-operator"]);
    expect(await writers("hpa/keda-hpa-web", "maxReplicas")).toEqual(["keda-operator"]);
    // The API server records no manager for a scale of replicas that were only defaulted before.
    const others = (await writers("deploy/web", "replicas")).filter((name) => name !== "kube-controller-manager");
    expect(others).toEqual([]);
  });

  test("nothing is written while nothing changes", async () => {
    const versions = (): Promise<string> =>
      fixture.kubectl([
        ...`get deploy,scaledobject -n ${NAMESPACE} -o`.split(" "),
        "jsonpath={range .items[*]}{.kind}/{.metadata.name}:{.metadata.generation} {end}",
      ]);
    const before = await versions();
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} example.test/touched=yes`);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect(await versions()).toBe(before);
  });

  test("a pause is respected: KEDA keeps its number of replicas, and enforcement waits", async () => {
    await fixture.kubectl(`annotate scaledobject web -n ${NAMESPACE} autoscaling.keda.sh/paused-replicas=2`);
    await waitUntil("the paused replicas", async () => {
      expect(await autoscalerOf("web")).toBeUndefined();
      expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "web"))?.spec.replicas).toBe(2);
    });
    const enforcer = startEnforcer("web", 1);
    await fixture.waitForStatus(NAMESPACE, "web", "Conflict", ({ conditions }) =>
      Boolean(conditions?.some(({ message }) => message?.includes("autoscaling.keda.sh/paused-replicas"))),
    );
    expect((await fixture.get<ScaledObject>(NAMESPACE, "scaledobject", "web"))?.spec.minReplicaCount).toBe(3);
    expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "web"))?.spec.replicas).toBe(2);
    await fixture.kubectl(`annotate scaledobject web -n ${NAMESPACE} autoscaling.keda.sh/paused-replicas-`);
    await waitUntil("the minimum after the pause", async () =>
      expect((await autoscalerOf("web"))?.spec.minReplicas).toBe(1),
    );
    await enforcer.stop();
  });

  test("a ScaledObject of a user decides on the replicas alone", async () => {
    await fixture.apply(NAMESPACE, kedaClass("other", {}, "dev"));
    await fixture.waitForPhase(NAMESPACE, "other", "available");
    await fixture.apply(NAMESPACE, scaledObject({ name: "mine" }, "other", { minReplicaCount: 3, maxReplicaCount: 3 }));
    await waitUntil("three replicas", async () =>
      expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "other"))?.spec.replicas).toBe(3),
    );
    const enforcer = startEnforcer("other", 5);
    await fixture.waitForStatus(NAMESPACE, "other", "Conflict", ({ conditions }) =>
      Boolean(conditions?.some(({ message }) => message?.includes("Deployment other is scaled by ScaledObject mine"))),
    );
    await enforcer.stop();
    await waitUntil("the autoscaler to be the only writer", async () => {
      expect(await managersOf(fixture, NAMESPACE, "deploy/other", "replicas")).toEqual(["kube-controller-manager"]);
      expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "other"))?.spec.replicas).toBe(3);
    });
    // A change of the class is applied, and leaves the replicas to KEDA.
    const { generation } = (await fixture.get<KubeObject>(NAMESPACE, "deploy", "other"))?.metadata ?? {};
    await fixture.apply(NAMESPACE, kedaClass("other", { container_image: "example.test/fn:2" }, "dev"));
    await waitUntil("the new image", async () => {
      const deployment = await fixture.get<Scaled>(NAMESPACE, "deploy", "other");
      expect(JSON.stringify(deployment)).toContain("example.test/fn:2");
      expect(deployment?.metadata.generation).toBe((generation ?? 0) + 1);
      expect(deployment?.spec.replicas).toBe(3);
    });
  });

  test("a function with min_scale 0 has no replica until its trigger is active, and is available meanwhile", async () => {
    const prometheus = await startPrometheusStandIn();
    const { metadata, ...trigger } = PROMETHEUS_TRIGGER;
    const waking = { ...trigger, metadata: { ...metadata, serverAddress: prometheus.url } };
    await fixture.apply(NAMESPACE, kedaTemplate("waking", waking, { pollingInterval: 1, cooldownPeriod: 2 }));
    const functionOf = async () => (await fixture.status(NAMESPACE, "idle"))?.functions?.[0];
    const waitForFunction = (what: string, expected: object): Promise<void> =>
      waitUntil(what, async () => expect(await functionOf()).toMatchObject(expected));
    await fixture.apply(NAMESPACE, kedaClass("idle", { min_scale: 0, max_scale: 4 }, "waking"));
    await waitForFunction("scale to zero", { ready: true, serving: true, desired_replicas: 0, reason: "ScaledToZero" });
    expect((await fixture.status(NAMESPACE, "idle"))?.phase).toBe("available");
    const enforcer = startEnforcer("idle", 3);
    await fixture.waitForStatus(NAMESPACE, "idle", "NotPossible", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "NotPossible")),
    );
    await enforcer.stop();
    expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "idle"))?.spec.replicas).toBe(0);
    prometheus.value = 7;
    await waitForFunction("the first replica", { ready: true, desired_replicas: 1, ready_replicas: 1 });
    prometheus.value = 0;
    await waitForFunction("scale to zero again", { ready: true, desired_replicas: 0, reason: "ScaledToZero" });
    await fixture.kubectl(`delete crt idle -n ${NAMESPACE} --timeout=120s`);
    await prometheus.close();
  });

  test("ScaledObject and autoscaler are deleted with the class", async () => {
    await fixture.kubectl(`delete crt web -n ${NAMESPACE} --timeout=120s`);
    await waitUntil("the children to be deleted", async () => {
      expect(await fixture.get(NAMESPACE, "scaledobject", "web")).toBeUndefined();
      expect(await autoscalerOf("web")).toBeUndefined();
    });
  });
});
