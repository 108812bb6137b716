import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually, startKnative, type KnativeUnderTest, type TargetSuite } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";

/** What Knative says of its Service. */
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

interface Wish {
  readonly tag?: string;
  readonly image?: string;
  readonly min?: number;
  readonly max?: number;
  readonly template?: string;
}

/** Everything that Knative makes of a Service, and what ours is made of with other templates. */
const EVERYTHING = [
  ...["services", "routes", "configurations", "revisions"].map((kind) => `${kind}.serving.knative.dev`),
  ...["ingresses", "serverlessservices"].map((kind) => `${kind}.networking.internal.knative.dev`),
  "podautoscalers.autoscaling.internal.knative.dev",
  "deployments.apps",
  "replicasets.apps",
  "pods",
  "services",
  "endpointslices.discovery.k8s.io",
];
const KNATIVES = EVERYTHING.filter((kind) => kind.includes("knative"));

const KNATIVE: TargetSuite = {
  needs: ["kubectl", "knative-manifests", "knative"],
  realOnly: "Knative's own controllers and webhooks run here, and they want the API server they were made for",
};

describeOnTarget("classes on real Knative", KNATIVE, () => {
  let lab: ControllerFixture;
  let knative: KnativeUnderTest | undefined;

  beforeAll(async () => {
    lab = await ControllerFixture.start();
    await lab.kubectl(`create namespace ${NAMESPACE}`);
    // So rarely that nothing but the definitions themselves can tell of a kind.
    await lab.startController({ namespaces: [NAMESPACE], kindDiscoveryMs: 3_600_000 });
  });
  afterAll(async () => {
    await knative?.close();
    await lab.close();
  });

  const asks = (name: string, { tag = "1", image = `dev.local/fn:${tag}`, min, max, template = "knative" }: Wish) => {
    const provision_config = {
      container_image: image,
      ...(min === undefined ? {} : { min_scale: min }),
      ...(max === undefined ? {} : { max_scale: max }),
    };
    const functions = [{ function_key: "f", provision_config }];
    return lab.apply(NAMESPACE, classManifest(name, { selected_template: template, functions }));
  };
  const ksvc = (name: string): Promise<KnativeService | undefined> => lab.get(NAMESPACE, "ksvc", name);
  const available = (name: string): Promise<unknown> => lab.waitForPhase(NAMESPACE, name, "available");
  const namesOf = async (kinds: readonly string[]): Promise<string[]> => {
    const names = await lab.kubectl(`get ${kinds.join(",")} -n ${NAMESPACE} -o name`);
    return names.split("\n").filter((name) => name !== "");
  };
  /** The class is Available, and its traffic goes to the revision of this number. */
  const servesRevision = (name: string, number: number): Promise<unknown> =>
    eventually(
      async () => {
        const { status } = (await ksvc(name)) ?? {};
        const revisionName = `${name}-${String(number).padStart(5, "0")}`;
        expect(status?.traffic).toMatchObject([{ revisionName, percent: 100 }]);
        expect((await lab.status(NAMESPACE, name))?.phase).toBe("available");
      },
      { timeoutMs: 90_000, what: `traffic to revision ${number} of ${name}` },
    );

  test("a class that asks for Knative waits until the cluster has it, and is found at its URL", async () => {
    await asks("order", { min: 2, max: 5 });
    await lab.waitForStatus(NAMESPACE, "order", "TemplateMissing", ({ reason }) => reason === "TemplateMissing");
    knative = await startKnative(lab.cluster);
    await available("order");
    const service = await ksvc("order");
    const [fn] = (await lab.status(NAMESPACE, "order"))?.functions ?? [];
    expect(fn).toMatchObject({ ready: true, template: "knative", observed_url: service?.status?.url });
    expect(fn?.observed_url).toBe("http://order.classes.svc.cluster.local");
    expect(service?.spec.template.metadata?.annotations).toMatchObject({
      "autoscaling.knative.dev/minScale": "2",
      "autoscaling.knative.dev/maxScale": "5",
    });
    const replicas = await lab.kubectl(
      `get deploy order-00001-deployment -n ${NAMESPACE} -o jsonpath={.status.readyReplicas}`,
    );
    expect(replicas).toBe("2");
  });

  test("what Knative adds to its Service is no drift; what is edited by hand is put back, once", async () => {
    await asks("other", {});
    await available("other");
    const made = await ksvc("other");
    expect(made).toMatchObject({ spec: { traffic: [{ latestRevision: true }] }, metadata: { generation: 1 } });
    const edit = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "dev.local/hacked:1" }];
    await lab.kubectl(["patch", "ksvc", "other", "-n", NAMESPACE, "--type=json", "-p", JSON.stringify(edit)]);
    await servesRevision("other", 3);
    expect(await ksvc("other")).toMatchObject({
      metadata: { generation: 3 },
      spec: { template: { spec: { containers: [{ image: "dev.local/fn:1" }] } } },
    });
    await lab.kubectl(`delete crt other -n ${NAMESPACE} --wait=true --timeout=150s`);
  });

  test("an update is a new revision that takes the traffic over", async () => {
    await asks("order", { tag: "2", min: 3, max: 5 });
    await servesRevision("order", 2);
    const path = "jsonpath={.spec.replicas}";
    await eventually(
      async () => (await lab.kubectl(`get deploy order-00002-deployment -n ${NAMESPACE} -o ${path}`)) === "3",
    );
  });

  test("an image that no node can pull: Degraded, while the last revision serves on; mended, it takes over", async () => {
    await asks("order", { tag: "missing" });
    const broken = await lab.waitForStatus(NAMESPACE, "order", "ImagePull", ({ reason }) => reason === "ImagePull");
    expect(broken).toMatchObject({ phase: "degraded" });
    expect(broken.message).toContain("dev.local/fn:missing");
    expect(broken.conditions).toContainEqual(expect.objectContaining({ type: "Available", status: "True" }));
    expect((await ksvc("order"))?.status?.latestReadyRevisionName).toBe("order-00002");
    await asks("order", { tag: "4" });
    await servesRevision("order", 4);
  });

  test("an image of a registry that Knative cannot ask: Degraded with what it says", async () => {
    await asks("order", { image: "registry.invalid/fn:1" });
    const broken = await lab.waitForStatus(NAMESPACE, "order", "ImagePull", ({ reason }) => reason === "ImagePull");
    expect(broken).toMatchObject({ phase: "degraded" });
    expect(broken.message).toContain("registry.invalid");
    await asks("order", { tag: "6" });
    await servesRevision("order", 6);
  });

  test("from Knative to a Deployment and back: one name, one owner at a time, nothing of the other left", async () => {
    const ownerOfService = async (): Promise<string | undefined> =>
      (await lab.get(NAMESPACE, "service", "order"))?.metadata.ownerReferences?.[0]?.kind;
    expect(await ownerOfService()).toBe("Route");
    await asks("order", { template: "k8s_deployment" });
    await eventually(async () => (await ownerOfService()) === "ClassRuntime", {
      timeoutMs: 90_000,
      what: "our Service",
    });
    await available("order");
    await eventually(async () => expect(await namesOf(KNATIVES)).toEqual([]), { what: "nothing of Knative's" });
    await eventually(async () => expect(await namesOf(["deploy"])).toEqual(["deployment.apps/order"]));

    await asks("order", { tag: "7" });
    await servesRevision("order", 1);
    expect(await ownerOfService()).toBe("Route");
    await eventually(async () => expect(await namesOf(["deploy"])).toEqual(["deployment.apps/order-00001-deployment"]));
  });

  test("deleted: nothing is left, of ours or of Knative's", async () => {
    await lab.kubectl(`delete crt order -n ${NAMESPACE} --wait=true --timeout=150s`);
    await eventually(async () => expect(await namesOf(["crt", ...EVERYTHING])).toEqual([]), {
      timeoutMs: 90_000,
      what: "an empty namespace",
    });
  });

  test("Knative is taken away and comes back: the class says so, and serves again", async () => {
    await asks("late", {});
    await available("late");
    await knative?.uninstall();
    const { message } = await lab.waitForStatus(
      NAMESPACE,
      "late",
      "lost",
      ({ reason }) => reason === "TemplateMissing",
    );
    expect(message).toContain("knative");
    knative = await startKnative(lab.cluster);
    await available("late");
    expect(await ksvc("late")).toBeDefined();
    await lab.kubectl(`delete crt late -n ${NAMESPACE} --wait=true --timeout=150s`);
    await eventually(async () => expect(await namesOf(["crt", ...EVERYTHING])).toEqual([]), {
      timeoutMs: 90_000,
      what: "an empty namespace",
    });
  });
});
