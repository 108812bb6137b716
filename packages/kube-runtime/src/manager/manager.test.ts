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

test("starts no worker before the caches are synced, nor without leadership", async () => {
  const fixture = setUp();
  fixture.manager.start();
  await fixture.time.advance(5_000);
  expect([fixture.log, fixture.manager.isWorking]).toEqual([[], false]);
  expect(fixture.manager.readiness()).toMatchObject({ ready: false, reasons: [expect.stringContaining("things")] });
  fixture.serve();
  await fixture.time.advance(10_000);
  expect(fixture.steps()).toEqual(['lease of "me"', "term 1 begins", 'lease of "me"']);
  expect([fixture.manager.isWorking, fixture.manager.readiness().ready]).toEqual([true, true]);
  await fixture.manager.stop();
  expect(fixture.time.pendingTimers).toBe(0);
});

test("starts no worker and is not ready before the prerequisite is met", async () => {
  const problems = ["the cluster is too old"];
  const met = Promise.withResolvers<void>();
  const fixture = setUp({ prerequisite: { problems, met: () => met.promise } });
  let isReady = false;
  void fixture.manager.ready.then(() => (isReady = true));
  fixture.serve();
  fixture.manager.start();
  await fixture.time.advance(10_000);
  expect([fixture.log, fixture.manager.isWorking, isReady]).toEqual([[], false, false]);
  expect(fixture.manager.readiness()).toEqual({ ready: false, reasons: ["the cluster is too old"] });
  problems.length = 0;
  met.resolve();
  await fixture.time.advance(10_000);
  expect([fixture.manager.readiness().ready, fixture.manager.isWorking, isReady]).toEqual([true, true, true]);
  await fixture.manager.stop();
});

test("stop lets running work finish while it holds the lease, then releases it", async () => {
  const fixture = setUp();
  fixture.serve();
  fixture.manager.start();
  await fixture.time.advance(1_000);
  fixture.manager.controllers[0]?.enqueue(KEY);
  await fixture.time.advance(100);
  fixture.log.length = 0;
  const stopped = Promise.all([fixture.manager.stop(), fixture.manager.stop()]);
  await fixture.time.advance(6_000);
  await stopped;
  expect(fixture.steps()).toEqual(['lease of "me"', "term 1 works", 'lease of ""']);
  expect(fixture.manager.readiness().reasons).toContain("the process is stopping");
  expect([fixture.manager.isWorking, fixture.time.pendingTimers]).toEqual([false, 0]);
});

test("aborts work at once when leadership is lost, and creates new controllers for the next term", async () => {
  const fixture = setUp();
  fixture.serve();
  fixture.manager.start();
  await fixture.time.advance(1_000);
  const term = await fixture.elector.leading();
  let cutAtOnce = false;
  term.addEventListener("abort", () => queueMicrotask(() => (cutAtOnce = !fixture.log.includes("term 1 works"))));
  const lease = fixture.api.intercept;
  fixture.api.intercept = (request) => (request.path.includes("/leases") ? "hang" : lease(request));
  await fixture.time.advance(7_000);
  fixture.manager.controllers[0]?.enqueue(KEY);
  await fixture.time.advance(4_000);
  expect([fixture.manager.isWorking, cutAtOnce]).toEqual([false, true]);
  expect(fixture.log).toContain("term 1 is cut");
  fixture.api.intercept = lease;
  await fixture.time.advance(5_000);
  expect(fixture.log).toContain("term 2 begins");
  expect(fixture.log).not.toContain("term 1 works");
  await fixture.manager.stop();
  expect(fixture.time.pendingTimers).toBe(0);
});

describe("tasks", () => {
  test("run while this process leads and restart with backoff after a failure", async () => {
    const at: number[] = [];
    const fixture: ReturnType<typeof setUp> = setUp({
      tasks: [
        {
          name: "loop",
          run: async (signal) => {
            at.push(fixture.time.monotonic());
            if (at.length < 4) throw unavailable("thing", "away");
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          },
        },
      ],
    });
    fixture.serve();
    fixture.manager.start();
    await fixture.time.advance(30_000);
    expect(at).toHaveLength(4);
    expect(at[3]! - at[2]!).toBeGreaterThan(at[1]! - at[0]!);
    await fixture.manager.stop();
    expect(fixture.time.pendingTimers).toBe(0);
  });
});

describe("edge cases", () => {
  test("runs nothing when stopped before start", async () => {
    const fixture = setUp();
    fixture.serve();
    await fixture.manager.stop();
    fixture.manager.start();
    await fixture.time.advance(10_000);
    expect([fixture.log, fixture.api.transport.sent, fixture.time.pendingTimers]).toEqual([[], [], 0]);
  });

  test("stops while the caches are not synced", async () => {
    const fixture = setUp();
    fixture.manager.start();
    await fixture.time.advance(1_000);
    await fixture.manager.stop();
    expect([fixture.log, fixture.time.pendingTimers]).toEqual([[], 0]);
  });

  test("stops while another process leads", async () => {
    const fixture = setUp();
    fixture.serve();
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "ns", name: "lock", uid: "u", resourceVersion: "1" },
      spec: { holderIdentity: "other", leaseDurationSeconds: 3600 },
    };
    fixture.api.objects.set("/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock", lease as never);
    fixture.manager.start();
    await fixture.time.advance(60_000);
    await fixture.manager.stop();
    expect([fixture.log, fixture.time.pendingTimers]).toEqual([[], 0]);
  });

  test("starts at once without an elector", async () => {
    const fixture = setUp({ led: false });
    fixture.serve();
    fixture.manager.start();
    await fixture.time.advance(10);
    expect(fixture.manager.isWorking).toBe(true);
    await fixture.manager.stop();
    expect(fixture.manager.isWorking).toBe(false);
  });

  test("reports a failure to create controllers and releases leadership", async () => {
    const fixture = setUp({
      controllers: () => {
        throw new TypeError("wired wrongly");
      },
    });
    fixture.serve();
    fixture.manager.start();
    await fixture.time.advance(5_000);
    expect(fixture.manager.health().ready).toBe(false);
    expect(fixture.manager.readiness().ready).toBe(false);
    expect(fixture.steps()).toEqual(['lease of "me"', 'lease of ""']);
    await fixture.manager.stop();
    expect(fixture.time.pendingTimers).toBe(0);
  });
});
