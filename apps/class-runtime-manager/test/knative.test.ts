import type { KubeObject } from "@oaas/kube-core";
import { addKnativeKinds, describeOnTarget, eventually, removeKnativeKinds } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const GROUP = "serving.knative.dev";

describeOnTarget("Knative beside the other templates", { needs: ["kubectl", "knative-manifests"] }, () => {
  let lab: ControllerFixture;

  beforeAll(async () => {
    lab = await ControllerFixture.start();
    await lab.kubectl(`create namespace ${NAMESPACE}`);
    // So rarely that nothing but the definitions themselves can tell of a kind.
    await lab.startController({ namespaces: [NAMESPACE], kindDiscoveryMs: 3_600_000 });
  });
  afterAll(async () => {
    await lab.close();
  });

  const asks = (template: string): Promise<string> =>
    lab.apply(NAMESPACE, classManifest("order", { selected_template: template }));
  const ksvc = (): Promise<KubeObject | undefined> => lab.get(NAMESPACE, "ksvc", "order");
  const service = (): Promise<KubeObject | undefined> => lab.get(NAMESPACE, "service", "order");
  const ownerKind = async (): Promise<string | undefined> => (await service())?.metadata.ownerReferences?.[0]?.kind;

  /** What Knative does for a Service of its own: a Route, a Kubernetes Service of the same name, and a status. */
  async function actAsKnative(): Promise<void> {
    const { metadata } = (await ksvc())!;
    const owner = (kind: string, uid: string | undefined): object => ({
      apiVersion: `${GROUP}/v1`,
      kind,
      name: "order",
      uid,
      controller: true,
    });
    const labels = metadata.labels;
    await lab.apply(NAMESPACE, {
      apiVersion: `${GROUP}/v1`,
      kind: "Route",
      metadata: { name: "order", labels, ownerReferences: [owner("Service", metadata.uid)] },
    });
    const route = await lab.get<KubeObject>(NAMESPACE, "routes.serving.knative.dev", "order");
    await lab.apply(NAMESPACE, {
      apiVersion: "v1",
      kind: "Service",
      // Held, so that the garbage collector does not take it away before the test has looked.
      metadata: {
        name: "order",
        labels,
        ownerReferences: [owner("Route", route?.metadata.uid)],
        finalizers: ["example.test/hold"],
      },
      spec: { type: "ExternalName", externalName: "gateway.example.test" },
    });
    const status = {
      observedGeneration: metadata.generation,
      url: "http://order.classes.example.test",
      conditions: [{ type: "Ready", status: "True" }],
    };
    await lab.kubectl([
      ..."patch ksvc order --subresource=status --type=merge".split(" "),
      "-n",
      NAMESPACE,
      "-p",
      JSON.stringify({ status }),
    ]);
  }

  /** Takes away what Knative made. */
  async function removeKnativesOwn(): Promise<void> {
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await lab.kubectl(["patch", "service", "order", "-n", NAMESPACE, "--type=merge", "-p", patch]);
    await lab.kubectl(`delete service,routes.${GROUP} order -n ${NAMESPACE} --ignore-not-found`);
  }

  test("a class that asks for Knative waits until the cluster has it", async () => {
    await asks("knative");
    await lab.waitForStatus(NAMESPACE, "order", "TemplateMissing", ({ reason }) => reason === "TemplateMissing");
    await addKnativeKinds(lab.cluster.kubectl);
    await eventually(async () => (await ksvc()) !== undefined, { timeoutMs: 60_000, what: "the Knative Service" });
    await actAsKnative();
    await lab.waitForPhase(NAMESPACE, "order", "available");
  });

  test("a Knative Service that is edited by hand is repaired: kinds found late are watched like any other", async () => {
    await lab.kubectl([
      ..."patch ksvc order --type=json -n".split(" "),
      NAMESPACE,
      "-p",
      JSON.stringify([
        { op: "replace", path: "/spec/template/spec/containers/0/image", value: "example.test/hacked:1" },
      ]),
    ]);
    const image = (): Promise<string> =>
      lab.kubectl(`get ksvc order -n ${NAMESPACE} -o jsonpath={.spec.template.spec.containers[0].image}`);
    await eventually(async () => (await image()) === "example.test/fn:1", { what: "the image to be put back" });
  });

  test("from Knative to a Deployment: the Knative Service goes, and ours waits for the name", async () => {
    await asks("k8s_deployment");
    await eventually(async () => (await ksvc()) === undefined, { what: "the Knative Service to go" });
    await lab.waitForStatus(NAMESPACE, "order", "to wait for the name", ({ reason }) => reason === "Replacing");
    expect(await ownerKind()).toBe("Route");
    await removeKnativesOwn();
    await lab.waitForPhase(NAMESPACE, "order", "available");
    expect(await ownerKind()).toBe("ClassRuntime");
  });

  test("to a StatefulSet and back the Service stays the same", async () => {
    const uid = (await service())?.metadata.uid;
    await asks("statefulset");
    await eventually(async () => (await lab.listOwned(NAMESPACE, "deploy", "order")).length === 0);
    await lab.waitForPhase(NAMESPACE, "order", "available");
    expect((await service())?.metadata.uid).toBe(uid);
  });

  test("and back to Knative: our Service is gone before Knative is asked", async () => {
    await asks("knative");
    await eventually(async () => (await ksvc()) !== undefined, { timeoutMs: 60_000, what: "the Knative Service" });
    expect(await service()).toBeUndefined();
    await eventually(async () => (await lab.listOwned(NAMESPACE, "deploy,statefulset", "order")).length === 0);
    await actAsKnative();
    await lab.waitForPhase(NAMESPACE, "order", "available");
  });

  test("Knative is taken away: the class says so, and lives on with another template", async () => {
    await removeKnativesOwn();
    await removeKnativeKinds(lab.cluster.kubectl);
    const { message } = await lab.waitForStatus(
      NAMESPACE,
      "order",
      "TemplateMissing",
      ({ reason }) => reason === "TemplateMissing",
    );
    expect(message).toContain("knative");
    await asks("dev");
    await lab.waitForPhase(NAMESPACE, "order", "available");
    await lab.kubectl(`delete crt order -n ${NAMESPACE} --wait=true --timeout=150s`);
    expect(await lab.listOwned(NAMESPACE, "deploy,svc", "order")).toEqual([]);
  });
});
