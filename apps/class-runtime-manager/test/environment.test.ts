import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "bound";

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
}

describeOnTarget("limits of an environment", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    await fixture.startController({ namespaces: [NAMESPACE] });
  });
  afterAll(async () => {
    await fixture?.close();
  });

  const setEnvironment = (name: string, spec: object): Promise<string> =>
    fixture.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name },
      spec: { kind: "dev", ...spec },
    });
  const setMirror = (name: string, over: object = {}): Promise<string> =>
    setEnvironment(name, { images: { mirrors: [{ from: "example.test", to: "mirror.test" }], ...over } });
  const applyClass = (name: string, environment: string): Promise<string> =>
    fixture.apply(NAMESPACE, classManifest(name, { target_environment: environment }));
  const waitForReason = (name: string, reason: string) =>
    fixture.waitForStatus(NAMESPACE, name, reason, (status) => status.reason === reason);
  const deploymentOf = (name: string) => fixture.get<Deployment>(NAMESPACE, "deploy", name);
  const imageOf = async (name: string): Promise<string | undefined> =>
    (await deploymentOf(name))?.spec.template.spec.containers[0]?.image;

  test("rejects a class that names a missing environment, until it is created", async () => {
    await applyClass("early", "late");
    const { phase, message, conditions } = await waitForReason("early", "EnvironmentMissing");
    expect(phase).toBe("degraded");
    expect(message).toContain(`EnvironmentConfig "late" does not exist in namespace "${NAMESPACE}"`);
    expect(conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
      status: "True",
      message: expect.stringContaining("create it") as string,
    });
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc,cm", "early")).toEqual([]);
    await setMirror("late");
    await fixture.waitForPhase(NAMESPACE, "early", "available");
    expect(await imageOf("early")).toBe("mirror.test/fn:1");
    await fixture.waitForStatus(
      NAMESPACE,
      "envcfg/late",
      "a warning",
      ({ message }) => message?.includes("classes that name none have no limits") === true,
    );
  });

  test.each([
    { what: "allowed-registry", spec: { images: { allowed_registries: ["https://example.test"] } }, field: "images" },
    { what: "query", spec: { metrics: { queries: { restarts: "sum(restarts)" } } }, field: "metrics.queries.restarts" },
    { what: "node-selector", spec: { nodeSelector: { disk: "very fast!" } }, field: "nodeSelector" },
  ])("rejects a class that names an environment with an invalid $what", async ({ what, spec, field }) => {
    await setEnvironment(what, spec);
    await applyClass(`of-${what}`, what);
    const { message } = await waitForReason(`of-${what}`, "EnvironmentInvalid");
    expect(message).toContain(`$.spec.${field}`);
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc,cm", `of-${what}`)).toEqual([]);
  });

  test.each([
    { what: "spec", name: "record-spec", spec: { target_environment: "nowhere" } },
    { what: "unit", name: "record-unit", spec: { deployment_unit: { id: "record-unit", target_env: "nowhere" } } },
  ])("rejects a record that names a missing environment in its $what", async ({ name, spec }) => {
    await fixture.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentRecord",
      metadata: { name },
      spec: { function: { image: "example.test/fn:1" }, ...spec },
    });
    const { message } = await waitForReason(`deploymentrecord/${name}`, "EnvironmentMissing");
    expect(message).toContain('EnvironmentConfig "nowhere" does not exist');
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc,cm", name)).toEqual([]);
  });

  test("keeps the children of a class unchanged while its environment is gone or invalid", async () => {
    await setMirror("lost");
    await applyClass("resident", "lost");
    await fixture.waitForPhase(NAMESPACE, "resident", "available");
    const before = (await deploymentOf("resident"))?.metadata.generation;
    const expectUnchanged = async (reason: string): Promise<void> => {
      const { conditions } = await waitForReason("resident", reason);
      expect(conditions?.find(({ type }) => type === "Available")?.status).toBe("True");
      expect(await imageOf("resident")).toBe("mirror.test/fn:1");
      expect((await deploymentOf("resident"))?.metadata.generation).toBe(before);
    };
    await fixture.kubectl(`delete envcfg lost -n ${NAMESPACE}`);
    await expectUnchanged("EnvironmentMissing");
    await setMirror("lost", { allowed_registries: ["no registry"] });
    await expectUnchanged("EnvironmentInvalid");
    await setMirror("lost", { allowed_registries: ["mirror.test"] });
    await fixture.waitForPhase(NAMESPACE, "resident", "available");
    expect((await deploymentOf("resident"))?.metadata.generation).toBe(before);
  });

  test("an invalid default environment binds the classes that name none", async () => {
    await setEnvironment("default", { images: { allowed_registries: ["*"] } });
    await fixture.apply(NAMESPACE, classManifest("unnamed"));
    await waitForReason("unnamed", "EnvironmentInvalid");
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc,cm", "unnamed")).toEqual([]);
    await setEnvironment("default", { images: { allowed_registries: ["example.test"] } });
    await fixture.waitForPhase(NAMESPACE, "unnamed", "available");
    await fixture.waitForStatus(
      NAMESPACE,
      "envcfg/late",
      "no warning",
      ({ message }) => message === "Classes may use it.",
    );
  });
});
