import type { KubeObject } from "@oaas/kube-core";
import { addScaledObjectKind, describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { kedaClass, kedaTemplate, managersOf, PROMETHEUS_TRIGGER, type ScaledObject } from "./support/keda-class.ts";
import { startQuickEnforcer } from "./support/quick-enforcer.ts";

const NAMESPACE = "idle";

interface Replicated extends KubeObject {
  readonly spec: { readonly replicas?: number };
}

describeOnTarget("a class with min_scale 0", { needs: ["kubectl", "keda-crds"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    const facts = { ...FACTS, enforcement: "full" } as const;
    crm = await fixture.startController({ namespaces: [NAMESPACE], facts });
    await fixture.apply(NAMESPACE, kedaTemplate("waking", PROMETHEUS_TRIGGER));
  });
  afterAll(async () => {
    await fixture.close();
  });

  const statusOf = () => fixture.status(NAMESPACE, "web");
  const functionOf = async () => (await statusOf())?.functions?.[0];
  const deployment = () => fixture.get<Replicated>(NAMESPACE, "deploy", "web");
  const waitForFunction = (what: string, expected: object): Promise<void> =>
    eventually(async () => expect(await functionOf()).toMatchObject(expected), { timeoutMs: 60_000, what });

  test("is refused by a template that keeps a replica, with the field and the remedy", async () => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", min_scale: 0 } };
    await fixture.apply(NAMESPACE, classManifest("web", { functions: [fn], selected_template: "k8s_deployment" }));
    const { message, phase } = await fixture.waitForStatus(
      NAMESPACE,
      "web",
      "ApplyInvalid",
      ({ reason }) => reason === "ApplyInvalid",
    );
    expect(phase).toBe("degraded");
    expect(message).toContain("functions[0].provision_config.min_scale");
    expect(message).toContain("set min_scale to 1");
    expect(await deployment()).toBeUndefined();
  });

  test("is refused while KEDA is not installed, and runs as soon as it is", async () => {
    await fixture.apply(NAMESPACE, kedaClass("web", { min_scale: 0, max_scale: 4 }, "waking"));
    await fixture.waitForStatus(NAMESPACE, "web", "the missing kind", ({ message }) =>
      Boolean(message?.includes("the cluster does not serve keda.sh/v1alpha1 ScaledObject")),
    );
    await addScaledObjectKind(fixture.cluster.kubectl);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect((await fixture.get<ScaledObject>(NAMESPACE, "scaledobject", "web"))?.spec).toMatchObject({
      minReplicaCount: 0,
      maxReplicaCount: 4,
    });
    expect(await managersOf(fixture, NAMESPACE, "deploy/web", "replicas")).not.toContain("oprc-crm");
  });

  test("is available and says so when its scaler removes the last replica", async () => {
    await waitForFunction("a ready replica", { ready: true, desired_replicas: 1, ready_replicas: 1 });
    // As KEDA does, through the scale subresource.
    await fixture.kubectl(`scale deployment web -n ${NAMESPACE} --replicas=0`);
    await waitForFunction("scale to zero", {
      ready: true,
      serving: true,
      desired_replicas: 0,
      ready_replicas: 0,
      reason: "ScaledToZero",
    });
    const status = await statusOf();
    expect(status).toMatchObject({ phase: "available", message: "Ready: 1 function (scaled to zero)." });
    expect(status?.functions?.[0]?.observed_url).toBe("http://web.idle.svc.cluster.local/");
  });

  test("keeps zero under enforcement and changes of the class", async () => {
    const enforcer = startQuickEnforcer(crm, { namespace: NAMESPACE, name: "web" });
    enforcer.wanted.target = 3;
    const { conditions } = await fixture.waitForStatus(NAMESPACE, "web", "NotPossible", (status) =>
      Boolean(status.conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "NotPossible")),
    );
    const enforced = conditions?.find(({ type }) => type === "NfrEnforced");
    expect(enforced?.message).toContain("min_scale 0 lets the function scale to zero");
    await enforcer.stop();
    const changed = kedaClass("web", { min_scale: 0, max_scale: 4, container_image: "example.test/fn:2" }, "waking");
    await fixture.apply(NAMESPACE, changed);
    await eventually(async () => expect(JSON.stringify(await deployment())).toContain("example.test/fn:2"));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect((await deployment())?.spec.replicas).toBe(0);
  });

  test("writes nothing while it stays at zero", async () => {
    const versions = (): Promise<string> =>
      fixture.kubectl([
        ...`get deploy,scaledobject,crt -n ${NAMESPACE} -o`.split(" "),
        "jsonpath={range .items[*]}{.kind}/{.metadata.name}:{.metadata.generation} {end}",
      ]);
    const before = await versions();
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} example.test/touched=yes`);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect(await versions()).toBe(before);
  });

  test("reports the replica that a request starts", async () => {
    await fixture.kubectl(`scale deployment web -n ${NAMESPACE} --replicas=1`);
    await waitForFunction("a ready replica", { ready: true, desired_replicas: 1, ready_replicas: 1 });
    expect(await functionOf()).not.toHaveProperty("reason");
  });

  test("is degraded at zero when its scaler reports that it does not work", async () => {
    await fixture.kubectl(`scale deployment web -n ${NAMESPACE} --replicas=0`);
    await waitForFunction("scale to zero", { reason: "ScaledToZero" });
    const report = (status: "True" | "False"): Promise<string> =>
      fixture.kubectl([
        ..."patch scaledobject web --subresource=status --type=merge -n".split(" "),
        NAMESPACE,
        "-p",
        JSON.stringify({ status: { conditions: [{ type: "Ready", status, message: "no scaler for kafka" }] } }),
      ]);
    await report("False");
    const { message } = await fixture.waitForStatus(
      NAMESPACE,
      "web",
      "ScalerFailed",
      ({ reason }) => reason === "ScalerFailed",
    );
    expect(message).toContain("cannot start the first replica: no scaler for kafka");
    await report("True");
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    await fixture.kubectl(`delete crt web -n ${NAMESPACE} --timeout=120s`);
  });
});
