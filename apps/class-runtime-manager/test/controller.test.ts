import type { ClassRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const ROUTER_NAMESPACE = "data-plane";

describeOnTarget("controllers on a cluster", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let meter = createRecordingMeter();

  const startManager = async (identity: string): Promise<void> => {
    meter = createRecordingMeter();
    crm = await fixture.startController({
      namespaces: [NAMESPACE],
      routerNamespace: ROUTER_NAMESPACE,
      identity,
      meter,
    });
  };
  const kubectl = (args: readonly string[], stdin?: string): Promise<string> => fixture.kubectl(args, stdin);
  const get = <T extends KubeObject>(kind: string, name: string): Promise<T | undefined> =>
    fixture.get<T>(NAMESPACE, kind, name);
  const runtime = (name: string): Promise<ClassRuntime["status"]> => fixture.status(NAMESPACE, name);
  const apply = (manifest: object): Promise<string> => fixture.apply(NAMESPACE, manifest);
  const waitForPhase = (name: string, phase: string): Promise<unknown> => fixture.waitForPhase(NAMESPACE, name, phase);
  /** Resource versions of all objects that a pass may write. */
  const versions = (): Promise<string> =>
    fixture.kubectl(
      `get crt,deploy,svc,cm -n ${NAMESPACE} -o jsonpath={range.items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion},{end}`,
    );
  /** Waits for more than `before` passes, and until the controllers are idle. */
  const waitForPass = (before: number): Promise<unknown> =>
    eventually(
      () =>
        passes() > before &&
        (meter.value("kube_controller_active_workers", { controller: "class-runtime" }) ?? 0) === 0 &&
        crm.manager.controllers.every(({ queueLength }) => queueLength === 0),
      { timeoutMs: 60_000, what: "another pass" },
    );
  const passes = (): number =>
    meter.observations("crm_reconciliation_duration_seconds", { kind: "class-runtime" }).length;
  const classRuntime = (name: string, functions: readonly string[], over: object = {}): object => ({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, annotations: { "oaas.io/correlation-id": `call-for-${name}` } },
    spec: {
      package_class_key: "shop.Order",
      functions: functions.map((key) => ({
        function_key: key,
        provision_config: { container_image: "example.test/fn:1" },
      })),
      ...over,
    },
  });

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    for (const namespace of [NAMESPACE, ROUTER_NAMESPACE]) await fixture.kubectl(`create namespace ${namespace}`);
    await startManager("test");
  });
  afterAll(() => fixture.close());

  test("a class with functions and state becomes available, and its status lists the owned children", async () => {
    await apply(
      classRuntime("order", ["Order.create", "Order.cancel"], { state_spec: { consistency_model: "strong" } }),
    );
    await waitForPhase("order", "available");
    const status = (await runtime("order"))!;
    expect(status.functions?.map(({ function_key, ready }) => [function_key, ready])).toEqual([
      ["Order.create", true],
      ["Order.cancel", true],
    ]);
    expect(status.odgm_cluster_status?.ready).toBe(true);
    expect(status.conditions?.find(({ type }) => type === "Available")).toMatchObject({ status: "True" });
    expect(status.resource_refs?.every(({ uid }) => uid)).toBe(true);
    const owned = JSON.parse(
      await kubectl(["get", "deploy,svc,cm", "-n", "classes", "-l", "oaas.io/owner=order", "-o", "json"]),
    ) as { items: KubeObject[] };
    expect(owned.items.length).toBeGreaterThanOrEqual(5);
    for (const child of owned.items)
      expect(child.metadata.ownerReferences).toMatchObject([{ kind: "ClassRuntime", name: "order", controller: true }]);
  });

  test("writes nothing when nothing changed", async () => {
    await waitForPass(0);
    const [before, passesBefore] = [await versions(), passes()];
    for (const controller of crm.manager.controllers) controller.enqueue({ namespace: NAMESPACE, name: "order" });
    await waitForPass(passesBefore);
    expect(await versions()).toBe(before);
  });

  test("writes nothing after a restart", async () => {
    await crm.manager.stop();
    const before = await versions();
    await startManager("test-2");
    await waitForPass(0);
    expect(await versions()).toBe(before);
  });

  test("repairs a child that was deleted or edited", async () => {
    const name = (await runtime("order"))!.functions![0]!.service;
    const uid = (await get<KubeObject>("deploy", name))!.metadata.uid;
    await kubectl(["delete", "deploy", name, "-n", "classes", "--wait=false"]);
    await eventually(async () => ![undefined, uid].includes((await get<KubeObject>("deploy", name))?.metadata.uid), {
      what: "the Deployment to be recreated",
    });
    await kubectl([
      "patch",
      "deploy",
      name,
      "-n",
      "classes",
      "-p",
      '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}',
    ]);
    await kubectl(["set", "image", `deploy/${name}`, "*=example.test/hacked:1", "-n", "classes"]);
    await eventually(
      async () =>
        (await kubectl([
          "get",
          "deploy",
          name,
          "-n",
          "classes",
          "-o",
          "jsonpath={.spec.template.spec.containers[0].image}",
        ])) === "example.test/fn:1",
      { what: "the image to be restored" },
    );
    await waitForPhase("order", "available");
  });

  test("prunes a removed function and keeps the names of the others", async () => {
    const kept = (await runtime("order"))!.functions![1]!.service;
    await apply(classRuntime("order", ["Order.cancel"], { state_spec: { consistency_model: "strong" } }));
    await eventually(async () => (await runtime("order"))?.functions?.length === 1);
    await waitForPhase("order", "available");
    expect((await runtime("order"))!.functions![0]!.service).toBe(kept);
    const deployments = (
      await kubectl([
        "get",
        "deploy",
        "-n",
        "classes",
        "-l",
        "oaas.io/owner=order,oaas.io/component=function",
        "-o",
        "name",
      ])
    )
      .trim()
      .split("\n");
    expect(deployments).toEqual([`deployment.apps/${kept}`]);
  });

  test("keeps the layout of stored objects when a requirement changes, and does not restart the state store", async () => {
    const stored = (over: object): object =>
      classRuntime("stock", ["Stock.count"], { package_class_key: "shop.Stock", state_spec: {}, ...over });
    const config = (): Promise<string> =>
      kubectl([
        "get",
        "deploy,sts,cm",
        "-n",
        NAMESPACE,
        "-l",
        "oaas.io/owner=stock,oaas.io/component=odgm",
        "-o",
        "jsonpath={.items[*].spec.template}{.items[*].data}",
      ]);
    await apply(stored({}));
    await waitForPhase("stock", "available");
    const before = await config();
    expect(before).not.toBe("");
    const done = passes();
    await apply(stored({ nfr_requirements: { min_throughput_rps: 5, max_latency_ms: 10 } }));
    await waitForPass(done);
    await waitForPhase("stock", "available");
    expect((await runtime("stock"))?.odgm_cluster_status?.collections_status).toMatchObject([{ partition_count: 4 }]);
    expect(await config()).toBe(before);
    await kubectl(["delete", "crt", "stock", "-n", NAMESPACE]);
  });

  describe("problems", () => {
    test("reports TemplateMissing for an unknown template, and recovers after a fix", async () => {
      await apply(classRuntime("misconfigured", ["f"], { selected_template: "no-such-template" }));
      await waitForPhase("misconfigured", "degraded");
      expect(await runtime("misconfigured")).toMatchObject({
        reason: "TemplateMissing",
        message: expect.stringContaining("k8s_deployment") as string,
      });
      await apply(classRuntime("misconfigured", ["f"], { selected_template: "dev" }));
      await waitForPhase("misconfigured", "available");
    });

    test("reports a conflict with the other field manager and the field, and recovers without it", async () => {
      const name = (await runtime("misconfigured"))!.functions![0]!.service;
      const applied = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: "classes" },
        spec: { ports: [{ port: 80, protocol: "TCP", name: "theirs", targetPort: 1 }] },
      };
      await kubectl(
        ["apply", "--server-side", "--force-conflicts", "--field-manager=other-team", "-f", "-"],
        JSON.stringify(applied),
      );
      await waitForPhase("misconfigured", "degraded");
      const { reason, message } = (await runtime("misconfigured"))!;
      expect(reason).toBe("Conflict");
      expect(message).toContain('"other-team" holds');
      expect(message).toContain("targetPort");
      await kubectl(["delete", "service", name, "-n", "classes"]);
      await waitForPhase("misconfigured", "available");
    });

    test("reports Unschedulable, and recovers with a smaller request", async () => {
      const greedy = {
        function_key: "f",
        provision_config: { container_image: "example.test/fn:1", cpu_request: "900" },
      };
      await apply(classRuntime("greedy", [], { functions: [greedy] }));
      await eventually(async () => (await runtime("greedy"))?.reason === "Unschedulable", {
        what: "greedy to be unschedulable",
      });
      await apply(classRuntime("greedy", ["f"]));
      await waitForPhase("greedy", "available");
      await kubectl(["delete", "crt", "greedy", "-n", "classes", "--wait=true", "--timeout=150s"]);
    });
  });

  test("a DeploymentRecord becomes available", async () => {
    await apply({
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentRecord",
      metadata: { name: "hello-class" },
      spec: {
        selected_template: "dev",
        addons: ["odgm"],
        function: { image: "example.test/hello:latest", port: 8080 },
        odgm_config: { collections: ["orders", "users"] },
      },
    });
    await eventually(
      async () => {
        const record = await get<KubeObject & { status?: { phase?: string; message?: string } }>(
          "deploymentrecord",
          "hello-class",
        );
        if (record?.status?.phase !== "available")
          throw new Error(`${record?.status?.phase}: ${record?.status?.message}`);
      },
      { timeoutMs: 60_000 },
    );
  });

  test("deletes a class with all its children", async () => {
    await kubectl(["delete", "crt", "order", "misconfigured", "-n", "classes", "--wait=true", "--timeout=150s"]);
    expect(
      await kubectl(["get", "deploy,svc,cm,hpa,pdb", "-n", "classes", "-l", "oaas.io/owner=order", "-o", "name"]),
    ).toBe("");
  });

  test("records events with the correlation id of the call", async () => {
    const events = await kubectl([
      "get",
      "events.events.k8s.io",
      "-n",
      "classes",
      "-o",
      "jsonpath={range .items[*]}{.reason} {.metadata.annotations.oaas\\.io/correlation-id}{'\\n'}{end}",
    ]);
    for (const reason of ["TemplateSelected", "Available", "FunctionReady"])
      expect(events).toContain(`${reason} call-for-order\n`);
    expect(events).toContain("TemplateMissing call-for-misconfigured\n");
  });

  test("reports the routers of its pods, also those of the router namespace, and that telemetry has no endpoint", async () => {
    const router = (name: string, labels: object): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, labels },
      spec: { ports: [{ name: "zenoh", port: 17_447 }] },
    });
    const labels = { app: "router", platform: "oaas" };
    await apply(router("router", labels));
    await apply(classRuntime("observed", ["f"], { telemetry: { enabled: true } }));
    const own = { service: "router", port: 17_447 };
    const reports = (routers: readonly object[]): Promise<unknown> =>
      eventually(async () => expect((await runtime("observed"))?.routers).toEqual(routers), {
        timeoutMs: 60_000,
        what: "routers in the status",
      });
    await reports([own]);
    await fixture.apply(ROUTER_NAMESPACE, router("shared", labels), router("shared-pods", { app: "router" }));
    await reports([own, { service: `shared.${ROUTER_NAMESPACE}.svc.cluster.local`, port: 17_447 }]);
    await fixture.kubectl(`delete service shared -n ${ROUTER_NAMESPACE}`);
    await reports([own]);
    await eventually(
      async () => {
        const status = await runtime("observed");
        expect(status?.conditions).toContainEqual(
          expect.objectContaining({ type: "TelemetryConfigured", status: "False", reason: "NoEndpoint" }),
        );
      },
      { timeoutMs: 60_000, what: "telemetry in the status" },
    );
  });
});
