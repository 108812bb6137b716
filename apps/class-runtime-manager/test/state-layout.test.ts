import { isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKubeClasses } from "../src/classes/kube-store.ts";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { createServeCheck } from "../src/grpc/deployments/serve-check.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";
import { createFaultInjectingTransport, type FaultInjectingTransport } from "./support/fault-injecting-transport.ts";
import { startGrpcServices, type GrpcFixture } from "./support/grpc-fixture.ts";

const NAMESPACE = "stores";

/** An object of the state store, as far as it shows the layout. */
interface StoreObject extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: object };
  readonly data?: Readonly<Record<string, string>>;
}

describeOnTarget("the layout of running state stores", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let grpc: GrpcFixture;

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ kwokNodes: 4 });
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    const { facts, templateSources } = crm;
    grpc = await startGrpcServices({
      ...createKubeClasses(fixture.createClient(), [crm.classRuntimes], realAmbient.clock),
      namespaces: { served: [NAMESPACE], fallback: NAMESPACE },
      check: createServeCheck({
        facts: (namespace) => facts.read(namespace),
        environmentOf: (namespace, name) => templateSources.resolveEnvironment(namespace, name),
        runningStore: (existing) => crm.runningStore(existing),
        userTemplates: (namespace) => templateSources.userTemplates(namespace),
        exceededQuotas: () => [],
      }),
      preview: (object, signal) => crm.preview(object, signal),
    });
  });
  afterAll(async () => {
    await grpc?.close();
    await fixture?.close();
  });

  const apply = (name: string, odgm_config: object, over: object = {}): Promise<string> =>
    fixture.apply(NAMESPACE, classManifest(name, { state_spec: {}, odgm_config, ...over }));
  const get = (kind: string, name: string): Promise<StoreObject | undefined> =>
    fixture.get<StoreObject>(NAMESPACE, kind, name);

  /** Waits until the controller has applied the current generation, and returns the refusal. */
  async function refusalOf(name: string): Promise<string | undefined> {
    const generation = (await get("crt", name))?.metadata.generation;
    const { conditions = [] } = await fixture.waitForStatus(
      NAMESPACE,
      name,
      `observed generation ${generation}`,
      ({ observedGeneration, phase }) => observedGeneration === generation && phase === "available",
    );
    const refused = conditions.find(({ type }) => type === "LayoutChangeRefused");
    if (refused !== undefined) expect([refused.status, refused.reason]).toEqual(["True", "ObjectsWouldBeLost"]);
    return refused?.message;
  }

  test("an edit of the copies keeps the store, says what would be lost, and is accepted with permission", async () => {
    await apply("edited", { replica_count: 3 });
    expect(await refusalOf("edited")).toBeUndefined();
    const [set, config] = [await get("sts", "edited-odgm"), await get("cm", "edited-odgm-config")];
    expect(set?.spec?.replicas).toBe(3);
    for (const change of [{ replica_count: 1 }, { replica_count: 5 }, { replica_count: 3, shard_type: "mst" }]) {
      await apply("edited", change);
      expect(await refusalOf("edited")).toMatch(/→.*objects would be lost.*allow_layout_change/);
      expect((await get("cm", "edited-odgm-config"))?.data).toEqual(config?.data);
      expect((await get("sts", "edited-odgm"))?.spec).toEqual(set?.spec);
    }
    await apply("edited", { replica_count: 3 });
    expect(await refusalOf("edited")).toBeUndefined();
    await apply("edited", { replica_count: 5, allow_layout_change: true });
    expect(await refusalOf("edited")).toBeUndefined();
    expect((await get("sts", "edited-odgm"))?.spec?.replicas).toBe(5);
  });

  test("an edit that removes the store keeps it until it is allowed", async () => {
    await apply("removed", { replica_count: 1 });
    expect(await refusalOf("removed")).toBeUndefined();
    await fixture.apply(NAMESPACE, classManifest("removed", { odgm_config: { enabled: false } }));
    expect(await refusalOf("removed")).toContain("the state store is removed");
    expect(await get("sts", "removed-odgm")).toBeDefined();
    await fixture.apply(
      NAMESPACE,
      classManifest("removed", { odgm_config: { enabled: false, allow_layout_change: true } }),
    );
    await eventually(async () => expect(await get("sts", "removed-odgm")).toBeUndefined(), {
      timeoutMs: 60_000,
      what: "the store to be removed",
    });
  });

  test("functions, routes and log filter follow the spec while the pods of the store stay", async () => {
    await apply("grown", { replica_count: 3 });
    await refusalOf("grown");
    const before = await get("sts", "grown-odgm");
    const functions = ["f", "g"].map((function_key) => ({
      function_key,
      provision_config: { container_image: "example.test/fn:2" },
    }));
    await apply("grown", { replica_count: 1, log: "debug" }, { functions });
    expect(await refusalOf("grown")).toContain("replica_count");
    const { data } = (await get("cm", "grown-odgm-config"))!;
    expect(data?.["log"]).toBe("debug");
    expect(data?.["collections.json"]).toContain('"g":{');
    expect((await get("sts", "grown-odgm"))?.metadata.generation).toBe(before?.metadata.generation);
  });

  test("Deploy rejects a unit that states another layout, and accepts one that does not", async () => {
    const deploy = (odgmConfig: object, image = "registry.test/place:1"): Promise<unknown> =>
      grpc.deployments.deploy({
        deploymentUnit: {
          id: "sent",
          packageName: "shop",
          classKey: "Order",
          functions: [{ functionKey: "place", provisionConfig: { containerImage: image } }],
          state: {},
          odgmConfig,
        },
      });
    const refusal = async (odgmConfig: object): Promise<string> => {
      const thrown = await deploy(odgmConfig).catch((fault: unknown) => fault);
      return isFault(thrown, "failed-precondition") ? thrown.message : "accepted";
    };
    await deploy({ replicaCount: 3 });
    expect(await refusalOf("sent")).toBeUndefined();
    expect(await refusal({ replicaCount: 1 })).toMatch(/replica_count of .* 3 → 1.*objects would be lost/);
    expect(await refusal({ replicaCount: 3, shardType: "mst" })).toContain("shard_type");
    expect((await get("crt", "sent"))?.metadata.generation).toBe(1);
    await deploy({ replicaCount: 3 }, "registry.test/place:2");
    // An earlier refused change by another client does not block an update that keeps the layout.
    const patch = JSON.stringify({ spec: { odgm_config: { replica_count: 5 } } });
    await fixture.kubectl(["patch", "crt", "sent", "-n", NAMESPACE, "--type=merge", "-p", patch]);
    expect(await refusalOf("sent")).toContain("3 → 5");
    await deploy({ replicaCount: 5 }, "registry.test/place:3");
    await deploy({ replicaCount: 3 }, "registry.test/place:3");
    expect(await refusalOf("sent")).toBeUndefined();
    await deploy({ replicaCount: 1, allowLayoutChange: true });
    expect(await refusalOf("sent")).toBeUndefined();
    expect((await get("sts", "sent-odgm"))?.spec?.replicas).toBe(1);
  });

  test("no pod starts before its layout is stored", async () => {
    await crm.manager.stop();
    const transport = { current: undefined as FaultInjectingTransport | undefined };
    const client = fixture.createClient(
      undefined,
      (inner) => (transport.current = createFaultInjectingTransport(inner)),
    );
    crm = await fixture.startController({ namespaces: [NAMESPACE], identity: "without-config", client });
    transport.current?.injectFault(({ method, target }) => method === "PATCH" && target.startsWith("configmaps/"), {
      do: "respond",
      status: 403,
      reason: "Forbidden",
    });
    await apply("unstored", { replica_count: 3 });
    await fixture.waitForStatus(NAMESPACE, "unstored", "refused", ({ reason }) => reason === "Forbidden");
    expect(await fixture.listOwned(NAMESPACE, "sts,deploy", "unstored")).toEqual([]);
    transport.current?.clearFault();
    await fixture.kubectl(`annotate crt unstored -n ${NAMESPACE} oaas.io/correlation-id=again`);
    expect(await refusalOf("unstored")).toBeUndefined();
    expect((await get("sts", "unstored-odgm"))?.spec?.replicas).toBe(3);
  });

  test("a Deployment of an earlier version runs on alone until a restart is allowed", async () => {
    await apply("legacy", { replica_count: 1 });
    await refusalOf("legacy");
    await crm.manager.stop();
    const set = (await get("sts", "legacy-odgm"))!;
    const { name, labels, ownerReferences } = set.metadata;
    const { replicas, template, selector } = set.spec as { replicas: number; template: object; selector: object };
    const metadata = { name, labels, ownerReferences };
    await fixture.kubectl(`delete sts legacy-odgm -n ${NAMESPACE}`);
    await fixture.apply(NAMESPACE, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas, template, selector },
    });
    crm = await fixture.startController({ namespaces: [NAMESPACE], identity: "later" });
    await fixture.kubectl(`annotate crt legacy -n ${NAMESPACE} touched=1`);
    await apply("legacy", { replica_count: 1, log: "debug" });
    expect(await refusalOf("legacy")).toBeUndefined();
    const { uid } = (await get("deploy", "legacy-odgm"))!.metadata;
    expect(await get("sts", "legacy-odgm")).toBeUndefined();
    await apply("legacy", { replica_count: 1, allow_restart: true });
    await eventually(
      async () => {
        expect(await get("sts", "legacy-odgm")).toBeDefined();
        expect((await get("deploy", "legacy-odgm"))?.metadata.uid).not.toBe(uid);
      },
      { timeoutMs: 60_000, what: "the StatefulSet" },
    );
  });

  test("a second class with the same collection is refused where both stores use one router", async () => {
    const router = { app: "router", platform: "oaas" };
    await fixture.apply(NAMESPACE, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "router", labels: router },
      spec: { ports: [{ name: "zenoh", port: 17_447 }] },
    });
    await apply("first", { replica_count: 1, collections: ["orders"] });
    await refusalOf("first");
    await eventually(async () => expect(crm.facts.read(NAMESPACE).routers).toHaveLength(1), {
      timeoutMs: 60_000,
      what: "the router",
    });
    await apply("second", { replica_count: 1, collections: ["orders"] });
    const { message } = await fixture.waitForStatus(
      NAMESPACE,
      "second",
      "refused",
      ({ phase }) => phase === "degraded",
    );
    expect(message).toMatch(/collection orders belongs to class stores\/first.*set odgm_config.collections/);
    expect(await get("sts", "second-odgm")).toBeUndefined();
    await apply("second", { replica_count: 1, collections: ["others"] });
    expect(await refusalOf("second")).toBeUndefined();
    await apply("first", { replica_count: 1, collections: ["orders"], log: "debug" });
    expect(await refusalOf("first")).toBeUndefined();
  });
});
