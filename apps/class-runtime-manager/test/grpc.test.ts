import {
  ClassRuntimeEventType,
  DeploymentCondition,
  DeployOutcome,
  grpcHealth,
  grpcReflection,
  HealthService,
  CrmInfoService,
  DeploymentService,
  type WatchClassRuntimesResponse,
} from "@oaas/contracts/grpc";
import { conflict, err, failedPrecondition, Fault, sleep } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createRecordingLogger } from "@oaas/observability/testing";
import { afterEach, describe, expect, test } from "vitest";
import { CLUSTER, node, startGrpcServices, unit, INVALID_REQUESTS, type GrpcFixture } from "./support/grpc-fixture.ts";

let fixture: GrpcFixture | undefined;

async function start(...options: Parameters<typeof startGrpcServices>): Promise<GrpcFixture> {
  fixture = await startGrpcServices(...options);
  return fixture;
}

afterEach(async () => {
  await fixture?.close();
  fixture = undefined;
});

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Fault)) throw new Error(`no fault: ${String(thrown)}`);
  return thrown;
}

describe("Deploy", () => {
  test("creates, leaves unchanged, updates", async () => {
    const { deployments, classes } = await start();
    const call = { headers: { "x-correlation-id": "c-7" } };
    const created = await deployments.deploy({ deploymentUnit: unit("order-1") }, call);
    expect(created).toMatchObject({ deploymentId: "order-1", accepted: true, outcome: DeployOutcome.CREATED });
    expect(created.classRuntime).toMatchObject({ id: "order-1", namespace: "shop", correlationId: "c-7" });
    const again = await deployments.deploy({ deploymentUnit: unit("order-1") });
    expect(again.outcome).toBe(DeployOutcome.UNCHANGED);
    const changed = await deployments.deploy({ deploymentUnit: unit("order-1", { targetEnv: "edge-1" }) });
    expect(changed.outcome).toBe(DeployOutcome.UPDATED);
    expect(classes.writes).toEqual(["create shop/order-1", "update shop/order-1"]);
  });

  test.each(["My.App", "UPPER_case", "a".repeat(63)])("accepts the id %s and its retry", async (id) => {
    const { deployments, classes } = await start();
    await deployments.deploy({ deploymentUnit: unit(id) });
    expect((await deployments.deploy({ deploymentUnit: unit(id) })).outcome).toBe(DeployOutcome.UNCHANGED);
    expect((await deployments.getDeploymentStatus({ deploymentId: id })).deployment?.id).toBe(id);
    expect(classes.writes).toHaveLength(1);
  });

  test.each(INVALID_REQUESTS)("rejects $case and writes nothing", async ({ request, paths }) => {
    const { deployments, classes } = await start();
    const fault = await faultOf(deployments.deploy(request));
    expect(fault.kind).toBe("invalid-argument");
    expect(fault.violations.map(({ path }) => path)).toEqual(expect.arrayContaining([...paths]));
    expect(classes.writes).toEqual([]);
  });

  test("rejects a name that belongs to another id", async () => {
    const { deployments, classes } = await start();
    classes.put({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "order-1", namespace: "shop" },
      spec: { package_class_key: "other.Thing", state_spec: {} },
    });
    expect((await faultOf(deployments.deploy({ deploymentUnit: unit("order-1") }))).kind).toBe("already-exists");
    expect(classes.writes).toEqual([]);
  });

  test("updates an object of an earlier release under its name", async () => {
    const { deployments, classes } = await start();
    classes.put({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "my-app", namespace: "shop", labels: { "oaas.io/deployment-id": "my-app" } },
      spec: { package_class_key: "shop.Order", state_spec: {} },
    });
    expect((await deployments.deploy({ deploymentUnit: unit("My.App") })).outcome).toBe(DeployOutcome.UPDATED);
    expect(classes.writes).toEqual(["update shop/my-app"]);
  });

  test("rejects an object that is being deleted with a retryable code", async () => {
    const { deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("order-1") });
    await deployments.deleteDeployment({ deploymentId: "order-1" });
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("order-1") }));
    expect([fault.kind, fault.retryable]).toEqual(["unavailable", true]);
  });

  test("rejects an older revision and accepts an equal one", async () => {
    const { deployments, classes } = await start();
    const send = (revision: bigint, targetEnv: string) =>
      deployments.deploy({ deploymentUnit: unit("order-1", { revision, targetEnv }) });
    await send(5n, "a");
    expect((await faultOf(send(4n, "b"))).kind).toBe("failed-precondition");
    expect((await send(5n, "c")).outcome).toBe(DeployOutcome.UPDATED);
    const late = deployments.deleteDeployment({ deploymentId: "order-1", revision: 4n });
    expect((await faultOf(late)).kind).toBe("failed-precondition");
    expect(classes.writes).toHaveLength(2);
  });

  test("rejects a class that cannot run here before writing it", async () => {
    const refusal = failedPrecondition("template", 'template "gpu" does not exist; known templates: dev');
    const { deployments, classes } = await start({ check: { canServe: () => err(refusal) } });
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x", { selectedTemplate: "gpu" }) }));
    expect([fault.kind, fault.message]).toEqual(["failed-precondition", refusal.message]);
    expect(classes.writes).toEqual([]);
  });

  test("retries conflicts, and reports them after the last attempt", async () => {
    const { deployments, classes } = await start();
    classes.failures.push(conflict("class runtime", "x"), undefined);
    expect((await deployments.deploy({ deploymentUnit: unit("x") })).outcome).toBe(DeployOutcome.CREATED);
    classes.failures.push(...Array.from({ length: 5 }, () => conflict("class runtime", "x")));
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x", { targetEnv: "e" }) }));
    expect([fault.kind, fault.retryable]).toEqual(["conflict", true]);
  });

  test("runs calls for one id one after another", async () => {
    const { deployments, classes } = await start();
    const all = Array.from({ length: 100 }, () => deployments.deploy({ deploymentUnit: unit("x") }));
    const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === DeployOutcome.CREATED)).toHaveLength(1);
    expect(classes.writes).toEqual(["create shop/x"]);
  });

  test("passes the deadline of the caller to the Kubernetes call", async () => {
    const { deployments, classes } = await start();
    const aborted = Promise.withResolvers<Fault>();
    const calls: AbortSignal[] = [];
    classes.onCall = (_, signal) => {
      calls.push(signal);
      const onAbort = () => aborted.resolve(signal.reason as Fault);
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort);
      return sleep(realAmbient.timers, 60_000, signal);
    };
    // On a busy machine a short deadline expires before the Kubernetes call: retry with a longer one.
    for (let deadlineMs = 50; calls.length === 0; deadlineMs *= 2) {
      const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x") }, { deadlineMs }));
      expect(fault.kind).toBe("deadline-exceeded");
    }
    expect(["deadline-exceeded", "cancelled"]).toContain((await aborted.promise).kind);
    expect(classes.writes).toEqual([]);
  });

  test("uses the default namespace or the requested one, and rejects one that is not served", async () => {
    const { deployments, classes } = await start();
    await deployments.deploy({ deploymentUnit: unit("x") });
    await deployments.deploy({ deploymentUnit: unit("x"), namespace: "edge" });
    expect(classes.writes).toEqual(["create shop/x", "create edge/x"]);
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x"), namespace: "kube-system" }));
    expect([fault.kind, fault.violations]).toMatchObject([
      "invalid-argument",
      [{ path: "$.namespace", fix: expect.stringContaining("shop, edge") as string }],
    ]);
  });

  test("updates a unit where it is when the request names no namespace", async () => {
    const { deployments, classes } = await start();
    await deployments.deploy({ deploymentUnit: unit("x", { managedBy: "pm-1" }), namespace: "edge" });
    await deployments.deploy({ deploymentUnit: unit("x", { managedBy: "pm-1", revision: 2n }) });
    await deployments.deploy({ deploymentUnit: unit("x", { managedBy: "pm-2" }) });
    expect(classes.writes).toEqual(["create edge/x", "update edge/x", "create shop/x"]);
  });

  test("rejects a request without a namespace when the manager has no default one", async () => {
    const { deployments, classes, info } = await start({ namespaces: { served: ["oaas"], fallback: "default" } });
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x") }));
    expect(fault).toMatchObject({ kind: "invalid-argument", violations: [{ path: "$.namespace" }] });
    expect((await faultOf(deployments.getClassRuntime({ deploymentId: "x" }))).kind).toBe("not-found");
    expect(classes.writes).toEqual([]);
    expect((await info.getEnvHealth({ env: "" })).defaultNamespace).toBeUndefined();
  });
});

test("a follower serves reads and names the leader for writes", async () => {
  const { deployments, classes } = await start({ leadership: { isLeading: false, leader: "crm-1" } });
  classes.put({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "x", namespace: "shop" },
    spec: { package_class_key: "shop.Order", state_spec: {}, origin: { deployment_id: "x" } },
  });
  expect((await deployments.getClassRuntime({ deploymentId: "x" })).deployment?.id).toBe("x");
  for (const write of [
    deployments.deploy({ deploymentUnit: unit("x") }),
    deployments.deleteDeployment({ deploymentId: "x" }),
  ]) {
    const fault = await faultOf(write);
    expect([fault.kind, fault.message]).toEqual(["unavailable", expect.stringContaining('"crm-1" is the leader')]);
  }
});

test("reports leadership lost during a write", async () => {
  const leadership = { isLeading: true, leader: "crm-1" };
  const { deployments, classes } = await start({ leadership });
  classes.onCall = async (call) => {
    if (call !== "write") return;
    leadership.isLeading = false;
    throw new Fault({ kind: "cancelled" }, "fenced");
  };
  expect((await faultOf(deployments.deploy({ deploymentUnit: unit("x") }))).kind).toBe("unavailable");
});

describe("reading one class", () => {
  test("returns the whole unit with its status", async () => {
    const { deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("order-1", { targetEnv: "edge-1", revision: 3n }) });
    const reply = await deployments.getDeploymentStatus({ deploymentId: "order-1" });
    expect(reply.deployment).toMatchObject({
      packageName: "shop",
      classKey: "Order",
      targetEnv: "edge-1",
      revision: 3n,
    });
    expect(reply.deployment?.functions[0]?.provisionConfig?.containerImage).toBe("registry.test/place:1");
    expect(reply.classRuntime?.status?.condition).toBe(DeploymentCondition.PENDING);
  });

  test.each([
    "getDeploymentStatus",
    "getClassRuntime",
    "deleteDeployment",
    "explainClassRuntime",
    "getEnforcement",
  ] as const)("%s returns not-found for an unknown id and invalid-argument for an empty one", async (method) => {
    const { deployments } = await start();
    expect((await faultOf(deployments[method]({ deploymentId: "nope" }))).kind).toBe("not-found");
    expect((await faultOf(deployments[method]({ deploymentId: "" }))).kind).toBe("invalid-argument");
  });

  test("rejects an ambiguous id without a namespace", async () => {
    const { deployments } = await start({ namespaces: { served: "all", fallback: "home" } });
    for (const namespace of ["a", "b"]) await deployments.deploy({ deploymentUnit: unit("x"), namespace });
    const fault = await faultOf(deployments.getClassRuntime({ deploymentId: "x" }));
    expect([fault.kind, fault.message]).toEqual(["failed-precondition", expect.stringContaining("a, b")]);
    expect((await deployments.getClassRuntime({ deploymentId: "x", namespace: "b" })).deployment?.namespace).toBe("b");
  });

  test("explains a function", async () => {
    const { deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("x") });
    const { explanation } = await deployments.explainClassRuntime({ deploymentId: "x", functionKey: "place" });
    expect(explanation).toMatchObject({ deploymentId: "x", summary: "about place" });
  });
});

describe("ListClassRuntimes", () => {
  async function startWithClasses(): Promise<GrpcFixture> {
    const started = await start();
    const units = [
      unit("a", { packageName: "shop", classKey: "Order", targetEnv: "east", deploymentKey: "d1", managedBy: "pm-1" }),
      unit("b", { packageName: "shop", classKey: "Cart", targetEnv: "west", deploymentKey: "d2", managedBy: "pm-1" }),
      unit("c", { packageName: "bank", classKey: "Order", targetEnv: "east", deploymentKey: "d1", managedBy: "pm-2" }),
    ];
    for (const deploymentUnit of units) await started.deployments.deploy({ deploymentUnit });
    await started.deployments.deploy({ deploymentUnit: unit("d"), namespace: "edge" });
    const [b] = started.classes.find("b");
    started.classes.put({ ...b, status: { phase: "available", observedGeneration: 2 } } as never);
    return started;
  }

  test.each([
    { case: "no filter: all, by namespace and name", filter: {}, want: ["d", "a", "b", "c"] },
    { case: "package", filter: { packageName: "bank" }, want: ["c"] },
    { case: "class, bare", filter: { classKey: "Order" }, want: ["d", "a", "c"] },
    { case: "class, with its package", filter: { classKey: "bank.Order" }, want: ["c"] },
    { case: "environment", filter: { targetEnv: "east" }, want: ["a", "c"] },
    { case: "environment by namespace", filter: { targetEnv: "edge" }, want: ["d"] },
    { case: "status as phase", filter: { status: "Available" }, want: ["b"] },
    { case: "status as condition", filter: { status: "RUNNING" }, want: ["b"] },
    { case: "namespace", filter: { namespace: "edge" }, want: ["d"] },
    { case: "deployment", filter: { deploymentKey: "d1" }, want: ["a", "c"] },
    { case: "owner", filter: { managedBy: "pm-1" }, want: ["a", "b"] },
    { case: "several filters", filter: { managedBy: "pm-1", classKey: "Order" }, want: ["a"] },
    { case: "empty filters", filter: { packageName: "", status: "" }, want: ["d", "a", "b", "c"] },
    { case: "offset and limit", filter: { offset: 1, limit: 2 }, want: ["a", "b"] },
  ])("$case", async ({ filter, want }) => {
    const { deployments } = await startWithClasses();
    const reply = await deployments.listClassRuntimes(filter);
    expect(reply.items.map(({ id }) => id)).toEqual(want);
  });

  test("pages neither repeat nor hide objects while others are created and deleted", async () => {
    const { deployments, classes } = await startWithClasses();
    const first = await deployments.listClassRuntimes({ limit: 2 });
    expect([first.items.map(({ id }) => id), first.totalCount]).toEqual([["d", "a"], 4]);
    classes.drop({ namespace: "shop", name: "a" });
    await deployments.deploy({ deploymentUnit: unit("aa") });
    const second = await deployments.listClassRuntimes({ limit: 2, pageToken: first.nextPageToken });
    expect(second.items.map(({ id }) => id)).toEqual(["aa", "b"]);
    const last = await deployments.listClassRuntimes({ limit: 2, pageToken: second.nextPageToken });
    expect([last.items.map(({ id }) => id), last.nextPageToken]).toEqual([["c"], ""]);
  });

  test.each([{ status: "fine" }, { pageToken: "started-up" }, { namespace: "No" }])("rejects %o", async (request) => {
    const { deployments } = await startWithClasses();
    expect((await faultOf(deployments.listClassRuntimes(request))).kind).toBe("invalid-argument");
  });

  test("returns unavailable before the cache is synced", async () => {
    const { deployments, classes } = await start();
    classes.isSynced = false;
    expect((await faultOf(deployments.listClassRuntimes({}))).kind).toBe("unavailable");
  });
});

describe("WatchClassRuntimes", () => {
  const typeNames = new Map<number, string>(
    Object.entries(ClassRuntimeEventType).map(([name, value]) => [value, name]),
  );

  /** Reads a stream event by event; `stop` ends it. */
  function reader(stream: AsyncIterable<WatchClassRuntimesResponse>, abort: AbortController) {
    const events = stream[Symbol.asyncIterator]();
    return {
      next: async (): Promise<[type: string, id: string | undefined, token: string]> => {
        const { value, done } = await events.next();
        if (done === true) throw new Error("the stream ended");
        return [typeNames.get(value.type) ?? "", value.classRuntime?.id, value.resumeToken];
      },
      stop: () => abort.abort(),
    };
  }

  function watch(of: GrpcFixture, request: object) {
    const abort = new AbortController();
    return reader(of.deployments.watchClassRuntimes(request, { signal: abort.signal }), abort);
  }

  test("sends a snapshot and then changes; a resumed watch sends the missed changes", async () => {
    const started = await start();
    await started.deployments.deploy({ deploymentUnit: unit("a") });
    const first = watch(started, {});
    expect((await first.next())[0]).toBe("SNAPSHOT_STARTED");
    expect((await first.next()).slice(0, 2)).toEqual(["SNAPSHOT_ITEM", "a"]);
    const [complete, , token] = await first.next();
    expect([complete, token]).toEqual(["SNAPSHOT_COMPLETE", expect.stringMatching(/\.\d+$/)]);
    await started.deployments.deploy({ deploymentUnit: unit("b") });
    expect((await first.next()).slice(0, 2)).toEqual(["ADDED", "b"]);
    await started.deployments.deploy({ deploymentUnit: unit("b", { targetEnv: "e" }) });
    expect((await first.next()).slice(0, 2)).toEqual(["MODIFIED", "b"]);
    first.stop();
    started.classes.drop({ namespace: "shop", name: "a" });
    const resumed = watch(started, { resumeToken: token });
    expect((await resumed.next()).slice(0, 2)).toEqual(["ADDED", "b"]);
    expect((await resumed.next()).slice(0, 2)).toEqual(["MODIFIED", "b"]);
    expect((await resumed.next()).slice(0, 2)).toEqual(["DELETED", "a"]);
    resumed.stop();
  });

  test("resumes from a list without a gap", async () => {
    const started = await start();
    const { resumeToken } = await started.deployments.listClassRuntimes({});
    await started.deployments.deploy({ deploymentUnit: unit("a") });
    const watcher = watch(started, { resumeToken });
    expect((await watcher.next()).slice(0, 2)).toEqual(["ADDED", "a"]);
    watcher.stop();
  });

  test.each(["of-another-process.3", "nonsense"])("sends a snapshot for the token %s", async (resumeToken) => {
    const watcher = watch(await start(), { resumeToken });
    expect((await watcher.next())[0]).toBe("SNAPSHOT_STARTED");
    watcher.stop();
  });

  test("sends a snapshot when the missed changes are no longer in the log", async () => {
    const started = await start();
    const { resumeToken } = await started.deployments.listClassRuntimes({});
    for (let n = 0; n < 2100; n += 1) {
      started.classes.put({
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "x", namespace: "shop" },
        spec: { state_spec: {}, origin: { deployment_id: "x" } },
      });
    }
    const watcher = watch(started, { resumeToken });
    expect((await watcher.next())[0]).toBe("SNAPSHOT_STARTED");
    watcher.stop();
  });

  test("sends ADDED and DELETED when an object starts and stops to match the filter", async () => {
    const started = await start();
    const watcher = watch(started, { deploymentKey: "d1" });
    await watcher.next();
    await watcher.next();
    await started.deployments.deploy({ deploymentUnit: unit("other") });
    await started.deployments.deploy({ deploymentUnit: unit("x", { deploymentKey: "d1" }) });
    expect((await watcher.next()).slice(0, 2)).toEqual(["ADDED", "x"]);
    await started.deployments.deploy({ deploymentUnit: unit("x", { deploymentKey: "d2" }) });
    expect((await watcher.next()).slice(0, 2)).toEqual(["DELETED", "x"]);
    watcher.stop();
  });

  test("sends bookmarks on an idle stream while other objects change", async () => {
    const started = await start({ bookmarkMs: 20 });
    const watcher = watch(started, { deploymentId: "unknown" });
    await watcher.next();
    const [, , token] = await watcher.next();
    await started.deployments.deploy({ deploymentUnit: unit("x") });
    for (;;) {
      const [type, , newer] = await watcher.next();
      expect(type).toBe("BOOKMARK");
      if (newer !== token) break;
    }
    watcher.stop();
  });
});

describe("CrmInfoService", () => {
  test("returns the measurements under both names", async () => {
    const { info, deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("x") });
    const health = await info.getEnvHealth({ env: "" });
    expect(health).toMatchObject({
      envName: "shop",
      status: "Healthy",
      crmVersion: "1.2.3",
      nodeCount: 3,
      readyNodes: 2,
      capabilities: ["odgm", "hpa"],
      kubernetesVersion: "v1.35.0",
      leader: true,
      templates: ["dev", "edge"],
      zeroScaleTemplates: ["knative"],
      namespaces: ["shop", "edge"],
      environments: ["edge"],
      labels: { region: "eu" },
      classRuntimeCount: 1,
      availabilityBasis: { nodeRatio: 2 / 3, mocked: false },
    });
    expect(health.availability).toBeCloseTo(2 / 3, 6);
    expect(health.capacity).toMatchObject({
      allocatableCpuMillicores: 8000n,
      allocatableMemoryBytes: 2n ** 34n,
      allocatablePods: 220,
      requestedCpuMillicores: 1500n,
      runningPods: 4,
    });
    const { clusterName, nodeCount, availability } = await info.getClusterHealth({ cluster: "mine" });
    expect([clusterName, nodeCount, availability]).toEqual(["mine", 3, health.availability]);
  });

  test.each([
    { case: "most nodes ready", over: {}, want: "Healthy" },
    { case: "no permission to read nodes", over: { nodes: () => undefined }, want: "Healthy" },
    { case: "few nodes ready", over: { nodes: () => [node("True"), node("False"), node("False")] }, want: "Degraded" },
    { case: "no node ready", over: { nodes: () => [node("False")] }, want: "Unhealthy" },
    { case: "no nodes", over: { nodes: () => [] }, want: "Unhealthy" },
    { case: "failing watches", over: { apiFault: () => conflict("x", "y") }, want: "Unhealthy" },
    {
      case: "an API that is not ready and hangs",
      over: { isServing: async () => false, demand: () => new Promise<never>(() => undefined) },
      want: "Unhealthy",
    },
  ])("$case: $want", async ({ over, want }) => {
    const { info } = await start({ cluster: { ...CLUSTER, ...over } });
    expect((await info.getEnvHealth({})).status).toBe(want);
  });

  test("reports the measured availability with window and sample size", async () => {
    const day = 86_400_000;
    const measured = {
      value: 0.9,
      apiAvailability: 0.95,
      nodeAvailability: 0.9 / 0.95,
      samples: 5760,
      observedMs: 2 * day,
      evidenceMs: 1.5 * day,
      sinceMs: 20_000 * day,
    };
    const { info } = await start({ measuredAvailability: () => measured });
    const expected = {
      value: 0.9,
      apiAvailability: 0.95,
      windowSeconds: 2_592_000,
      halfLifeSeconds: 864_000,
      samples: 5760n,
      observedSeconds: 172_800n,
      evidenceSeconds: 129_600,
      since: { seconds: 1_728_000_000n, nanos: 0 },
    };
    expect((await info.getEnvHealth({})).availabilityMeasurement).toMatchObject(expected);
    expect((await info.getClusterHealth({})).availabilityMeasurement).toMatchObject(expected);
    const mocked = await start({ measuredAvailability: () => measured, mockAvailability: 0.5 });
    expect((await mocked.info.getEnvHealth({})).availabilityMeasurement).toBeUndefined();
  });

  test("reports the data plane network and whether state survives restarts", async () => {
    const { info } = await start({ dataPlaneNetwork: "backbone", persistentState: true });
    const expected = { dataPlaneNetwork: "backbone", persistentState: true };
    expect(await info.getEnvHealth({})).toMatchObject(expected);
    expect(await info.getClusterHealth({})).toMatchObject(expected);
    const { dataPlaneNetwork, persistentState } = await (await start()).info.getClusterHealth({});
    expect([dataPlaneNetwork, persistentState]).toEqual([undefined, false]);
  });

  test("marks a mocked availability", async () => {
    const { info } = await start({ mockAvailability: 0.5 });
    const { availability, availabilityBasis } = await info.getEnvHealth({});
    expect([availability, availabilityBasis?.mocked]).toEqual([0.5, true]);
  });
});

test("returns the topology of the class runtimes", async () => {
  const { topology, classes, deployments } = await start();
  await deployments.deploy({ deploymentUnit: unit("x") });
  const [x] = classes.find("x");
  classes.put({
    ...x,
    status: {
      phase: "available",
      observedGeneration: 2,
      functions: [{ function_key: "place", service: "x", predicted_url: "http://x", template: "dev", ready: true }],
    },
  } as never);
  const { nodes, edges } = await topology.getTopology({});
  expect(nodes.map(({ id, status }) => [id, status])).toEqual([
    ["environment::shop", "healthy"],
    ["class::shop/x", "healthy"],
    ["package::shop", "healthy"],
    ["function::shop/x::place", "healthy"],
  ]);
  expect(edges).toHaveLength(3);
  expect((await faultOf(topology.getTopology({ source: "tea-leaves" }))).kind).toBe("invalid-argument");
});

describe("authentication", () => {
  const TOKEN = { name: "pm", role: "deployer", token: "s3cret" } as const;

  test.each([
    { case: "a valid token", token: "s3cret", kind: undefined },
    { case: "an invalid token", token: "s3cres", kind: "unauthenticated" },
    { case: "a longer token", token: "s3cret-and-more", kind: "unauthenticated" },
    { case: "no token", token: undefined, kind: "unauthenticated" },
  ])("$case", async ({ token, kind }) => {
    const started = await start({}, [TOKEN]);
    const call = started.channel(token).client(CrmInfoService).getEnvHealth({});
    expect(kind === undefined ? (await call).status : (await faultOf(call)).kind).toBe(kind ?? "Healthy");
  });

  test("health and reflection need no token, deployments do", async () => {
    const started = await start({}, [TOKEN]);
    const open = started.channel();
    expect((await open.client(grpcHealth.Health).check({})).status).toBe(2);
    started.grpc.setServing(true);
    expect((await open.client(grpcHealth.Health).check({ service: DeploymentService.typeName })).status).toBe(1);
    expect((await open.client(HealthService).check({})).status).toBe(1);
    expect((await faultOf(open.client(DeploymentService).listClassRuntimes({}))).kind).toBe("unauthenticated");
    expect(started.grpc.services.map(({ service }) => service)).toContain(grpcReflection.ServerReflection);
  });

  test("a viewer reads, and cannot change anything", async () => {
    const viewer = { name: "dashboard", role: "viewer", token: "look" } as const;
    const started = await start({}, [TOKEN, viewer]);
    const deployments = started.channel("look").client(DeploymentService);
    expect((await deployments.listClassRuntimes({})).items).toEqual([]);
    const faults = [
      await faultOf(deployments.deploy({ deploymentUnit: unit("order-1") })),
      await faultOf(deployments.deleteDeployment({ deploymentId: "order-1" })),
    ];
    expect(faults.map(({ kind, message }) => [kind, message])).toEqual([
      ["permission-denied", "dashboard is a viewer; Deploy needs the role deployer"],
      ["permission-denied", "dashboard is a viewer; DeleteDeployment needs the role deployer"],
    ]);
    expect(started.classes.writes).toEqual([]);
  });

  test("logs every change with caller, namespace and target, also rejected ones", async () => {
    const recording = createRecordingLogger();
    const started = await start({ logger: recording.log }, [TOKEN]);
    const deployments = started.channel("s3cret").client(DeploymentService);
    await deployments.deploy({ deploymentUnit: unit("order-1") }, { headers: { "x-correlation-id": "c-9" } });
    await deployments.deploy({ deploymentUnit: unit("order-1"), namespace: "edge" });
    await faultOf(deployments.deploy({ deploymentUnit: unit("order-1", { classKey: "" }) }));
    await deployments.deleteDeployment({ deploymentId: "order-1", namespace: "edge" });
    await faultOf(
      started
        .channel()
        .client(DeploymentService)
        .deploy({ deploymentUnit: unit("order-2") }),
    );
    const lines = recording.records.filter(({ fields }) => fields["audit"] === true);
    expect(
      lines.map(({ fields }) => [fields["caller"], fields["action"], fields["namespace"], fields["target"]]),
    ).toEqual([
      ["pm", "deploy", "shop", "order-1"],
      ["pm", "deploy", "edge", "order-1"],
      ["pm", "deploy", "shop", "order-1"],
      ["pm", "deleteDeployment", "edge", "order-1"],
      ["unknown@127.0.0.1", "deploy", undefined, undefined],
    ]);
    expect(lines.map(({ fields }) => fields["outcome"])).toEqual([
      "created",
      "created",
      "refused",
      "deletion accepted",
      "refused",
    ]);
    expect(lines[0]?.fields["correlation_id"]).toBe("c-9");
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });
});

test("refuses changes in system namespaces", async () => {
  const { deployments, classes } = await start({ namespaces: { served: "all", fallback: "shop", own: "oaas-system" } });
  for (const namespace of ["kube-system", "kube-public", "oaas-system"]) {
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("miner"), namespace }));
    expect(fault.violations).toMatchObject([
      { path: "$.namespace", fix: expect.stringContaining(`OPRC_CRM_K8S_NAMESPACE=*,${namespace}`) as string },
    ]);
  }
  classes.put({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "dns", namespace: "kube-system" },
    spec: { package_class_key: "cluster.Dns", state_spec: {} },
  });
  expect((await faultOf(deployments.deleteDeployment({ deploymentId: "dns" }))).kind).toBe("invalid-argument");
  expect(classes.writes).toEqual([]);
});
