import type { KubeObject } from "@oaas/kube-core";
import { addScaledObjectKind, describeOnTarget, eventually, removeScaledObjectKind } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { kedaClass, kedaTemplate, managersOf, scaledObject, type ScaledObject } from "./support/keda-class.ts";
import { startQuickEnforcer } from "./support/quick-enforcer.ts";

const NAMESPACE = "scaled";

describeOnTarget("classes with a ScaledObject", { needs: ["kubectl", "keda-crds"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    // Kinds are discovered so rarely that only the watch of the definitions can find one.
    const facts = { ...FACTS, enforcement: "full" } as const;
    crm = await fixture.startController({ namespaces: [NAMESPACE], facts, kindDiscoveryMs: 3_600_000 });
    await fixture.apply(NAMESPACE, kedaTemplate());
  });
  afterAll(async () => {
    await fixture.close();
  });

  const startEnforcer = (name: string) => startQuickEnforcer(crm, { namespace: NAMESPACE, name });
  const read = (name: string) => fixture.get<ScaledObject>(NAMESPACE, "scaledobject", name);
  const waitForMinimum = (name: string, minimum: number): Promise<void> =>
    eventually(async () => expect((await read(name))?.spec.minReplicaCount).toBe(minimum), {
      timeoutMs: 90_000,
      what: `minReplicaCount ${minimum} of ${name}`,
    });
  const waitForCondition = async (name: string, reason: string): Promise<string> => {
    const { conditions } = await fixture.waitForStatus(NAMESPACE, name, reason, (status) =>
      Boolean(status.conditions?.some((one) => one.type === "NfrEnforced" && one.reason === reason)),
    );
    return conditions?.find(({ type }) => type === "NfrEnforced")?.message ?? "";
  };

  test("wait for KEDA, and are created when its kind is served", async () => {
    await fixture.apply(NAMESPACE, kedaClass("web", { max_scale: 4 }));
    const status = await fixture.waitForStatus(NAMESPACE, "web", "KindMissing", ({ message }) =>
      Boolean(message?.includes("keda.sh/v1alpha1 ScaledObject")),
    );
    expect(status.phase).not.toBe("available");
    await addScaledObjectKind(fixture.cluster.kubectl);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect((await read("web"))?.spec).toMatchObject({ minReplicaCount: 1, maxReplicaCount: 4 });
  });

  test("have their minimum moved within the maximum, with one writer of each field", async () => {
    const enforcer = startEnforcer("web");
    enforcer.wanted.target = 3;
    await waitForMinimum("web", 3);
    enforcer.wanted.target = 9;
    await waitForMinimum("web", 4);
    expect(await waitForCondition("web", "AtMaximum")).toContain("max_scale");
    await enforcer.stop();
    expect(await managersOf(fixture, NAMESPACE, "scaledobject/web", "minReplicaCount")).toEqual(["oprc-crm"]);
    expect(await managersOf(fixture, NAMESPACE, "deploy/web", "replicas")).not.toContain("oprc-crm");
    const [applied] = (await fixture.status(NAMESPACE, "web"))?.last_applied_recommendations ?? [];
    expect(applied).toMatchObject({ dimension: "replicas", target: 4 });
  });

  test("have their maximum raised while it binds, within what the class allows", async () => {
    await fixture.apply(NAMESPACE, kedaClass("roomy", { max_scale: 2 }, undefined, { max_replicas: 4 }));
    await fixture.waitForPhase(NAMESPACE, "roomy", "available");
    // Without KEDA's controllers, the test scales the workload.
    const scale = (replicas: number) => fixture.kubectl(`scale deploy roomy -n ${NAMESPACE} --replicas=${replicas}`);
    const waitForMaximum = (maximum: number): Promise<void> =>
      eventually(async () => expect((await read("roomy"))?.spec.maxReplicaCount).toBe(maximum), {
        timeoutMs: 90_000,
        what: `maxReplicaCount ${maximum}`,
      });
    expect((await read("roomy"))?.spec.maxReplicaCount).toBe(2);
    const enforcer = startEnforcer("roomy");
    enforcer.wanted.target = 9;
    await scale(2);
    await waitForMaximum(3);
    await scale(3);
    await waitForMaximum(4);
    expect(await managersOf(fixture, NAMESPACE, "scaledobject/roomy", "maxReplicaCount")).toEqual(["oprc-crm"]);
    enforcer.wanted.target = 1;
    await waitForMaximum(2);
    await enforcer.stop();
    await fixture.kubectl(`delete crt roomy -n ${NAMESPACE}`);
  });

  test("are left alone while they are paused", async () => {
    await fixture.kubectl(`annotate scaledobject web -n ${NAMESPACE} autoscaling.keda.sh/paused=true`);
    const enforcer = startEnforcer("web");
    enforcer.wanted.target = 1;
    expect(await waitForCondition("web", "Conflict")).toContain(
      "ScaledObject web is paused by annotation autoscaling.keda.sh/paused",
    );
    expect((await read("web"))?.spec.minReplicaCount).toBe(4);
    await fixture.kubectl(`annotate scaledobject web -n ${NAMESPACE} autoscaling.keda.sh/paused-`);
    await waitForMinimum("web", 1);
    await enforcer.stop();
  });

  test("return to the template when the mode changes", async () => {
    const enforcer = startEnforcer("web");
    enforcer.wanted.target = 2;
    await waitForMinimum("web", 2);
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} oaas.io/enforcement=observe`);
    await waitForMinimum("web", 1);
    await enforcer.stop();
  });

  test("of someone else decide on the replicas, also while they are paused", async () => {
    await fixture.apply(NAMESPACE, kedaClass("other", {}, "dev"));
    await fixture.waitForPhase(NAMESPACE, "other", "available");
    const paused = { "autoscaling.keda.sh/paused": "true" };
    await fixture.apply(NAMESPACE, scaledObject({ name: "mine", annotations: paused }, "other"));
    const enforcer = startEnforcer("other");
    enforcer.wanted.target = 4;
    expect(await waitForCondition("other", "Conflict")).toContain(
      "Deployment other is scaled by ScaledObject mine of kubectl",
    );
    await enforcer.stop();
    expect((await fixture.get<Replicated>(NAMESPACE, "deploy", "other"))?.spec.replicas).toBe(1);
  });

  test("of someone else keep their replicas when the class changes, until they are deleted", async () => {
    const waitForDeployment = (image: string, replicas: number): Promise<void> =>
      eventually(
        async () => {
          const deployment = await fixture.get<Replicated>(NAMESPACE, "deploy", "other");
          expect(JSON.stringify(deployment?.spec)).toContain(image);
          expect(deployment?.spec.replicas).toBe(replicas);
        },
        { timeoutMs: 60_000, what: `image ${image} with ${replicas} replicas` },
      );
    // Through the scale subresource, as autoscalers do.
    await fixture.kubectl(`scale deployment other -n ${NAMESPACE} --replicas=3`);
    await fixture.apply(NAMESPACE, kedaClass("other", { container_image: "example.test/fn:2" }, "dev"));
    await waitForDeployment("example.test/fn:2", 3);
    expect(await managersOf(fixture, NAMESPACE, "deploy/other", "replicas")).not.toContain("oprc-crm");
    await fixture.kubectl(`delete scaledobject mine -n ${NAMESPACE}`);
    await fixture.apply(NAMESPACE, kedaClass("other", { container_image: "example.test/fn:3" }, "dev"));
    await waitForDeployment("example.test/fn:3", 1);
  });

  test("report a kind that is removed, and keep the workload", async () => {
    await removeScaledObjectKind(fixture.cluster.kubectl);
    await fixture.waitForStatus(NAMESPACE, "web", "the loss of the kind", ({ message }) =>
      Boolean(message?.includes("keda.sh/v1alpha1 ScaledObject")),
    );
    expect((await fixture.get<Replicated>(NAMESPACE, "deploy", "web"))?.spec.replicas).toBeGreaterThan(0);
  });
});

interface Replicated extends KubeObject {
  readonly spec: { readonly replicas: number };
}
