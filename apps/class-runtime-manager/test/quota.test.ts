import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";

describeOnTarget("quotas of an environment", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    await setCpuQuota("5");
  });
  afterAll(async () => {
    await fixture.close();
  });

  const setCpuQuota = (cpu: string): Promise<string> =>
    fixture.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name: "small" },
      spec: { kind: "dev", quotas: { cpu } },
    });
  const applyClass = (name: string, cpu: string): Promise<string> => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", cpu_request: cpu } };
    return fixture.apply(NAMESPACE, classManifest(name, { target_environment: "small", functions: [fn] }));
  };
  const waitForRejection = (name: string) =>
    fixture.waitForStatus(NAMESPACE, name, "Quota", ({ reason, phase }) => reason === "Quota" && phase === "degraded");
  const requestOf = async (name: string): Promise<string> =>
    fixture.kubectl(
      `get deploy ${name} -n ${NAMESPACE} -o jsonpath={.spec.template.spec.containers[0].resources.requests.cpu}`,
    );

  test("rejects a class above the quota with field, numbers and fix, and creates no child", async () => {
    await applyClass("first", "3");
    await fixture.waitForPhase(NAMESPACE, "first", "available");
    await applyClass("second", "3");
    const { message, conditions } = await waitForRejection("second");
    expect(message).toContain('the class requests 3, but other classes of environment "small" use 3 of 5 (quotas.cpu)');
    expect(conditions?.find(({ type }) => type === "Degraded")?.message).toContain("raise quotas.cpu");
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc,cm,hpa", "second")).toEqual([]);
  });

  test("keeps grants after a restart although a rejected class sorts first", async () => {
    await crm.manager.stop();
    // Among classes of the same second the order is by name, and this one is the first.
    await applyClass("another", "4");
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    await waitForRejection("another");
    await applyClass("third", "2");
    await fixture.waitForPhase(NAMESPACE, "third", "available");
    expect((await fixture.status(NAMESPACE, "first"))?.phase).toBe("available");
    await fixture.kubectl(`delete crt another -n ${NAMESPACE} --wait=true --timeout=150s`);
  });

  test("a class that grows above the quota keeps its workload", async () => {
    await applyClass("first", "4");
    const { conditions } = await waitForRejection("first");
    expect(conditions?.find(({ type }) => type === "Available")?.status).toBe("True");
    expect(await requestOf("first")).toBe("3");
    await applyClass("first", "3");
    await fixture.waitForPhase(NAMESPACE, "first", "available");
  });

  test("admits the rejected class when another class is deleted", async () => {
    const generation = (await fixture.get<KubeObject>(NAMESPACE, "crt", "second"))?.metadata.generation;
    await fixture.kubectl(`delete crt first -n ${NAMESPACE} --wait=true --timeout=150s`);
    await fixture.waitForPhase(NAMESPACE, "second", "available");
    expect((await fixture.get<KubeObject>(NAMESPACE, "crt", "second"))?.metadata.generation).toBe(generation);
  });

  test("admits a rejected class when the quota is raised, and keeps grants when it is lowered", async () => {
    await applyClass("fourth", "4");
    await waitForRejection("fourth");
    await setCpuQuota("9");
    await fixture.waitForPhase(NAMESPACE, "fourth", "available");
    await setCpuQuota("1");
    await applyClass("fifth", "1");
    await waitForRejection("fifth");
    for (const name of ["second", "third", "fourth"])
      expect((await fixture.status(NAMESPACE, name))?.phase, name).toBe("available");
    await eventually(() => crm.manager.controllers.every(({ queueLength }) => queueLength === 0));
    expect((await fixture.listOwned(NAMESPACE, "deploy", "fourth")).length).toBe(1);
  });
});
