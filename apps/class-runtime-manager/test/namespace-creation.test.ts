import { loadConfig } from "@oaas/config";
import { DeploymentService, DeployOutcome, ObjectChange, type RenderUnitResponse } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { NOOP_CONTEXT, NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { RpcChannel } from "@oaas/rpc";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp, type RunningApp } from "../src/app.ts";
import { crmConfig } from "../src/config.ts";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { unit } from "./support/grpc-fixture.ts";

const LIMITED = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "EnvironmentConfig",
  metadata: { name: "limited" },
  spec: {
    kind: "cloud",
    default: true,
    quotas: { max_classes: 5, cpu: "4", memory: "4Gi" },
    network_policy: { enabled: true },
  },
};

describeOnTarget("creation of namespaces", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let running: { readonly app: RunningApp; readonly channel: RpcChannel } | undefined;

  const stop = async (): Promise<void> => {
    running?.channel.close();
    await running?.app.close();
    running = undefined;
  };
  /** Starts a manager in place of the running one: two managers with different settings revert each other's changes. */
  const start = async (settings: Record<string, string>) => {
    await stop();
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    const config = loadConfig(crmConfig, {
      env: {
        HTTP_PORT: "0",
        GRPC_PORT: "0",
        OPRC_CRM_HTTP_HOST: "127.0.0.1",
        OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
        ...settings,
      },
    });
    const app = await startApp(config, {
      ambient: realAmbient,
      transport: createUndiciTransport(access, realAmbient),
      ownNamespace: "oaas-system",
      podNamespace: "oaas-system",
      identity: "test",
      logger: NOOP_LOGGER,
      meter: createRecordingMeter(),
      metricsText: async () => "",
      context: NOOP_CONTEXT,
      reread: () => config,
    });
    const channel = new RpcChannel({ name: "crm", address: `127.0.0.1:${app.port}`, clock: realAmbient.clock });
    running = { app, channel };
    await app.ready;
    return channel.client(DeploymentService);
  };
  const faultOf = (call: Promise<unknown>): Promise<Fault> =>
    call.then(
      () => Promise.reject(new Error("the call succeeded")),
      (thrown: unknown) => Fault.from(thrown),
    );
  /** The announced changes of objects that belong to no class. */
  const ofNamespace = ({ objects }: RenderUnitResponse) =>
    objects
      .filter(({ kind }) => ["Namespace", "ResourceQuota", "LimitRange"].includes(kind) || kind === "NetworkPolicy")
      .filter(({ name }) => !name.startsWith("order"))
      .map(({ change, kind, name, namespace }) => [change, kind, name, namespace]);
  const limitsIn = async (namespace: string): Promise<readonly string[]> => {
    const text = await fixture.kubectl(
      `get resourcequota,limitrange,networkpolicy -n ${namespace} -l app.kubernetes.io/managed-by=oprc-crm,!oaas.io/owner -o name`,
    );
    return text.split("\n").filter((line) => line !== "");
  };

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl("create namespace classes");
    await fixture.apply("classes", LIMITED);
  });
  afterAll(async () => {
    await stop();
    await fixture?.close();
  });

  test("is refused with the fix unless the setting allows it", async () => {
    const { deploy, renderUnit } = await start({ OPRC_CRM_K8S_NAMESPACE: "*,classes" });
    const request = { deploymentUnit: unit("order"), namespace: "not-there" };
    const fault = await faultOf(deploy(request));
    expect(fault.kind).toBe("failed-precondition");
    expect(fault.message).toContain("OPRC_CRM_FEATURES_CREATE_NAMESPACES");
    expect((await faultOf(renderUnit(request))).message).toBe(fault.message);
    expect(await fixture.get("", "namespace", "not-there")).toBeUndefined();
  });

  test("creates a restricted namespace with the limits of the default namespace's environment", async () => {
    const crm = await start({
      OPRC_CRM_K8S_NAMESPACE: "*,classes",
      OPRC_CRM_FEATURES_CREATE_NAMESPACES: "true",
    });
    for (const namespace of ["team-a", "team-b"]) {
      const request = { deploymentUnit: unit("order"), namespace };
      expect(ofNamespace(await crm.renderUnit(request))).toEqual([
        [ObjectChange.CREATE, "Namespace", namespace, ""],
        [ObjectChange.CREATE, "ResourceQuota", "oaas-environment", namespace],
        [ObjectChange.CREATE, "LimitRange", "oaas-environment", namespace],
        [ObjectChange.CREATE, "NetworkPolicy", "oaas-default-deny", namespace],
      ]);
      expect(await fixture.get("", "namespace", namespace)).toBeUndefined();
      const { outcome } = await crm.deploy({ deploymentUnit: unit("order"), namespace });
      expect(outcome).toBe(DeployOutcome.CREATED);
      await fixture.waitForPhase(namespace, "order", "available");
    }
    expect((await fixture.get("", "namespace", "team-a"))?.metadata.labels).toMatchObject({
      "app.kubernetes.io/managed-by": "oprc-crm",
      "pod-security.kubernetes.io/enforce": "restricted",
    });
    expect(await limitsIn("team-a")).toEqual([
      "resourcequota/oaas-environment",
      "limitrange/oaas-environment",
      "networkpolicy.networking.k8s.io/oaas-default-deny",
    ]);
    const quota = (await fixture.get("team-a", "resourcequota", "oaas-environment")) as { spec?: object } | undefined;
    expect(quota?.spec).toEqual({
      hard: { "requests.cpu": "4", "requests.memory": "4Gi" },
    });

    // The same name in two namespaces: each call reaches its own unit.
    const named = unit("order", { packageName: "bank" });
    await crm.deploy({ deploymentUnit: named, namespace: "team-b" });
    const packageIn = async (namespace: string) =>
      (await crm.getDeploymentStatus({ deploymentId: "order", namespace })).deployment?.packageName;
    expect([await packageIn("team-a"), await packageIn("team-b")]).toEqual(["shop", "bank"]);
    expect((await faultOf(crm.getDeploymentStatus({ deploymentId: "order" }))).message).toContain("team-a, team-b");
    await crm.deleteDeployment({ deploymentId: "order", namespace: "team-a" });
    await eventually(async () => (await fixture.get("team-a", "crt", "order")) === undefined);
    await fixture.waitForPhase("team-b", "order", "available");
    expect(await limitsIn("team-a")).toHaveLength(3);

    // Limits follow the environment of a changed class.
    const { quotas: _, ...spec } = LIMITED.spec;
    await fixture.apply("classes", { ...LIMITED, metadata: { name: "open" }, spec: { ...spec, default: false } });
    const moved = {
      deploymentUnit: unit("order", { packageName: "museum", environment: "open" }),
      namespace: "team-b",
    };
    await eventually(async () =>
      expect(ofNamespace(await crm.renderUnit(moved))).toEqual([
        [ObjectChange.DELETE, "ResourceQuota", "oaas-environment", "team-b"],
        [ObjectChange.DELETE, "LimitRange", "oaas-environment", "team-b"],
      ]),
    );
    await crm.deploy(moved);
    expect(await limitsIn("team-b")).toEqual(["networkpolicy.networking.k8s.io/oaas-default-deny"]);
    expect(ofNamespace(await crm.renderUnit(moved))).toEqual([]);

    // They follow a changed environment without a deployment.
    await fixture.apply("classes", {
      ...LIMITED,
      metadata: { name: "open" },
      spec: { ...LIMITED.spec, default: false },
    });
    await eventually(async () => expect(await limitsIn("team-b")).toHaveLength(3));
    // Nothing applies limits to a namespace without classes.
    expect(await limitsIn("team-a")).toHaveLength(3);

    // A unit without a namespace is rendered and updated where it is.
    await crm.deploy({ deploymentUnit: unit("alone"), namespace: "team-b" });
    const alone = await crm.renderUnit({ deploymentUnit: unit("alone") });
    expect([alone.namespace, alone.objects[0]?.change]).toEqual(["team-b", ObjectChange.UNCHANGED]);
  });

  test("does not change a namespace that another client created", async () => {
    await fixture.kubectl("create namespace foreign");
    await running?.channel.client(DeploymentService).deploy({ deploymentUnit: unit("order"), namespace: "foreign" });
    const labels = (await fixture.get("", "namespace", "foreign"))?.metadata.labels ?? {};
    expect(Object.keys(labels)).toEqual(["kubernetes.io/metadata.name"]);
    expect(await limitsIn("foreign")).toEqual([]);
  });

  test.each([
    { case: "a system namespace", namespace: "kube-system" },
    { case: "a new system namespace", namespace: "kube-mine" },
    { case: "the namespace of the manager", namespace: "oaas-system" },
    { case: "64 characters", namespace: "a".repeat(64) },
    { case: "an invalid name", namespace: "Team_A" },
    { case: "a path", namespace: "../kube-system" },
  ])("rejects $case and creates nothing", async ({ namespace }) => {
    const before = await fixture.kubectl("get namespaces -o name");
    const fault = await faultOf(
      running?.channel.client(DeploymentService).deploy({ deploymentUnit: unit("miner"), namespace }) ??
        Promise.resolve(),
    );
    expect(fault).toMatchObject({ kind: "invalid-argument", violations: [{ path: "$.namespace" }] });
    expect(await fixture.kubectl("get namespaces -o name")).toBe(before);
  });

  test.each([
    { served: "*", id: "unplaced" },
    { served: "oaas-system,default", id: "unplaced-in-list" },
  ])("never uses the manager's own namespace for a request without one, serving $served", async ({ served, id }) => {
    const { deploy } = await start({ OPRC_CRM_K8S_NAMESPACE: served, OPRC_CRM_FEATURES_CREATE_NAMESPACES: "true" });
    await deploy({ deploymentUnit: unit(id) });
    expect(await fixture.get("default", "crt", id)).toBeDefined();
    expect(await fixture.get("", "namespace", "oaas-system")).toBeUndefined();
  });
});
