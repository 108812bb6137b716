import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually, startKnative, type KnativeUnderTest, type TargetSuite } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";

/** A Knative Service. */
interface KnativeService extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
  };
  readonly status?: {
    readonly url?: string;
    readonly latestCreatedRevisionName?: string;
    readonly latestReadyRevisionName?: string;
    readonly traffic?: readonly { readonly revisionName?: string; readonly percent?: number }[];
  };
}

interface ClassOptions {
  readonly tag?: string;
  readonly image?: string;
  readonly min?: number;
  readonly max?: number;
  readonly template?: string;
}

/** All kinds that Knative creates for a Service, and the kinds of our other templates. */
const ALL_KINDS = [
  ...["services", "routes", "configurations", "revisions"].map((kind) => `${kind}.serving.knative.dev`),
  ...["ingresses", "serverlessservices"].map((kind) => `${kind}.networking.internal.knative.dev`),
  "podautoscalers.autoscaling.internal.knative.dev",
  "deployments.apps",
  "replicasets.apps",
  "pods",
  "services",
  "endpointslices.discovery.k8s.io",
];
const KNATIVE_KINDS = ALL_KINDS.filter((kind) => kind.includes("knative"));

const KNATIVE: TargetSuite = {
  needs: ["kubectl", "knative-manifests", "knative"],
  realOnly: "the controllers and webhooks of Knative need a real API server",
};

describeOnTarget("classes on real Knative", KNATIVE, () => {
  let fixture: ControllerFixture;
  let knative: KnativeUnderTest | undefined;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    // So rarely that only the watch of the definitions can find a kind.
    await fixture.startController({ namespaces: [NAMESPACE], kindDiscoveryMs: 3_600_000 });
  });
  afterAll(async () => {
    await knative?.close();
    await fixture.close();
  });

  const applyClass = (
    name: string,
    { tag = "1", image = `dev.local/fn:${tag}`, min, max, template = "knative" }: ClassOptions,
  ) => {
    const provision_config = {
      container_image: image,
      ...(min === undefined ? {} : { min_scale: min }),
      ...(max === undefined ? {} : { max_scale: max }),
    };
    const functions = [{ function_key: "f", provision_config }];
    return fixture.apply(NAMESPACE, classManifest(name, { selected_template: template, functions }));
  };
  const ksvc = (name: string): Promise<KnativeService | undefined> => fixture.get(NAMESPACE, "ksvc", name);
  const waitUntilAvailable = (name: string): Promise<unknown> => fixture.waitForPhase(NAMESPACE, name, "available");
  const namesOf = async (kinds: readonly string[]): Promise<string[]> => {
    const names = await fixture.kubectl(`get ${kinds.join(",")} -n ${NAMESPACE} -o name`);
    return names.split("\n").filter((name) => name !== "");
  };
  /** Waits until the class is available and all traffic goes to this revision. */
  const waitForRevision = (name: string, number: number): Promise<unknown> =>
    eventually(
      async () => {
        const { status } = (await ksvc(name)) ?? {};
        const revisionName = `${name}-${String(number).padStart(5, "0")}`;
        expect(status?.traffic).toMatchObject([{ revisionName, percent: 100 }]);
        expect((await fixture.status(NAMESPACE, name))?.phase).toBe("available");
      },
      { timeoutMs: 90_000, what: `traffic to revision ${number} of ${name}` },
    );

  test("waits until Knative is installed, and reports the observed URL", async () => {
    await applyClass("order", { min: 2, max: 5 });
    await fixture.waitForStatus(NAMESPACE, "order", "TemplateMissing", ({ reason }) => reason === "TemplateMissing");
    knative = await startKnative(fixture.cluster);
    await waitUntilAvailable("order");
    const service = await ksvc("order");
    const [fn] = (await fixture.status(NAMESPACE, "order"))?.functions ?? [];
    expect(fn).toMatchObject({ ready: true, template: "knative", observed_url: service?.status?.url });
    expect(fn?.observed_url).toBe("http://order.classes.svc.cluster.local");
    expect(service?.spec.template.metadata?.annotations).toMatchObject({
      "autoscaling.knative.dev/minScale": "2",
      "autoscaling.knative.dev/maxScale": "5",
    });
    const replicas = await fixture.kubectl(
      `get deploy order-00001-deployment -n ${NAMESPACE} -o jsonpath={.status.readyReplicas}`,
    );
    expect(replicas).toBe("2");
  });

  test("ignores fields that Knative adds, and restores an edited Service once", async () => {
    await applyClass("other", {});
    await waitUntilAvailable("other");
    const created = await ksvc("other");
    expect(created).toMatchObject({ spec: { traffic: [{ latestRevision: true }] }, metadata: { generation: 1 } });
    const edit = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "dev.local/hacked:1" }];
    await fixture.kubectl(["patch", "ksvc", "other", "-n", NAMESPACE, "--type=json", "-p", JSON.stringify(edit)]);
    await waitForRevision("other", 3);
    expect(await ksvc("other")).toMatchObject({
      metadata: { generation: 3 },
      spec: { template: { spec: { containers: [{ image: "dev.local/fn:1" }] } } },
    });
    await fixture.kubectl(`delete crt other -n ${NAMESPACE} --wait=true --timeout=150s`);
  });

  test("an update creates a revision that takes over the traffic", async () => {
    await applyClass("order", { tag: "2", min: 3, max: 5 });
    await waitForRevision("order", 2);
    const path = "jsonpath={.spec.replicas}";
    await eventually(
      async () => (await fixture.kubectl(`get deploy order-00002-deployment -n ${NAMESPACE} -o ${path}`)) === "3",
    );
  });

  test("reports an image that cannot be pulled while the last revision serves, and recovers", async () => {
    await applyClass("order", { tag: "missing" });
    const broken = await fixture.waitForStatus(NAMESPACE, "order", "ImagePull", ({ reason }) => reason === "ImagePull");
    expect(broken).toMatchObject({ phase: "degraded" });
    expect(broken.message).toContain("dev.local/fn:missing");
    expect(broken.conditions).toContainEqual(expect.objectContaining({ type: "Available", status: "True" }));
    expect((await ksvc("order"))?.status?.latestReadyRevisionName).toBe("order-00002");
    await applyClass("order", { tag: "4" });
    await waitForRevision("order", 4);
  });

  test("reports an unreachable registry with the message of Knative", async () => {
    await applyClass("order", { image: "registry.invalid/fn:1" });
    const broken = await fixture.waitForStatus(NAMESPACE, "order", "ImagePull", ({ reason }) => reason === "ImagePull");
    expect(broken).toMatchObject({ phase: "degraded" });
    expect(broken.message).toContain("registry.invalid");
    await applyClass("order", { tag: "6" });
    await waitForRevision("order", 6);
  });

  test("moves from Knative to a Deployment and back without leftovers", async () => {
    const ownerOfService = async (): Promise<string | undefined> =>
      (await fixture.get(NAMESPACE, "service", "order"))?.metadata.ownerReferences?.[0]?.kind;
    expect(await ownerOfService()).toBe("Route");
    await applyClass("order", { template: "k8s_deployment" });
    await eventually(async () => (await ownerOfService()) === "ClassRuntime", {
      timeoutMs: 90_000,
      what: "our Service",
    });
    await waitUntilAvailable("order");
    await eventually(async () => expect(await namesOf(KNATIVE_KINDS)).toEqual([]), { what: "no Knative objects" });
    await eventually(async () => expect(await namesOf(["deploy"])).toEqual(["deployment.apps/order"]));

    await applyClass("order", { tag: "7" });
    await waitForRevision("order", 1);
    expect(await ownerOfService()).toBe("Route");
    await eventually(async () => expect(await namesOf(["deploy"])).toEqual(["deployment.apps/order-00001-deployment"]));
  });

  test("a function with min_scale 0 stays available without a pod", async () => {
    await applyClass("idle", { min: 0 });
    await waitUntilAvailable("idle");
    const functionOf = async () => (await fixture.status(NAMESPACE, "idle"))?.functions?.[0];
    const waitForFunction = (what: string, expected: object): Promise<void> =>
      eventually(async () => expect(await functionOf()).toMatchObject(expected), { timeoutMs: 90_000, what });
    await waitForFunction("the initial pod", { ready: true, desired_replicas: 1 });
    expect((await ksvc("idle"))?.spec.template.metadata?.annotations).toMatchObject({
      "autoscaling.knative.dev/minScale": "0",
    });
    // Without an activator, the autoscaler decides on zero and does not carry it out: the test does.
    const scale = (replicas: number): Promise<string> =>
      fixture.kubectl(`scale deployment idle-00001-deployment -n ${NAMESPACE} --replicas=${replicas}`);
    await scale(0);
    await waitForFunction("scale to zero", { ready: true, serving: true, desired_replicas: 0, reason: "ScaledToZero" });
    const status = await fixture.status(NAMESPACE, "idle");
    expect(status).toMatchObject({ phase: "available", message: "Ready: 1 function (scaled to zero)." });
    expect(status?.functions?.[0]?.observed_url).toBe("http://idle.classes.svc.cluster.local");
    expect((await ksvc("idle"))?.metadata.generation).toBe(1);
    await scale(1);
    await waitForFunction("the pod of a request", { ready: true, desired_replicas: 1 });
    await fixture.kubectl(`delete crt idle -n ${NAMESPACE} --wait=true --timeout=150s`);
  });

  test("deletes the class with all objects, including those of Knative", async () => {
    await fixture.kubectl(`delete crt order -n ${NAMESPACE} --wait=true --timeout=150s`);
    await eventually(async () => expect(await namesOf(["crt", ...ALL_KINDS])).toEqual([]), {
      timeoutMs: 90_000,
      what: "an empty namespace",
    });
  });

  test("reports a removed Knative, and recovers when it is installed again", async () => {
    await applyClass("late", {});
    await waitUntilAvailable("late");
    await knative?.uninstall();
    const { message } = await fixture.waitForStatus(
      NAMESPACE,
      "late",
      "TemplateMissing",
      ({ reason }) => reason === "TemplateMissing",
    );
    expect(message).toContain("knative");
    knative = await startKnative(fixture.cluster);
    await waitUntilAvailable("late");
    expect(await ksvc("late")).toBeDefined();
    await fixture.kubectl(`delete crt late -n ${NAMESPACE} --wait=true --timeout=150s`);
    await eventually(async () => expect(await namesOf(["crt", ...ALL_KINDS])).toEqual([]), {
      timeoutMs: 90_000,
      what: "an empty namespace",
    });
  });
});
