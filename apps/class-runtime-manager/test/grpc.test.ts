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
import { afterEach, describe, expect, test } from "vitest";
import { CLUSTER, node, startGrpcServices, unit, INVALID_REQUESTS, type GrpcFixture } from "./support/grpc-fixture.ts";

let serving: GrpcFixture | undefined;

async function start(...options: Parameters<typeof startGrpcServices>): Promise<GrpcFixture> {
  serving = await startGrpcServices(...options);
  return serving;
}

afterEach(async () => {
  await serving?.close();
  serving = undefined;
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
  test("creates, finds it so already, converges", async () => {
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

  test.each(["My.App", "UPPER_case", "a".repeat(63)])("the id %s is accepted, and its own retry too", async (id) => {
    const { deployments, classes } = await start();
    await deployments.deploy({ deploymentUnit: unit(id) });
    expect((await deployments.deploy({ deploymentUnit: unit(id) })).outcome).toBe(DeployOutcome.UNCHANGED);
    expect((await deployments.getDeploymentStatus({ deploymentId: id })).deployment?.id).toBe(id);
    expect(classes.writes).toHaveLength(1);
  });

  test.each(INVALID_REQUESTS)("refuses $why and writes nothing", async ({ request, paths }) => {
    const { deployments, classes } = await start();
    const fault = await faultOf(deployments.deploy(request));
    expect(fault.kind).toBe("invalid-argument");
    expect(fault.violations.map(({ path }) => path)).toEqual(expect.arrayContaining([...paths]));
    expect(classes.writes).toEqual([]);
  });

  test("refuses a name that belongs to another id", async () => {
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

  test("takes over what an earlier manager made, under the name it has", async () => {
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

  test("an object that is being deleted is refused with a code that says: try again", async () => {
    const { deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("order-1") });
    await deployments.deleteDeployment({ deploymentId: "order-1" });
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("order-1") }));
    expect([fault.kind, fault.retryable]).toEqual(["unavailable", true]);
  });

  test("an older revision never goes over a newer one, an equal one may", async () => {
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

  test("what cannot be served here is refused before it is written", async () => {
    const refusal = failedPrecondition("template", 'template "gpu" does not exist; known templates: dev');
    const { deployments, classes } = await start({ check: { canServe: () => err(refusal) } });
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x", { selectedTemplate: "gpu" }) }));
    expect([fault.kind, fault.message]).toEqual(["failed-precondition", refusal.message]);
    expect(classes.writes).toEqual([]);
  });

  test("someone else's write in between is met again; for ever it is told", async () => {
    const { deployments, classes } = await start();
    classes.failures.push(conflict("class runtime", "x"), undefined);
    expect((await deployments.deploy({ deploymentUnit: unit("x") })).outcome).toBe(DeployOutcome.CREATED);
    classes.failures.push(...Array.from({ length: 5 }, () => conflict("class runtime", "x")));
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x", { targetEnv: "e" }) }));
    expect([fault.kind, fault.retryable]).toEqual(["conflict", true]);
  });

  test("calls for one id go one after another: of a hundred, one creates", async () => {
    const { deployments, classes } = await start();
    const all = Array.from({ length: 100 }, () => deployments.deploy({ deploymentUnit: unit("x") }));
    const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === DeployOutcome.CREATED)).toHaveLength(1);
    expect(classes.writes).toEqual(["create shop/x"]);
  });

  test("the caller's deadline reaches the call to Kubernetes", async () => {
    const { deployments, classes } = await start();
    const aborted = Promise.withResolvers<Fault>();
    const calls: AbortSignal[] = [];
    classes.onCall = (_, signal) => {
      calls.push(signal);
      const note = () => aborted.resolve(signal.reason as Fault);
      if (signal.aborted) note();
      signal.addEventListener("abort", note);
      return sleep(realAmbient.timers, 60_000, signal);
    };
    // On a busy machine a short time is over before the call has come to Kubernetes: then it is given more.
    for (let deadlineMs = 50; calls.length === 0; deadlineMs *= 2) {
      const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x") }, { deadlineMs }));
      expect(fault.kind).toBe("deadline-exceeded");
    }
    expect(["deadline-exceeded", "cancelled"]).toContain((await aborted.promise).kind);
    expect(classes.writes).toEqual([]);
  });

  test("namespaces: the default, one that is asked for, one that is not served", async () => {
    const { deployments, classes } = await start();
    await deployments.deploy({ deploymentUnit: unit("x") });
    await deployments.deploy({ deploymentUnit: unit("x"), namespace: "edge" });
    expect(classes.writes).toEqual(["create shop/x", "create edge/x"]);
    const fault = await faultOf(deployments.deploy({ deploymentUnit: unit("x"), namespace: "kube-system" }));
    expect([fault.kind, fault.message]).toEqual(["failed-precondition", expect.stringContaining("shop, edge")]);
  });
});

test("a follower serves reads and names the leader to writers", async () => {
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

test("leadership that is lost on the way to the write is told as such", async () => {
  const leadership = { isLeading: true, leader: "crm-1" };
  const { deployments, classes } = await start({ leadership });
  classes.onCall = async (call) => {
    if (call !== "write") return;
    leadership.isLeading = false;
    throw new Fault({ kind: "cancelled" }, "fenced");
  };
  expect((await faultOf(deployments.deploy({ deploymentUnit: unit("x") }))).kind).toBe("unavailable");
});

describe("reading one", () => {
  test("the whole unit comes back, with its true state", async () => {
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

  test.each(["getDeploymentStatus", "getClassRuntime", "deleteDeployment", "explainClassRuntime"] as const)(
    "%s of an unknown id is not found, of an empty one invalid",
    async (method) => {
      const { deployments } = await start();
      expect((await faultOf(deployments[method]({ deploymentId: "nope" }))).kind).toBe("not-found");
      expect((await faultOf(deployments[method]({ deploymentId: "" }))).kind).toBe("invalid-argument");
    },
  );

  test("an id in several namespaces, none of them the default, must be told apart", async () => {
    const { deployments } = await start({ namespaces: { served: "all", fallback: "home" } });
    for (const namespace of ["a", "b"]) await deployments.deploy({ deploymentUnit: unit("x"), namespace });
    const fault = await faultOf(deployments.getClassRuntime({ deploymentId: "x" }));
    expect([fault.kind, fault.message]).toEqual(["failed-precondition", expect.stringContaining("a, b")]);
    expect((await deployments.getClassRuntime({ deploymentId: "x", namespace: "b" })).deployment?.namespace).toBe("b");
  });

  test("explains", async () => {
    const { deployments } = await start();
    await deployments.deploy({ deploymentUnit: unit("x") });
    const { explanation } = await deployments.explainClassRuntime({ deploymentId: "x", functionKey: "place" });
    expect(explanation).toMatchObject({ deploymentId: "x", summary: "about place" });
  });
});

describe("ListClassRuntimes", () => {
  async function filled(): Promise<GrpcFixture> {
    const made = await start();
    const units = [
      unit("a", { packageName: "shop", classKey: "Order", targetEnv: "east", deploymentKey: "d1", managedBy: "pm-1" }),
      unit("b", { packageName: "shop", classKey: "Cart", targetEnv: "west", deploymentKey: "d2", managedBy: "pm-1" }),
      unit("c", { packageName: "bank", classKey: "Order", targetEnv: "east", deploymentKey: "d1", managedBy: "pm-2" }),
    ];
    for (const deploymentUnit of units) await made.deployments.deploy({ deploymentUnit });
    await made.deployments.deploy({ deploymentUnit: unit("d"), namespace: "edge" });
    const [b] = made.classes.find("b");
    made.classes.put({ ...b, status: { phase: "available", observedGeneration: 2 } } as never);
    return made;
  }

  test.each([
    { why: "nothing: all, by namespace and name", filter: {}, want: ["d", "a", "b", "c"] },
    { why: "package", filter: { packageName: "bank" }, want: ["c"] },
    { why: "class, bare", filter: { classKey: "Order" }, want: ["d", "a", "c"] },
    { why: "class, with its package", filter: { classKey: "bank.Order" }, want: ["c"] },
    { why: "environment", filter: { targetEnv: "east" }, want: ["a", "c"] },
    { why: "environment by its namespace, as peers know it", filter: { targetEnv: "edge" }, want: ["d"] },
    { why: "state in our word", filter: { status: "Available" }, want: ["b"] },
    { why: "state in a peer's word", filter: { status: "RUNNING" }, want: ["b"] },
    { why: "namespace", filter: { namespace: "edge" }, want: ["d"] },
    { why: "deployment", filter: { deploymentKey: "d1" }, want: ["a", "c"] },
    { why: "owner", filter: { managedBy: "pm-1" }, want: ["a", "b"] },
    { why: "all that are given must hold", filter: { managedBy: "pm-1", classKey: "Order" }, want: ["a"] },
    { why: "empty texts are none", filter: { packageName: "", status: "" }, want: ["d", "a", "b", "c"] },
    { why: "offset and limit", filter: { offset: 1, limit: 2 }, want: ["a", "b"] },
  ])("$why", async ({ filter, want }) => {
    const { deployments } = await filled();
    const reply = await deployments.listClassRuntimes(filter);
    expect(reply.items.map(({ id }) => id)).toEqual(want);
  });

  test("pages neither repeat nor hide, whatever comes and goes", async () => {
    const { deployments, classes } = await filled();
    const first = await deployments.listClassRuntimes({ limit: 2 });
    expect([first.items.map(({ id }) => id), first.totalCount]).toEqual([["d", "a"], 4]);
    classes.drop({ namespace: "shop", name: "a" });
    await deployments.deploy({ deploymentUnit: unit("aa") });
    const second = await deployments.listClassRuntimes({ limit: 2, pageToken: first.nextPageToken });
    expect(second.items.map(({ id }) => id)).toEqual(["aa", "b"]);
    const last = await deployments.listClassRuntimes({ limit: 2, pageToken: second.nextPageToken });
    expect([last.items.map(({ id }) => id), last.nextPageToken]).toEqual([["c"], ""]);
  });

  test.each([{ status: "fine" }, { pageToken: "made-up" }, { namespace: "No" }])("%o is refused", async (request) => {
    const { deployments } = await filled();
    expect((await faultOf(deployments.listClassRuntimes(request))).kind).toBe("invalid-argument");
  });

  test("before the first state is read there is no list", async () => {
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

  test("a snapshot, then changes as they come; back with a token, what was missed", async () => {
    const made = await start();
    await made.deployments.deploy({ deploymentUnit: unit("a") });
    const first = watch(made, {});
    expect((await first.next())[0]).toBe("SNAPSHOT_STARTED");
    expect((await first.next()).slice(0, 2)).toEqual(["SNAPSHOT_ITEM", "a"]);
    const [complete, , token] = await first.next();
    expect([complete, token]).toEqual(["SNAPSHOT_COMPLETE", expect.stringMatching(/\.\d+$/)]);
    await made.deployments.deploy({ deploymentUnit: unit("b") });
    expect((await first.next()).slice(0, 2)).toEqual(["ADDED", "b"]);
    await made.deployments.deploy({ deploymentUnit: unit("b", { targetEnv: "e" }) });
    expect((await first.next()).slice(0, 2)).toEqual(["MODIFIED", "b"]);
    first.stop();
    made.classes.drop({ namespace: "shop", name: "a" });
    const back = watch(made, { resumeToken: token });
    expect((await back.next()).slice(0, 2)).toEqual(["ADDED", "b"]);
    expect((await back.next()).slice(0, 2)).toEqual(["MODIFIED", "b"]);
    expect((await back.next()).slice(0, 2)).toEqual(["DELETED", "a"]);
    back.stop();
  });

  test("a list is continued without a gap", async () => {
    const made = await start();
    const { resumeToken } = await made.deployments.listClassRuntimes({});
    await made.deployments.deploy({ deploymentUnit: unit("a") });
    const watcher = watch(made, { resumeToken });
    expect((await watcher.next()).slice(0, 2)).toEqual(["ADDED", "a"]);
    watcher.stop();
  });

  test.each(["of-another-process.3", "nonsense"])("the token %s gives a snapshot", async (resumeToken) => {
    const watcher = watch(await start(), { resumeToken });
    expect((await watcher.next())[0]).toBe("SNAPSHOT_STARTED");
    watcher.stop();
  });

  test("who was away for too long gets a snapshot instead of changes with a gap", async () => {
    const made = await start();
    const { resumeToken } = await made.deployments.listClassRuntimes({});
    for (let n = 0; n < 2100; n += 1) {
      made.classes.put({
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "x", namespace: "shop" },
        spec: { state_spec: {}, origin: { deployment_id: "x" } },
      });
    }
    const watcher = watch(made, { resumeToken });
    expect((await watcher.next())[0]).toBe("SNAPSHOT_STARTED");
    watcher.stop();
  });

  test("a filter: what enters it is added, what leaves it is deleted", async () => {
    const made = await start();
    const watcher = watch(made, { deploymentKey: "d1" });
    await watcher.next();
    await watcher.next();
    await made.deployments.deploy({ deploymentUnit: unit("other") });
    await made.deployments.deploy({ deploymentUnit: unit("x", { deploymentKey: "d1" }) });
    expect((await watcher.next()).slice(0, 2)).toEqual(["ADDED", "x"]);
    await made.deployments.deploy({ deploymentUnit: unit("x", { deploymentKey: "d2" }) });
    expect((await watcher.next()).slice(0, 2)).toEqual(["DELETED", "x"]);
    watcher.stop();
  });

  test("a quiet stream says that it is alive, also while others are busy", async () => {
    const made = await start({ bookmarkMs: 20 });
    const watcher = watch(made, { deploymentId: "nobody" });
    await watcher.next();
    const [, , token] = await watcher.next();
    await made.deployments.deploy({ deploymentUnit: unit("x") });
    for (;;) {
      const [type, , newer] = await watcher.next();
      expect(type).toBe("BOOKMARK");
      if (newer !== token) break;
    }
    watcher.stop();
  });
});

describe("CrmInfoService", () => {
  test("tells what was measured, under both names", async () => {
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
    { why: "most nodes ready", over: {}, want: "Healthy" },
    { why: "nodes that may not be read", over: { nodes: () => undefined }, want: "Healthy" },
    { why: "few nodes ready", over: { nodes: () => [node("True"), node("False"), node("False")] }, want: "Degraded" },
    { why: "no node ready", over: { nodes: () => [node("False")] }, want: "Unhealthy" },
    { why: "no node at all", over: { nodes: () => [] }, want: "Unhealthy" },
    { why: "watches that break", over: { apiFault: () => conflict("x", "y") }, want: "Unhealthy" },
    {
      why: "an API that does not serve, and would keep us waiting",
      over: { isServing: async () => false, demand: () => new Promise<never>(() => undefined) },
      want: "Unhealthy",
    },
  ])("$why: $want", async ({ over, want }) => {
    const { info } = await start({ cluster: { ...CLUSTER, ...over } });
    expect((await info.getEnvHealth({})).status).toBe(want);
  });

  test("a mocked availability says that it is one", async () => {
    const { info } = await start({ mockAvailability: 0.5 });
    const { availability, availabilityBasis } = await info.getEnvHealth({});
    expect([availability, availabilityBasis?.mocked]).toEqual([0.5, true]);
  });
});

test("topology: what the class runtimes show", async () => {
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

describe("who may call", () => {
  test.each([
    { why: "the right token", token: "s3cret", kind: undefined },
    { why: "a wrong token", token: "s3cres", kind: "unauthenticated" },
    { why: "the right one and more", token: "s3cret-and-more", kind: "unauthenticated" },
    { why: "none", token: undefined, kind: "unauthenticated" },
  ])("$why", async ({ token, kind }) => {
    const made = await start({}, ["s3cret"]);
    const call = made.channel(token).client(CrmInfoService).getEnvHealth({});
    expect(kind === undefined ? (await call).status : (await faultOf(call)).kind).toBe(kind ?? "Healthy");
  });

  test("health and reflection are open, deployments are not", async () => {
    const made = await start({}, ["s3cret"]);
    const open = made.channel();
    expect((await open.client(grpcHealth.Health).check({})).status).toBe(2);
    made.grpc.setServing(true);
    expect((await open.client(grpcHealth.Health).check({ service: DeploymentService.typeName })).status).toBe(1);
    expect((await open.client(HealthService).check({})).status).toBe(1);
    expect((await faultOf(open.client(DeploymentService).listClassRuntimes({}))).kind).toBe("unauthenticated");
    expect(made.grpc.services.map(({ service }) => service)).toContain(grpcReflection.ServerReflection);
  });
});
