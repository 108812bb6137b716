import type { KubeObject } from "@oaas/kube-core";
import { addKnativeKinds, describeOnTarget, eventually, removeKnativeKinds } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const GROUP = "serving.knative.dev";

describeOnTarget("Knative and other templates", { needs: ["kubectl", "knative-manifests"] }, () => {
  let fixture: ControllerFixture;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    // So rarely that only the watch of the definitions can find a kind.
    await fixture.startController({ namespaces: [NAMESPACE], kindDiscoveryMs: 3_600_000 });
  });
  afterAll(async () => {
    await fixture.close();
  });

  const selectTemplate = (template: string): Promise<string> =>
    fixture.apply(NAMESPACE, classManifest("order", { selected_template: template }));
  const ksvc = (): Promise<KubeObject | undefined> => fixture.get(NAMESPACE, "ksvc", "order");
  const service = (): Promise<KubeObject | undefined> => fixture.get(NAMESPACE, "service", "order");
  const ownerKind = async (): Promise<string | undefined> => (await service())?.metadata.ownerReferences?.[0]?.kind;

  /**
   * Acts as Knative does for its Service: creates a Route and a Kubernetes Service of the same name, and sets the
   * status.
   */
  async function simulateKnative(): Promise<void> {
    const { metadata } = (await ksvc())!;
    const owner = (kind: string, uid: string | undefined): object => ({
      apiVersion: `${GROUP}/v1`,
      kind,
      name: "order",
      uid,
      controller: true,
    });
    const labels = metadata.labels;
    await fixture.apply(NAMESPACE, {
      apiVersion: `${GROUP}/v1`,
      kind: "Route",
      metadata: { name: "order", labels, ownerReferences: [owner("Service", metadata.uid)] },
    });
    const route = await fixture.get<KubeObject>(NAMESPACE, "routes.serving.knative.dev", "order");
    await fixture.apply(NAMESPACE, {
      apiVersion: "v1",
      kind: "Service",
      // The finalizer keeps the garbage collector from deleting it before the test has checked it.
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
    await fixture.kubectl([
      ..."patch ksvc order --subresource=status --type=merge".split(" "),
      "-n",
      NAMESPACE,
      "-p",
      JSON.stringify({ status }),
    ]);
  }

  /** Deletes the objects that Knative created. */
  async function removeKnativeObjects(): Promise<void> {
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await fixture.kubectl(["patch", "service", "order", "-n", NAMESPACE, "--type=merge", "-p", patch]);
    await fixture.kubectl(`delete service,routes.${GROUP} order -n ${NAMESPACE} --ignore-not-found --wait=false`);
  }

  test("a class that selects Knative waits until it is installed", async () => {
    await selectTemplate("knative");
    await fixture.waitForStatus(NAMESPACE, "order", "TemplateMissing", ({ reason }) => reason === "TemplateMissing");
    await addKnativeKinds(fixture.cluster.kubectl);
    await eventually(async () => (await ksvc()) !== undefined, { timeoutMs: 60_000, what: "the Knative Service" });
    await simulateKnative();
    await fixture.waitForPhase(NAMESPACE, "order", "available");
  });

  test("reports a Service without pods as scaled to zero, and as ready when a request starts one", async () => {
    const waitForFunction = (what: string, expected: object): Promise<void> =>
      eventually(
        async () => expect((await fixture.status(NAMESPACE, "order"))?.functions?.[0]).toMatchObject(expected),
        { timeoutMs: 60_000, what },
      );
    await waitForFunction("scale to zero", { ready: true, serving: true, desired_replicas: 0, reason: "ScaledToZero" });
    await fixture.apply(NAMESPACE, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "order-1", labels: { [`${GROUP}/service`]: "order", "oaas.io/owner": "order" } },
      spec: { containers: [{ name: "user-container", image: "example.test/fn:1" }] },
    });
    await waitForFunction("a replica", { ready: true, desired_replicas: 1 });
    await fixture.kubectl(`delete pod order-1 -n ${NAMESPACE} --grace-period=0 --force`);
    await waitForFunction("scale to zero", { ready: true, serving: true, reason: "ScaledToZero" });
    expect((await fixture.status(NAMESPACE, "order"))?.phase).toBe("available");
  });

  test("repairs an edited Knative Service, whose kind was discovered at run time", async () => {
    await fixture.kubectl([
      ..."patch ksvc order --type=json -n".split(" "),
      NAMESPACE,
      "-p",
      JSON.stringify([
        { op: "replace", path: "/spec/template/spec/containers/0/image", value: "example.test/hacked:1" },
      ]),
    ]);
    const image = (): Promise<string> =>
      fixture.kubectl(`get ksvc order -n ${NAMESPACE} -o jsonpath={.spec.template.spec.containers[0].image}`);
    await eventually(async () => (await image()) === "example.test/fn:1", { what: "the image to be restored" });
  });

  test("moving to a Deployment deletes the Knative Service and waits for the name", async () => {
    await selectTemplate("k8s_deployment");
    await eventually(async () => (await ksvc()) === undefined, { what: "the Knative Service to be deleted" });
    await fixture.waitForStatus(NAMESPACE, "order", "to wait for the name", ({ reason }) => reason === "Replacing");
    expect(await ownerKind()).toBe("Route");
    await removeKnativeObjects();
    await fixture.waitForPhase(NAMESPACE, "order", "available");
    expect(await ownerKind()).toBe("ClassRuntime");
  });

  test("moving to a StatefulSet keeps the Service", async () => {
    const uid = (await service())?.metadata.uid;
    await selectTemplate("statefulset");
    await eventually(async () => (await fixture.listOwned(NAMESPACE, "deploy", "order")).length === 0);
    await fixture.waitForPhase(NAMESPACE, "order", "available");
    expect((await service())?.metadata.uid).toBe(uid);
  });

  test("moving back to Knative deletes our Service first", async () => {
    await selectTemplate("knative");
    await eventually(async () => (await ksvc()) !== undefined, { timeoutMs: 60_000, what: "the Knative Service" });
    expect(await service()).toBeUndefined();
    await eventually(async () => (await fixture.listOwned(NAMESPACE, "deploy,statefulset", "order")).length === 0);
    await simulateKnative();
    await fixture.waitForPhase(NAMESPACE, "order", "available");
  });

  test("reports a removed Knative, and becomes available with another template", async () => {
    await removeKnativeObjects();
    await removeKnativeKinds(fixture.cluster.kubectl);
    const { message } = await fixture.waitForStatus(
      NAMESPACE,
      "order",
      "TemplateMissing",
      ({ reason }) => reason === "TemplateMissing",
    );
    expect(message).toContain("knative");
    await selectTemplate("dev");
    await fixture.waitForPhase(NAMESPACE, "order", "available");
    await fixture.kubectl(`delete crt order -n ${NAMESPACE} --wait=true --timeout=150s`);
    expect(await fixture.listOwned(NAMESPACE, "deploy,svc", "order")).toEqual([]);
  });
});
