import type { ClassRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";

describeOnTarget("the controller on a cluster", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let crm: ClassManager;
  let meter = createRecordingMeter();

  const manage = async (identity: string): Promise<void> => {
    meter = createRecordingMeter();
    crm = await lab.startController({ namespaces: [NAMESPACE], identity, meter });
  };
  const kubectl = (args: readonly string[], stdin?: string): Promise<string> => lab.kubectl(args, stdin);
  const get = <T extends KubeObject>(kind: string, name: string): Promise<T | undefined> =>
    lab.get<T>(NAMESPACE, kind, name);
  const runtime = (name: string): Promise<ClassRuntime["status"]> => lab.status(NAMESPACE, name);
  const apply = (manifest: object): Promise<string> => lab.apply(NAMESPACE, manifest);
  const becomes = (name: string, phase: string): Promise<unknown> => lab.waitForPhase(NAMESPACE, name, phase);
  /** Every object that a pass could write, with its version. */
  const versions = (): Promise<string> =>
    lab.kubectl(
      `get crt,deploy,svc,cm -n ${NAMESPACE} -o jsonpath={range.items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion},{end}`,
    );
  /** Waits until the class has been looked at more often than so, and nothing is in hand. */
  const looked = (before: number): Promise<unknown> =>
    eventually(
      () =>
        passes() > before &&
        (meter.value("kube_controller_active_workers", { controller: "class-runtime" }) ?? 0) === 0 &&
        crm.manager.controllers.every(({ queueLength }) => queueLength === 0),
      { timeoutMs: 60_000, what: "another look" },
    );
  const passes = (): number =>
    meter.observations("crm_reconciliation_duration_seconds", { kind: "class-runtime" }).length;
  const classOf = (name: string, functions: readonly string[], over: object = {}): object => ({
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
    lab = await ControllerFixture.start();
    await lab.kubectl(`create namespace ${NAMESPACE}`);
    await manage("test");
  });
  afterAll(() => lab.close());

  test("a class with two functions and state becomes available, with its children owned and named in status", async () => {
    await apply(classOf("order", ["Order.create", "Order.cancel"], { state_spec: { consistency_model: "strong" } }));
    await becomes("order", "available");
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

  test("nothing is written when nothing changes", async () => {
    await looked(0);
    const [before, passesBefore] = [await versions(), passes()];
    for (const controller of crm.manager.controllers) controller.enqueue({ namespace: NAMESPACE, name: "order" });
    await looked(passesBefore);
    expect(await versions()).toBe(before);
  });

  test("a restart writes nothing", async () => {
    await crm.manager.stop();
    const before = await versions();
    await manage("test-2");
    await looked(0);
    expect(await versions()).toBe(before);
  });

  test("a child that is deleted or edited by hand is repaired", async () => {
    const name = (await runtime("order"))!.functions![0]!.service;
    const uid = (await get<KubeObject>("deploy", name))!.metadata.uid;
    await kubectl(["delete", "deploy", name, "-n", "classes", "--wait=false"]);
    await eventually(async () => ![undefined, uid].includes((await get<KubeObject>("deploy", name))?.metadata.uid), {
      what: "the Deployment to come back",
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
      { what: "the image to be put back" },
    );
    await becomes("order", "available");
  });

  test("a function that is removed is pruned; the others keep their names", async () => {
    const kept = (await runtime("order"))!.functions![1]!.service;
    await apply(classOf("order", ["Order.cancel"], { state_spec: { consistency_model: "strong" } }));
    await eventually(async () => (await runtime("order"))?.functions?.length === 1);
    await becomes("order", "available");
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

  describe("what cannot be", () => {
    test("an unknown template: TemplateMissing with the known ones, then mended", async () => {
      await apply(classOf("odd", ["f"], { selected_template: "no-such-template" }));
      await becomes("odd", "degraded");
      expect(await runtime("odd")).toMatchObject({
        reason: "TemplateMissing",
        message: expect.stringContaining("k8s_deployment") as string,
      });
      await apply(classOf("odd", ["f"], { selected_template: "dev" }));
      await becomes("odd", "available");
    });

    test("a conflict with another manager that applies names it and the field; without it all is well again", async () => {
      const name = (await runtime("odd"))!.functions![0]!.service;
      const theirs = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: "classes" },
        spec: { ports: [{ port: 80, protocol: "TCP", name: "theirs", targetPort: 1 }] },
      };
      await kubectl(
        ["apply", "--server-side", "--force-conflicts", "--field-manager=other-team", "-f", "-"],
        JSON.stringify(theirs),
      );
      await becomes("odd", "degraded");
      const { reason, message } = (await runtime("odd"))!;
      expect(reason).toBe("Conflict");
      expect(message).toContain('"other-team" holds');
      expect(message).toContain("targetPort");
      await kubectl(["delete", "service", name, "-n", "classes"]);
      await becomes("odd", "available");
    });

    test("a class that fits on no node says so, and is mended by asking for less", async () => {
      const greedy = {
        function_key: "f",
        provision_config: { container_image: "example.test/fn:1", cpu_request: "900" },
      };
      await apply(classOf("greedy", [], { functions: [greedy] }));
      await eventually(async () => (await runtime("greedy"))?.reason === "Unschedulable", {
        what: "greedy to be unschedulable",
      });
      await apply(classOf("greedy", ["f"]));
      await becomes("greedy", "available");
      await kubectl(["delete", "crt", "greedy", "-n", "classes", "--wait=true", "--timeout=150s"]);
    });
  });

  test("the DeploymentRecord of the first design becomes available too, in its own words", async () => {
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

  test("a class that is deleted is gone without a trace", async () => {
    await kubectl(["delete", "crt", "order", "odd", "-n", "classes", "--wait=true", "--timeout=150s"]);
    expect(
      await kubectl(["get", "deploy,svc,cm,hpa,pdb", "-n", "classes", "-l", "oaas.io/owner=order", "-o", "name"]),
    ).toBe("");
  });

  test("events tell the story, and which call it began with", async () => {
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
    expect(events).toContain("TemplateMissing call-for-odd\n");
  });

  test("reports the routers of its pods, and that telemetry has no endpoint", async () => {
    await apply({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "router", labels: { app: "router", platform: "oaas" } },
      spec: { ports: [{ name: "zenoh", port: 17_447 }] },
    });
    await apply(classOf("observed", ["f"], { telemetry: { enabled: true } }));
    await eventually(
      async () => {
        const status = await runtime("observed");
        expect(status?.routers).toEqual([{ service: "router", port: 17_447 }]);
        expect(status?.conditions).toContainEqual(
          expect.objectContaining({ type: "TelemetryConfigured", status: "False", reason: "NoEndpoint" }),
        );
      },
      { timeoutMs: 60_000, what: "routers and telemetry in the status" },
    );
  });
});
