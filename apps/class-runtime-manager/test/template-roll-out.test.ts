import type { ClassRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const CLASSES = ["a", "b", "c"] as const;

interface Told extends KubeObject {
  readonly status?: {
    readonly message?: string;
    readonly revision?: string;
    readonly used_by?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

describeOnTarget("a user template that is edited while it is used", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    lab = await ControllerFixture.start();
    await lab.kubectl(`create namespace ${NAMESPACE}`);
    crm = await lab.startController({ namespaces: [NAMESPACE] });
  });
  afterAll(async () => {
    await lab.close();
  });

  /** A template whose pods end so fast, on nodes with this label. */
  const edit = (seconds: number, pod: object = {}, more: readonly object[] = []): Promise<string> =>
    lab.apply(NAMESPACE, {
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
    lab.kubectl(
      `get deploy ${name} -n ${NAMESPACE} -o jsonpath={.spec.template.spec.terminationGracePeriodSeconds} --ignore-not-found`,
    );
  const template = async (): Promise<NonNullable<Told["status"]>> =>
    (await lab.get<Told>(NAMESPACE, "dtpl", "mine"))?.status ?? {};
  const condition = async (type: string) => (await template()).conditions?.find((one) => one.type === type);
  const choice = async (
    name: string,
  ): Promise<NonNullable<NonNullable<ClassRuntime["status"]>["template"]> | undefined> =>
    (await lab.status(NAMESPACE, name))?.template;

  test("its status says that it can be used, by how many, and which revision it is", async () => {
    await edit(7);
    for (const name of CLASSES) await lab.apply(NAMESPACE, classManifest(name, { selected_template: "mine" }));
    for (const name of CLASSES) await lab.waitForPhase(NAMESPACE, name, "available");
    await eventually(async () => (await template()).used_by === CLASSES.length, { timeoutMs: 60_000 });
    expect(await template()).toMatchObject({ revision: (await choice("a"))?.revision, observedGeneration: 1 });
    expect(await condition("Ready")).toMatchObject({ status: "True" });
    expect(await condition("RolledOut")).toMatchObject({ status: "True" });
  });

  test("a revision that the first class fails with halts there; the others stay as they are, and say for whom", async () => {
    await edit(8, { nodeSelector: { "no-such": "node" } });
    await lab.waitForPhase(NAMESPACE, "a", "degraded");
    for (const name of ["b", "c"]) {
      const { template: told, phase } = await lab.waitForStatus(
        NAMESPACE,
        name,
        "to be halted",
        (status) => status.template?.roll_out?.state === "halted",
      );
      expect([phase, told?.roll_out?.message]).toEqual([
        "available",
        expect.stringContaining("ClassRuntime classes/a"),
      ]);
      expect(await secondsOf(name)).toBe("7");
    }
    await eventually(async () => ((await condition("RolledOut"))?.message ?? "").includes("classes/a failed"), {
      timeoutMs: 60_000,
    });
  });

  test("those that wait are repaired as their own revision would have it, also by a manager that has just started", async () => {
    await crm.manager.stop();
    await lab.kubectl(`delete deploy b -n ${NAMESPACE} --wait=true`);
    crm = await lab.startController({ namespaces: [NAMESPACE] });
    await eventually(async () => (await secondsOf("b")) === "7", { timeoutMs: 60_000, what: "b to be back" });
    await lab.waitForPhase(NAMESPACE, "b", "available");
    expect(await secondsOf("c")).toBe("7");
    expect((await choice("c"))?.roll_out?.state).toBe("halted");
  });

  test("the mended template goes on to all, one revision is left, and events tell", async () => {
    await edit(9);
    for (const name of CLASSES) {
      await eventually(async () => (await secondsOf(name)) === "9", { timeoutMs: 90_000, what: `${name} to move` });
      await lab.waitForStatus(
        NAMESPACE,
        name,
        "to have moved",
        ({ phase, template: told }) => phase === "available" && told?.roll_out === undefined,
      );
    }
    await eventually(
      async () =>
        (await lab.kubectl(`get controllerrevisions -n ${NAMESPACE} -l oaas.io/template -o name`)).trim().split("\n")
          .length === 1,
      { timeoutMs: 60_000, what: "old revisions to go" },
    );
    expect(await lab.kubectl(`get events.events.k8s.io -n ${NAMESPACE} -o jsonpath={.items[*].reason}`)).toContain(
      "RollOutHalted",
    );
  });

  test("an edit that makes it invalid harms nobody: it says which field, classes keep their revision, new ones are refused", async () => {
    await edit(10, {}, [{ apiVersion: "v1", kind: "Secret" }]);
    await eventually(async () => (await condition("Ready"))?.status === "False", { timeoutMs: 60_000 });
    expect((await condition("Ready"))?.message).toMatch(
      /\$\.spec\.manifests\[1\]\.kind: a template cannot create v1\/Secret; use one of/,
    );
    await lab.waitForStatus(NAMESPACE, "c", "to stay", (status) => status.template?.roll_out?.state === "refused");
    await lab.kubectl(`delete deploy c -n ${NAMESPACE} --wait=true`);
    await eventually(async () => (await secondsOf("c")) === "9", { timeoutMs: 60_000, what: "c to be back" });
    await lab.apply(NAMESPACE, classManifest("late", { selected_template: "mine" }));
    const late = await lab.waitForStatus(NAMESPACE, "late", "refused", ({ reason }) => reason === "TemplateMissing");
    expect(late.message).toContain('DeploymentTemplate "mine" is invalid');
  });

  test("an environment tells what is taken of it, and what is wrong with it", async () => {
    const environment = (name: string, spec: object): object => ({
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name },
      spec: { kind: "dev", ...spec },
    });
    await lab.apply(
      NAMESPACE,
      environment("good", { quotas: { cpu: "50" } }),
      environment("odd", { default_template: "gpu" }),
      classManifest("resident", { target_environment: "good" }),
    );
    await lab.waitForPhase(NAMESPACE, "resident", "available");
    const told = async (name: string): Promise<Told["status"] & { readonly usage?: object }> =>
      (await lab.get<Told>(NAMESPACE, "envcfg", name))?.status ?? {};
    await eventually(async () => expect((await told("good")).usage).toMatchObject({ classes: 1 }), {
      timeoutMs: 60_000,
    });
    await eventually(async () => expect((await told("odd")).message).toContain("$.spec.default_template"), {
      timeoutMs: 60_000,
    });
    const before = (await lab.get<KubeObject>(NAMESPACE, "envcfg", "good"))?.metadata.resourceVersion;
    for (const controller of crm.manager.controllers) controller.enqueue({ namespace: NAMESPACE, name: "good" });
    await eventually(() => crm.manager.controllers.every(({ queueLength }) => queueLength === 0));
    expect((await lab.get<KubeObject>(NAMESPACE, "envcfg", "good"))?.metadata.resourceVersion).toBe(before);
  });
});
