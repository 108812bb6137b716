import { sleep, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeObject } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import { InformerPool } from "../cache/informer-pool.ts";
import { KubeClient } from "../client/kube-client.ts";
import { resourceType } from "../client/resource-type.ts";
import { Controller } from "../controller/controller.ts";
import { settled } from "../controller/outcome.ts";
import { LeaseElector } from "../leader/lease-elector.ts";
import type { Lease } from "../leader/lease.ts";
import { memoryApi } from "../testing/memory-api.ts";
import { Manager, type ManagerOptions } from "./manager.ts";

const THINGS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Thing",
  resource: "things",
  namespaced: true,
});
const KEY = { namespace: "ns", name: "a" };

function setUp(options: Partial<ManagerOptions> & { readonly led?: boolean } = {}) {
  const ambient = virtualAmbient(6);
  const api = memoryApi();
  const client = new KubeClient({ transport: api.transport, ambient });
  const log: string[] = [];
  let served = false;
  api.intercept = (request) => {
    if (!request.path.includes("/things")) return undefined;
    if (request.path.includes("watch=true"))
      return request.path.includes("sendInitialEvents") ? { status: 422 } : "hang";
    return served ? { status: 200, body: { metadata: { resourceVersion: "1" }, items: [] } } : { status: 503 };
  };
  api.afterWrite = (request) => {
    const holder = api.ofKind<Lease>("Lease")[0]?.spec?.holderIdentity;
    if (request.path.includes("/leases")) log.push(`lease of "${holder ?? ""}"`);
    return undefined;
  };
  const informers = new InformerPool(client, { ambient });
  informers.informer(THINGS);
  const elector = new LeaseElector({ client, ambient, lease: { namespace: "ns", name: "lock" }, identity: "me" });
  let term = 0;
  const manager = new Manager({
    ambient,
    informers,
    controllers: () => {
      term += 1;
      const name = `term ${term}`;
      log.push(`${name} begins`);
      const controller = new Controller({
        name,
        ambient,
        sources: [],
        reconcile: async (_key, { signal }) => {
          await sleep(ambient.timers, 5_000, signal).catch((reason: unknown) => {
            log.push(`${name} is cut`);
            throw reason;
          });
          log.push(`${name} works`);
          return settled();
        },
      });
      return [controller];
    },
    ...(options.led === false ? {} : { elector }),
    ...options,
  });
  const steps = (): string[] => log.filter((step, index) => step !== log[index - 1]);
  return {
    time: ambient.time,
    timers: ambient.timers,
    api,
    manager,
    elector,
    log,
    steps,
    serve: () => (served = true),
  };
}

test("no worker before the caches are synced, nor without leadership", async () => {
  const world = setUp();
  world.manager.start();
  await world.time.advance(5_000);
  expect([world.log, world.manager.isWorking]).toEqual([[], false]);
  expect(world.manager.readiness()).toMatchObject({ ready: false, reasons: [expect.stringContaining("things")] });
  world.serve();
  await world.time.advance(10_000);
  expect(world.steps()).toEqual(['lease of "me"', "term 1 begins", 'lease of "me"']);
  expect([world.manager.isWorking, world.manager.readiness().ready]).toEqual([true, true]);
  await world.manager.stop();
  expect(world.time.pendingTimers).toBe(0);
});

test("stopping: work in hand ends in peace while the lease is still held, then it is given back", async () => {
  const world = setUp();
  world.serve();
  world.manager.start();
  await world.time.advance(1_000);
  world.manager.controllers[0]?.enqueue(KEY);
  await world.time.advance(100);
  world.log.length = 0;
  const stopped = Promise.all([world.manager.stop(), world.manager.stop()]);
  await world.time.advance(6_000);
  await stopped;
  expect(world.steps()).toEqual(['lease of "me"', "term 1 works", 'lease of ""']);
  expect(world.manager.readiness().reasons).toContain("the process is stopping");
  expect([world.manager.isWorking, world.time.pendingTimers]).toEqual([false, 0]);
});

test("lost leadership cuts work at once, and the next term has fresh controllers", async () => {
  const world = setUp();
  world.serve();
  world.manager.start();
  await world.time.advance(1_000);
  const term = await world.elector.leading();
  let cutAtOnce = false;
  term.addEventListener("abort", () => queueMicrotask(() => (cutAtOnce = !world.log.includes("term 1 works"))));
  const lease = world.api.intercept;
  world.api.intercept = (request) => (request.path.includes("/leases") ? "hang" : lease(request));
  await world.time.advance(7_000);
  world.manager.controllers[0]?.enqueue(KEY);
  await world.time.advance(4_000);
  expect([world.manager.isWorking, cutAtOnce]).toEqual([false, true]);
  expect(world.log).toContain("term 1 is cut");
  world.api.intercept = lease;
  await world.time.advance(5_000);
  expect(world.log).toContain("term 2 begins");
  expect(world.log).not.toContain("term 1 works");
  await world.manager.stop();
  expect(world.time.pendingTimers).toBe(0);
});

describe("tasks", () => {
  test("run while this process leads; one that fails is started again, later each time", async () => {
    const at: number[] = [];
    const world: ReturnType<typeof setUp> = setUp({
      tasks: [
        {
          name: "loop",
          run: async (signal) => {
            at.push(world.time.monotonic());
            if (at.length < 4) throw unavailable("thing", "away");
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          },
        },
      ],
    });
    world.serve();
    world.manager.start();
    await world.time.advance(30_000);
    expect(at).toHaveLength(4);
    expect(at[3]! - at[2]!).toBeGreaterThan(at[1]! - at[0]!);
    await world.manager.stop();
    expect(world.time.pendingTimers).toBe(0);
  });
});

describe("at the edges", () => {
  test("stop before start: nothing ever runs", async () => {
    const world = setUp();
    world.serve();
    await world.manager.stop();
    world.manager.start();
    await world.time.advance(10_000);
    expect([world.log, world.api.transport.sent, world.time.pendingTimers]).toEqual([[], [], 0]);
  });

  test("stop while the caches are not synced", async () => {
    const world = setUp();
    world.manager.start();
    await world.time.advance(1_000);
    await world.manager.stop();
    expect([world.log, world.time.pendingTimers]).toEqual([[], 0]);
  });

  test("stop while another leads", async () => {
    const world = setUp();
    world.serve();
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "ns", name: "lock", uid: "u", resourceVersion: "1" },
      spec: { holderIdentity: "other", leaseDurationSeconds: 3600 },
    };
    world.api.objects.set("/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock", lease as never);
    world.manager.start();
    await world.time.advance(60_000);
    await world.manager.stop();
    expect([world.log, world.time.pendingTimers]).toEqual([[], 0]);
  });

  test("without an elector it works at once", async () => {
    const world = setUp({ led: false });
    world.serve();
    world.manager.start();
    await world.time.advance(10);
    expect(world.manager.isWorking).toBe(true);
    await world.manager.stop();
    expect(world.manager.isWorking).toBe(false);
  });

  test("a manager that cannot make its controllers says so and gives leadership up", async () => {
    const world = setUp({
      controllers: () => {
        throw new TypeError("wired wrongly");
      },
    });
    world.serve();
    world.manager.start();
    await world.time.advance(5_000);
    expect(world.manager.health().ready).toBe(false);
    expect(world.manager.readiness().ready).toBe(false);
    expect(world.steps()).toEqual(['lease of "me"', 'lease of ""']);
    await world.manager.stop();
    expect(world.time.pendingTimers).toBe(0);
  });
});
