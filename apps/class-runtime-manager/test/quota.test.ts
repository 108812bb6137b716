import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";

describeOnTarget("quotas over all classes of an environment", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    lab = await ControllerFixture.start();
    await lab.kubectl(`create namespace ${NAMESPACE}`);
    crm = await lab.startController({ namespaces: [NAMESPACE] });
    await limit("5");
  });
  afterAll(async () => {
    await lab.close();
  });

  const limit = (cpu: string): Promise<string> =>
    lab.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name: "small" },
      spec: { kind: "dev", quotas: { cpu } },
    });
  const asks = (name: string, cpu: string): Promise<string> => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", cpu_request: cpu } };
    return lab.apply(NAMESPACE, classManifest(name, { target_environment: "small", functions: [fn] }));
  };
  const refused = (name: string) =>
    lab.waitForStatus(NAMESPACE, name, "Quota", ({ reason, phase }) => reason === "Quota" && phase === "degraded");
  const requestOf = async (name: string): Promise<string> =>
    lab.kubectl(
      `get deploy ${name} -n ${NAMESPACE} -o jsonpath={.spec.template.spec.containers[0].resources.requests.cpu}`,
    );

  test("what does not fit is refused with field, numbers and fix, and nothing of it is made", async () => {
    await asks("first", "3");
    await lab.waitForPhase(NAMESPACE, "first", "available");
    await asks("second", "3");
    const { message, conditions } = await refused("second");
    expect(message).toContain('the class requests 3, but other classes of environment "small" use 3 of 5 (quotas.cpu)');
    expect(conditions?.find(({ type }) => type === "Degraded")?.message).toContain("raise quotas.cpu");
    expect(await lab.listOwned(NAMESPACE, "deploy,svc,cm,hpa", "second")).toEqual([]);
  });

  test("a restart changes nothing of that, although it hears the refused one first", async () => {
    await crm.manager.stop();
    // Its name comes first, and so does its turn among those that were made in one second.
    await asks("another", "4");
    crm = await lab.startController({ namespaces: [NAMESPACE] });
    await refused("another");
    await asks("third", "2");
    await lab.waitForPhase(NAMESPACE, "third", "available");
    expect((await lab.status(NAMESPACE, "first"))?.phase).toBe("available");
    await lab.kubectl(`delete crt another -n ${NAMESPACE} --wait=true --timeout=150s`);
  });

  test("a class that grows too large keeps what it has and goes on serving", async () => {
    await asks("first", "4");
    const { conditions } = await refused("first");
    expect(conditions?.find(({ type }) => type === "Available")?.status).toBe("True");
    expect(await requestOf("first")).toBe("3");
    await asks("first", "3");
    await lab.waitForPhase(NAMESPACE, "first", "available");
  });

  test("when another class goes, the refused one goes on by itself", async () => {
    const generation = (await lab.get<KubeObject>(NAMESPACE, "crt", "second"))?.metadata.generation;
    await lab.kubectl(`delete crt first -n ${NAMESPACE} --wait=true --timeout=150s`);
    await lab.waitForPhase(NAMESPACE, "second", "available");
    expect((await lab.get<KubeObject>(NAMESPACE, "crt", "second"))?.metadata.generation).toBe(generation);
  });

  test("when the quota is raised too; when it is lowered, nobody is put out", async () => {
    await asks("fourth", "4");
    await refused("fourth");
    await limit("9");
    await lab.waitForPhase(NAMESPACE, "fourth", "available");
    await limit("1");
    await asks("fifth", "1");
    await refused("fifth");
    for (const name of ["second", "third", "fourth"])
      expect((await lab.status(NAMESPACE, name))?.phase, name).toBe("available");
    await eventually(() => crm.manager.controllers.every(({ queueLength }) => queueLength === 0));
    expect((await lab.listOwned(NAMESPACE, "deploy", "fourth")).length).toBe(1);
  });
});
