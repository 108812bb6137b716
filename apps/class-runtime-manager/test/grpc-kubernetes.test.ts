import type { ClassRuntime } from "@oaas/contracts/crd";
import { ClassRuntimeEventType, DeploymentCondition, DeployOutcome } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { Informer, KubeClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { describeOnTarget, eventually, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLASS_RUNTIMES } from "../src/controller/kinds/resource-types.ts";
import { createKubeClasses } from "../src/classes/kube-store.ts";
import { createKubeClusterReader } from "../src/grpc/cluster/kube-cluster-reader.ts";
import type { NodeFacts } from "../src/availability/capacity.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { node, startGrpcServices, unit, INVALID_REQUESTS, type GrpcFixture } from "./support/grpc-fixture.ts";

describeOnTarget("gRPC services on an API server", { needs: ["kubectl"] }, () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let informer: Informer<ClassRuntime & KubeObject>;
  let crm: GrpcFixture;
  let nodes: NodeFacts[] = [];

  beforeAll(async () => {
    cluster = await startClassCluster({ users: [{ name: "guest", token: "guest-token" }] });
    const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
    client = new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
    const source = client.resource(CLASS_RUNTIMES).source();
    informer = new Informer({ name: "class-runtimes", source, ambient: realAmbient });
    const { directory, store } = createKubeClasses(client, [informer], realAmbient.clock);
    const nothing = (): [] => [];
    const reader = createKubeClusterReader({
      client,
      ambient: realAmbient,
      nodes: () => nodes,
      apiFault: () => informer.fault,
      capabilities: nothing,
      templates: nothing,
      zeroScaleTemplates: nothing,
      environments: nothing,
    });
    crm = await startGrpcServices({
      directory,
      store,
      namespaces: { served: "all", fallback: "default" },
      cluster: reader,
    });
    informer.start();
    await informer.synced();
  });

  afterAll(async () => {
    await crm?.close();
    await informer?.stop();
    await client?.close();
    await cluster?.close();
  });

  async function kubectl(args: string[], stdin?: object): Promise<string> {
    const options = stdin === undefined ? {} : { stdin: JSON.stringify(stdin) };
    const { stdout, stderr, exitCode } = await cluster.kubectl(args, options);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  async function namespace(name: string): Promise<string> {
    await kubectl(["create", "namespace", name]);
    return name;
  }

  async function get(where: string, name: string): Promise<ClassRuntime & KubeObject> {
    return JSON.parse(await kubectl(["get", "crt", name, "-n", where, "-o", "json", "--show-managed-fields"])) as never;
  }

  const versionOf = async (where: string, name: string) => (await get(where, name)).metadata.resourceVersion;

  async function faultOf(call: Promise<unknown>): Promise<Fault> {
    return call.then(
      () => Promise.reject(new Error("the call succeeded")),
      (thrown: unknown) => Fault.from(thrown),
    );
  }

  const two = {
    functions: [
      { functionKey: "place", provisionConfig: { containerImage: "registry.test/place:1" } },
      { functionKey: "cancel", provisionConfig: { containerImage: "registry.test/cancel:1" } },
    ],
  };

  describe("Deploy", () => {
    test("creates the object, writes nothing when unchanged, and updates it", async () => {
      const where = await namespace("upsert");
      const { deploy, getDeploymentStatus } = crm.deployments;
      const call = { headers: { "x-correlation-id": "c-42" } };
      const first = await deploy({ deploymentUnit: unit("order-1", two), namespace: where }, call);
      expect(first.outcome).toBe(DeployOutcome.CREATED);
      const created = await get(where, "order-1");
      expect(created.metadata).toMatchObject({
        labels: { "oaas.io/deployment-id": "order-1" },
        annotations: { "oaas.io/correlation-id": "c-42", "oaas.io/profile": "dev" },
        managedFields: [{ manager: "oprc-crm-grpc", operation: "Apply" }],
      });
      expect(created.spec).toMatchObject({ package_class_key: "shop.Order", functions: [{}, {}] });

      const again = await deploy({ deploymentUnit: unit("order-1", two), namespace: where });
      expect(again.outcome).toBe(DeployOutcome.UNCHANGED);
      expect(await versionOf(where, "order-1")).toBe(created.metadata.resourceVersion);

      const less = await deploy({ deploymentUnit: unit("order-1"), namespace: where });
      expect(less.outcome).toBe(DeployOutcome.UPDATED);
      const status = await getDeploymentStatus({ deploymentId: "order-1", namespace: where });
      expect(status.deployment?.functions.map(({ functionKey }) => functionKey)).toEqual(["place"]);
      expect(status.classRuntime?.status?.condition).toBe(DeploymentCondition.PENDING);
      expect((await get(where, "order-1")).spec.functions).toHaveLength(1);
    });

    test("restores a spec that was edited, and then writes nothing", async () => {
      const where = await namespace("drifted");
      const send = () => crm.deployments.deploy({ deploymentUnit: unit("order-1"), namespace: where });
      await send();
      const patch = {
        spec: { addons: ["odgm"], functions: [{ function_key: "mine", provision_config: { container_image: "x:1" } }] },
      };
      await kubectl(["patch", "crt", "order-1", "-n", where, "--type=merge", "-p", JSON.stringify(patch)]);
      expect((await send()).outcome).toBe(DeployOutcome.UPDATED);
      const { spec, metadata } = await get(where, "order-1");
      expect(spec.functions?.map(({ function_key: key }) => key)).toEqual(["place"]);
      expect(spec.addons).toBeUndefined();
      expect((await send()).outcome).toBe(DeployOutcome.UNCHANGED);
      expect(await versionOf(where, "order-1")).toBe(metadata.resourceVersion);
    });

    test("updates an object of an earlier release and keeps its name", async () => {
      const where = await namespace("takeover");
      await kubectl(["create", "-f", "-"], {
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "my-app", namespace: where, labels: { "oaas.io/deployment-id": "my-app" } },
        spec: {
          package_class_key: "shop.Order",
          functions: [{ function_key: "old", provision_config: { container_image: "registry.test/old:1" } }],
          odgm_config: { collections: ["old"], partition_count: 3 },
        },
      });
      const { outcome } = await crm.deployments.deploy({ deploymentUnit: unit("My.App"), namespace: where });
      expect(outcome).toBe(DeployOutcome.UPDATED);
      const { spec } = await get(where, "my-app");
      expect([spec.functions?.length, spec.odgm_config]).toEqual([1, undefined]);
      expect(await kubectl(["get", "crt", "-n", where, "-o", "name"])).toBe("classruntime.oaas.io/my-app\n");
    });

    test("rejects a name of another deployment without a write", async () => {
      const where = await namespace("foreign");
      await kubectl(["create", "-f", "-"], {
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "order-1", namespace: where },
        spec: { package_class_key: "other.Thing", state_spec: {} },
      });
      const before = await versionOf(where, "order-1");
      const fault = await faultOf(crm.deployments.deploy({ deploymentUnit: unit("order-1"), namespace: where }));
      expect(fault.kind).toBe("already-exists");
      expect(await versionOf(where, "order-1")).toBe(before);
    });

    test("similar ids are separate objects, and a retry changes nothing", async () => {
      const where = await namespace("ids");
      const ids = ["My.App", "my-app", "my.app", "a".repeat(63)];
      for (const round of [DeployOutcome.CREATED, DeployOutcome.UNCHANGED]) {
        for (const id of ids) {
          const { outcome } = await crm.deployments.deploy({ deploymentUnit: unit(id), namespace: where });
          expect([id, outcome]).toEqual([id, round]);
        }
      }
      expect((await kubectl(["get", "crt", "-n", where, "-o", "name"])).trim().split("\n")).toHaveLength(4);
    });

    test("writes nothing for invalid requests", async () => {
      const where = await namespace("wrong");
      for (const { case: name, request, paths } of INVALID_REQUESTS) {
        const fault = await faultOf(crm.deployments.deploy({ namespace: where, ...request }));
        expect([name, fault.kind]).toEqual([name, "invalid-argument"]);
        expect(fault.violations.map((one) => one.path)).toEqual(expect.arrayContaining([...paths]));
      }
      expect(await kubectl(["get", "crt", "-n", where, "-o", "name"])).toBe("");
    });

    test("rejects a namespace that does not exist", async () => {
      const fault = await faultOf(crm.deployments.deploy({ deploymentUnit: unit("x"), namespace: "nowhere" }));
      expect([fault.kind, fault.message]).toEqual(["failed-precondition", expect.stringContaining("nowhere")]);
    });

    test("creates the classes of 64 concurrent callers", async () => {
      const where = await namespace("many");
      const ids = Array.from({ length: 64 }, (_, index) => `order-${index}`);
      const replies = await Promise.all(
        ids.map((id) => crm.deployments.deploy({ deploymentUnit: unit(id), namespace: where })),
      );
      expect(replies.every(({ outcome }) => outcome === DeployOutcome.CREATED)).toBe(true);
      const { items } = await crm.deployments.listClassRuntimes({ namespace: where });
      expect(items).toHaveLength(64);
    });
  });

  test("DeleteDeployment waits for finalizers, and the id can be deployed again afterwards", async () => {
    const where = await namespace("deleted");
    const address = { deploymentId: "order-1", namespace: where };
    const send = () => crm.deployments.deploy({ deploymentUnit: unit("order-1"), namespace: where });
    await send();
    const setFinalizers = (finalizers: string[]) =>
      kubectl([
        "patch",
        "crt",
        "order-1",
        "-n",
        where,
        "--type=merge",
        "-p",
        JSON.stringify({ metadata: { finalizers } }),
      ]);
    await setFinalizers(["oaas.io/test"]);
    await crm.deployments.deleteDeployment(address);
    const fault = await faultOf(send());
    expect([fault.kind, fault.retryable]).toEqual(["unavailable", true]);
    expect((await crm.deployments.deleteDeployment(address)).message).toBe("deletion in progress");
    await eventually(async () => {
      const { deployment } = await crm.deployments.getClassRuntime(address);
      expect(deployment?.status?.condition).toBe(DeploymentCondition.DELETED);
    });
    await setFinalizers([]);
    await eventually(async () => {
      expect((await faultOf(crm.deployments.getDeploymentStatus(address))).kind).toBe("not-found");
    });
    expect((await faultOf(crm.deployments.deleteDeployment(address))).kind).toBe("not-found");
    expect((await send()).outcome).toBe(DeployOutcome.CREATED);
  });

  test("lists, pages and watches objects created by kubectl", async () => {
    const where = await namespace("listed");
    for (const id of ["a", "c"]) await crm.deployments.deploy({ deploymentUnit: unit(id), namespace: where });
    const { resumeToken } = await crm.deployments.listClassRuntimes({ namespace: where });
    const abort = new AbortController();
    const request = { namespace: where, deploymentId: "b", resumeToken };
    const events = crm.deployments.watchClassRuntimes(request, { signal: abort.signal })[Symbol.asyncIterator]();
    await kubectl(["apply", "-f", "-"], {
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "b", namespace: where },
      spec: { package_class_key: "bank.Account", state_spec: {} },
    });
    const { value } = await events.next();
    expect([value?.type, value?.classRuntime?.id]).toEqual([ClassRuntimeEventType.ADDED, "b"]);
    abort.abort();
    const first = await crm.deployments.listClassRuntimes({ namespace: where, limit: 2 });
    const rest = await crm.deployments.listClassRuntimes({
      namespace: where,
      limit: 2,
      pageToken: first.nextPageToken,
    });
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(["a", "b", "c"]);
    const { items } = await crm.deployments.listClassRuntimes({ namespace: where, packageName: "bank" });
    expect(items.map(({ id, classKey }) => [id, classKey])).toEqual([["b", "bank.Account"]]);
  });

  test("returns the health of the cluster", async () => {
    const health = await crm.info.getEnvHealth({});
    expect(health.kubernetesVersion).toMatch(/^v1\.\d+/);
    expect([health.status, health.nodeCount, health.availability]).toEqual(["Unhealthy", 0, undefined]);
    expect(health.capacity).toMatchObject({ allocatablePods: 0, runningPods: 0 });
  });

  test("reports an unresponsive etcd before any watch fails, and its recovery", async () => {
    nodes = [node("True")];
    const waitForHealth = (expected: string): Promise<unknown> =>
      eventually(async () => (await crm.info.getEnvHealth({}, { deadlineMs: 20_000 })).status === expected, {
        timeoutMs: 60_000,
        what: expected,
      });
    await waitForHealth("Healthy");
    cluster.etcd.freeze();
    try {
      await waitForHealth("Unhealthy");
      expect(informer.fault).toBeUndefined();
    } finally {
      cluster.etcd.thaw();
    }
    await waitForHealth("Healthy");
    nodes = [];
  });

  test("reports the missing permission of the manager's account", async () => {
    const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
    const credentials = { type: "token", token: "guest-token" } as const;
    const transport = createUndiciTransport({ ...access, credentials }, realAmbient);
    const unprivileged = new KubeClient({ transport, ambient: realAmbient });
    const { directory, store } = createKubeClasses(unprivileged, [informer], realAmbient.clock);
    const serving = await startGrpcServices({ directory, store, namespaces: { served: "all", fallback: "default" } });
    const fault = await faultOf(serving.deployments.deploy({ deploymentUnit: unit("x") }));
    expect([fault.kind, fault.message]).toEqual([
      "failed-precondition",
      expect.stringMatching(/service account.*guest/),
    ]);
    await serving.close();
    await unprivileged.close();
  });

  test("serves reads and fails writes in time when the API server is down", async () => {
    await crm.deployments.deploy({ deploymentUnit: unit("last") });
    await eventually(() => expect([...informer.cache.list("default")].length).toBeGreaterThan(0));
    await cluster.close();
    const fault = await faultOf(crm.deployments.deploy({ deploymentUnit: unit("more") }, { deadlineMs: 2_000 }));
    expect(["unavailable", "deadline-exceeded"]).toContain(fault.kind);
    expect((await crm.deployments.getClassRuntime({ deploymentId: "last" })).deployment?.id).toBe("last");
    await eventually(() => expect(informer.fault).toBeDefined());
  });
});
