import type { ClassRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const CLASSES = ["a", "b", "c"] as const;

interface StatusObject extends KubeObject {
  readonly status?: {
    readonly message?: string;
    readonly revision?: string;
    readonly used_by?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

describeOnTarget("roll-out of an edited user template", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
  });
  afterAll(async () => {
    await fixture.close();
  });

  /** Applies the template with this grace period and pod spec. */
  const applyTemplate = (seconds: number, pod: object = {}, more: readonly object[] = []): Promise<string> =>
    fixture.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentTemplate",
      metadata: { name: "mine" },
      spec: {
        template_type: "Deployment",
        manifests: [
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            spec: { template: { spec: { terminationGracePeriodSeconds: seconds, ...pod } } },
          },
          ...more,
        ],
      },
    });
  const secondsOf = async (name: string): Promise<string> =>
    fixture.kubectl(
      `get deploy ${name} -n ${NAMESPACE} -o jsonpath={.spec.template.spec.terminationGracePeriodSeconds} --ignore-not-found`,
    );
  const template = async (): Promise<NonNullable<StatusObject["status"]>> =>
    (await fixture.get<StatusObject>(NAMESPACE, "dtpl", "mine"))?.status ?? {};
  const condition = async (type: string) => (await template()).conditions?.find((one) => one.type === type);
  const choiceOf = async (
    name: string,
  ): Promise<NonNullable<NonNullable<ClassRuntime["status"]>["template"]> | undefined> =>
    (await fixture.status(NAMESPACE, name))?.template;

  test("reports validity, number of users and revision", async () => {
    await applyTemplate(7);
    for (const name of CLASSES) await fixture.apply(NAMESPACE, classManifest(name, { selected_template: "mine" }));
    for (const name of CLASSES) await fixture.waitForPhase(NAMESPACE, name, "available");
    await eventually(async () => (await template()).used_by === CLASSES.length, { timeoutMs: 60_000 });
    expect(await template()).toMatchObject({ revision: (await choiceOf("a"))?.revision, observedGeneration: 1 });
    expect(await condition("Ready")).toMatchObject({ status: "True" });
    expect(await condition("RolledOut")).toMatchObject({ status: "True" });
  });

  test("halts at the first class that fails, and the others report which class failed", async () => {
    await applyTemplate(8, { nodeSelector: { "no-such": "node" } });
    await fixture.waitForPhase(NAMESPACE, "a", "degraded");
    for (const name of ["b", "c"]) {
      const { template: choice, phase } = await fixture.waitForStatus(
        NAMESPACE,
        name,
        "halted",
        (status) => status.template?.roll_out?.state === "halted",
      );
      expect([phase, choice?.roll_out?.message]).toEqual([
        "available",
        expect.stringContaining("ClassRuntime classes/a"),
      ]);
      expect(await secondsOf(name)).toBe("7");
    }
    await eventually(async () => ((await condition("RolledOut"))?.message ?? "").includes("classes/a failed"), {
      timeoutMs: 60_000,
    });
  });

  test("repairs a waiting class with its own revision, also after a restart", async () => {
    await crm.manager.stop();
    await fixture.kubectl(`delete deploy b -n ${NAMESPACE} --wait=true`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    await eventually(async () => (await secondsOf("b")) === "7", { timeoutMs: 60_000, what: "b to be recreated" });
    await fixture.waitForPhase(NAMESPACE, "b", "available");
    expect(await secondsOf("c")).toBe("7");
    expect((await choiceOf("c"))?.roll_out?.state).toBe("halted");
  });

  test("rolls out a fixed template to all classes, prunes old revisions and records events", async () => {
    await applyTemplate(9);
    for (const name of CLASSES) {
      await eventually(async () => (await secondsOf(name)) === "9", { timeoutMs: 90_000, what: `${name} to move` });
      await fixture.waitForStatus(
        NAMESPACE,
        name,
        "moved",
        ({ phase, template: choice }) => phase === "available" && choice?.roll_out === undefined,
      );
    }
    await eventually(
      async () =>
        (await fixture.kubectl(`get controllerrevisions -n ${NAMESPACE} -l oaas.io/template -o name`))
          .trim()
          .split("\n").length === 1,
      { timeoutMs: 60_000, what: "old revisions to be pruned" },
    );
    expect(await fixture.kubectl(`get events.events.k8s.io -n ${NAMESPACE} -o jsonpath={.items[*].reason}`)).toContain(
      "RollOutHalted",
    );
  });

  test("an invalid edit is reported with its field, existing classes keep their revision, new ones are rejected", async () => {
    await applyTemplate(10, {}, [{ apiVersion: "v1", kind: "Secret" }]);
    await eventually(async () => (await condition("Ready"))?.status === "False", { timeoutMs: 60_000 });
    expect((await condition("Ready"))?.message).toMatch(
      /\$\.spec\.manifests\[1\]\.kind: a template cannot create v1\/Secret; use one of/,
    );
    await fixture.waitForStatus(NAMESPACE, "c", "refused", (status) => status.template?.roll_out?.state === "refused");
    await fixture.kubectl(`delete deploy c -n ${NAMESPACE} --wait=true`);
    await eventually(async () => (await secondsOf("c")) === "9", { timeoutMs: 60_000, what: "c to be recreated" });
    await fixture.apply(NAMESPACE, classManifest("late", { selected_template: "mine" }));
    const late = await fixture.waitForStatus(
      NAMESPACE,
      "late",
      "refused",
      ({ reason }) => reason === "TemplateMissing",
    );
    expect(late.message).toContain('DeploymentTemplate "mine" is invalid');
  });

  test("an environment reports its usage and its violations", async () => {
    const environment = (name: string, spec: object): object => ({
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name },
      spec: { kind: "dev", ...spec },
    });
    await fixture.apply(
      NAMESPACE,
      environment("good", { quotas: { cpu: "50" } }),
      environment("invalid", { default_template: "gpu" }),
      classManifest("resident", { target_environment: "good" }),
    );
    await fixture.waitForPhase(NAMESPACE, "resident", "available");
    const statusOf = async (name: string): Promise<StatusObject["status"] & { readonly usage?: object }> =>
      (await fixture.get<StatusObject>(NAMESPACE, "envcfg", name))?.status ?? {};
    await eventually(async () => expect((await statusOf("good")).usage).toMatchObject({ classes: 1 }), {
      timeoutMs: 60_000,
    });
    await eventually(async () => expect((await statusOf("invalid")).message).toContain("$.spec.default_template"), {
      timeoutMs: 60_000,
    });
    const before = (await fixture.get<KubeObject>(NAMESPACE, "envcfg", "good"))?.metadata.resourceVersion;
    for (const controller of crm.manager.controllers) controller.enqueue({ namespace: NAMESPACE, name: "good" });
    await eventually(() => crm.manager.controllers.every(({ queueLength }) => queueLength === 0));
    expect((await fixture.get<KubeObject>(NAMESPACE, "envcfg", "good"))?.metadata.resourceVersion).toBe(before);
  });
});
