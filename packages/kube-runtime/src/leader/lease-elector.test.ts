import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient, type VirtualTime } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { fenced } from "../client/fence.ts";
import type { HttpRequest } from "../client/transport.ts";
import { memoryApi, type MemoryApi } from "../testing/memory-api.ts";
import { scriptedTransport } from "../testing/scripted-transport.ts";
import { LeaseElector, type ElectorOptions } from "./lease-elector.ts";
import type { Lease } from "./lease.ts";

const LEASE = { namespace: "ns", name: "lock" };

interface World {
  readonly api: MemoryApi;
  readonly time: VirtualTime;
  elector(identity: string, options?: Pick<ElectorOptions, "lookEveryMs">): LeaseElector;
  lease(): Lease["spec"];
}

function setUp(seed = 1): World {
  const ambient = virtualAmbient(seed);
  const api = memoryApi();
  return {
    api,
    time: ambient.time,
    elector: (identity, options = {}) => {
      const client = new KubeClient({ transport: api.transport, ambient, userAgent: identity });
      return new LeaseElector({ client, ambient, lease: LEASE, identity, ...options });
    },
    lease: () => api.ofKind<Lease>("Lease")[0]?.spec,
  };
}

const from = (who: string) => (request: HttpRequest) => request.headers["user-agent"] === who;

describe("taking over", () => {
  test("the first makes the lease and leads; the second follows and knows who leads", async () => {
    const world = setUp();
    const [one, two] = [world.elector("one"), world.elector("two")];
    one.start();
    await world.time.advance(100);
    two.start();
    await world.time.advance(60_000);
    expect([one.isLeading, two.isLeading, two.leader]).toEqual([true, false, "one"]);
    expect(world.lease()).toMatchObject({ holderIdentity: "one", leaseDurationSeconds: 15, leaseTransitions: 0 });
    await Promise.all([one.stop(), two.stop()]);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("a lease that stands still is taken only after its whole duration in our own sight, whatever its times say", async () => {
    const world = setUp();
    const one = world.elector("one");
    one.start();
    await world.time.advance(100);
    world.api.intercept = (request) => (from("one")(request) ? "hang" : undefined);
    // By the wall clock the lease has long run out when the second first sees it.
    await world.time.advance(3_600_000);
    const two = world.elector("two");
    two.start();
    const seenAt = world.time.monotonic();
    await world.time.advance(15_000);
    expect(two.isLeading).toBe(false);
    await world.time.advance(2_500);
    expect(two.isLeading).toBe(true);
    expect(world.time.monotonic() - seenAt).toBeGreaterThan(15_000);
    expect(world.lease()).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
    world.api.intercept = () => undefined;
    await Promise.all([one.stop(), two.stop()]);
  });

  test("given back, it is taken at the next look", async () => {
    const world = setUp();
    const [one, two] = [world.elector("one"), world.elector("two")];
    one.start();
    await world.time.advance(100);
    two.start();
    await world.time.advance(10_000);
    await one.stop();
    expect(world.lease()).toMatchObject({ holderIdentity: "", leaseTransitions: 0 });
    await world.time.advance(2_000);
    expect(two.isLeading).toBe(true);
    expect(world.lease()).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
    await two.stop();
  });

  test("who looks more often takes it sooner, renews no more often, and asks a server that fails no more often", async () => {
    const world = setUp();
    const [one, two] = [world.elector("one"), world.elector("two", { lookEveryMs: 500 })];
    const asked = { looks: 0, renewals: 0 };
    let fails = false;
    world.api.intercept = (request) => {
      if (from("two")(request)) asked[request.method === "GET" ? "looks" : "renewals"] += 1;
      if (fails) throw unavailable("API server", "down");
      return undefined;
    };
    one.start();
    await world.time.advance(100);
    two.start();
    await world.time.advance(10_000);
    expect(asked.looks).toBeGreaterThanOrEqual(20);
    await one.stop();
    await world.time.advance(600);
    expect(two.isLeading).toBe(true);
    asked.renewals = 0;
    await world.time.advance(9_000);
    expect(asked.renewals).toBeLessThanOrEqual(5);
    fails = true;
    await world.time.advance(20_000);
    expect(two.isLeading).toBe(false);
    asked.looks = 0;
    await world.time.advance(10_000);
    expect(asked.looks).toBeLessThanOrEqual(20);
    fails = false;
    await two.stop();
  });

  test("two that find no lease: one leads", async () => {
    const world = setUp();
    const electors = ["one", "two", "three"].map((name) => world.elector(name));
    for (const elector of electors) elector.start();
    await world.time.advance(5_000);
    expect(electors.filter(({ isLeading }) => isLeading)).toHaveLength(1);
    await Promise.all(electors.map((elector) => elector.stop()));
  });
});

describe("losing", () => {
  test("renewals that fail or hang end the term before anyone else may begin", async () => {
    for (const trouble of ["hang", "fail"] as const) {
      const world = setUp();
      const one = world.elector("one");
      one.start();
      await world.time.advance(100);
      const term = await one.leading();
      let endedAt = 0;
      term.addEventListener("abort", () => (endedAt = world.time.monotonic()));
      world.api.intercept = () => {
        if (trouble === "hang") return "hang";
        throw unavailable("server", "down");
      };
      const cutAt = world.time.monotonic();
      await world.time.advance(60_000);
      expect(endedAt - cutAt).toBeLessThanOrEqual(10_000);
      expect(endedAt - cutAt).toBeGreaterThan(7_000);
      world.api.intercept = () => undefined;
      await world.time.advance(10_000);
      expect(one.isLeading).toBe(true);
      await one.stop();
      expect(world.time.pendingTimers).toBe(0);
    }
  });

  test("a renewal that was done but whose answer got lost does not prolong the term", async () => {
    const world = setUp();
    const one = world.elector("one");
    one.start();
    await world.time.advance(100);
    const term = await one.leading();
    world.api.afterWrite = () => "hang";
    await world.time.advance(10_000);
    expect([term.aborted, one.isLeading]).toEqual([true, false]);
    world.api.afterWrite = () => undefined;
    await one.stop();
  });

  test("someone who takes the lease by hand ends the term at the next look", async () => {
    const world = setUp();
    const one = world.elector("one");
    one.start();
    await world.time.advance(100);
    const [[path, lease]] = [...world.api.objects] as [[string, Lease]];
    const metadata = { ...lease.metadata, resourceVersion: "99" };
    world.api.objects.set(path, { ...lease, metadata, spec: { ...lease.spec, holderIdentity: "kubectl" } } as never);
    await world.time.advance(2_000);
    expect([one.isLeading, one.leader]).toEqual([false, "kubectl"]);
    await one.stop();
  });

  test("someone who only touches the lease does not", async () => {
    const world = setUp();
    const one = world.elector("one");
    one.start();
    await world.time.advance(100);
    const term = await one.leading();
    let touched = false;
    world.api.intercept = (request) => {
      if (request.method !== "PUT" || touched) return undefined;
      touched = true;
      const [[path, lease]] = [...world.api.objects] as [[string, Lease]];
      const metadata = { ...lease.metadata, resourceVersion: "99", labels: { touched: "yes" } };
      world.api.objects.set(path, { ...lease, metadata } as never);
      return undefined;
    };
    await world.time.advance(3_000);
    expect([touched, term.aborted, one.isLeading]).toEqual([true, false, true]);
    expect(world.api.ofKind("Lease")[0]?.metadata.labels).toEqual({ touched: "yes" });
    await one.stop();
  });

  test("jumps of the wall clock change nothing", async () => {
    const world = setUp();
    const [one, two] = [world.elector("one"), world.elector("two")];
    one.start();
    await world.time.advance(100);
    two.start();
    const term = await one.leading();
    for (const jump of [86_400_000, -7 * 86_400_000, 20_000, -20_000]) {
      world.time.jump(jump);
      await world.time.advance(30_000);
      expect([one.isLeading, term.aborted, two.isLeading]).toEqual([true, false, false]);
    }
    await Promise.all([one.stop(), two.stop()]);
  });
});

test("a process that was frozen knows by the clock, before any timer could tell it", async () => {
  const virtual = virtualAmbient(1);
  let frozenMs = 0;
  const clock = { now: () => virtual.clock.now(), monotonic: () => virtual.clock.monotonic() + frozenMs };
  const ambient = { ...virtual, clock };
  const client = new KubeClient({ transport: memoryApi().transport, ambient });
  const elector = new LeaseElector({ client, ambient, lease: LEASE, identity: "me" });
  elector.start();
  await virtual.time.advance(100);
  expect(elector.isLeading).toBe(true);
  frozenMs = 11_000;
  expect(elector.isLeading).toBe(false);
  let led = false;
  void elector.leading().then(() => (led = true));
  await virtual.time.advance(0);
  expect(led).toBe(false);
  await virtual.time.advance(15_000);
  expect([led, elector.isLeading]).toEqual([true, true]);
  await elector.stop();
});

describe("waiting to lead", () => {
  test("ends when the caller gives up or the elector stops, and leaves nothing", async () => {
    const world = setUp();
    world.api.intercept = () => "hang";
    const one = world.elector("one");
    one.start();
    const caller = new AbortController();
    const given = expect(one.leading(caller.signal)).rejects.toThrow("enough");
    const waiting = expect(one.leading()).rejects.toMatchObject({ kind: "cancelled" });
    await world.time.advance(100);
    caller.abort(new Fault({ kind: "cancelled" }, "enough"));
    await given;
    const stopping = one.stop();
    await world.time.advance(5_000);
    await stopping;
    await waiting;
    await expect(one.leading()).rejects.toMatchObject({ kind: "cancelled" });
    expect(world.time.pendingTimers).toBe(0);
  });

  test("stop ends the term before the lease is free, also when called twice or never started", async () => {
    const world = setUp();
    const one = world.elector("one");
    one.start();
    await world.time.advance(100);
    const term = await one.leading();
    const order: string[] = [];
    term.addEventListener("abort", () => order.push("term ended"));
    world.api.afterWrite = () => void order.push(`holder "${world.lease()?.holderIdentity}"`);
    await Promise.all([one.stop(), one.stop()]);
    expect(order).toEqual(["term ended", 'holder ""']);
    await world.elector("never").stop();
    expect(world.time.pendingTimers).toBe(0);
  });

  test("a lease that was taken while we stopped is given back too", async () => {
    const world = setUp();
    const one = world.elector("one");
    let stopping: Promise<void> | undefined;
    world.api.afterWrite = () => {
      stopping ??= one.stop();
      return undefined;
    };
    one.start();
    await world.time.advance(5_000);
    await stopping;
    expect(world.lease()?.holderIdentity).toBe("");
  });
});

test.each([
  [{ leaseMs: 1500 }, "whole seconds"],
  [{ leaseMs: 0 }, "whole seconds"],
  [{ leaseMs: 10_000, renewWithinMs: 10_000 }, "smaller"],
])("durations that cannot be are refused: %j", (durations, message) => {
  const ambient = virtualAmbient(1);
  const client = new KubeClient({ transport: memoryApi().transport, ambient });
  expect(() => new LeaseElector({ client, ambient, lease: LEASE, identity: "x", ...durations })).toThrow(message);
});

test("law: whatever calls hang, fail or lose their answers, two never lead at once, and one leads in the end", async () => {
  const trouble = fc.record({
    who: fc.constantFrom("one", "two", "three"),
    what: fc.constantFrom("hang" as const, "fail" as const, "lose" as const, "fine" as const),
    forMs: fc.integer({ min: 100, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(trouble, { maxLength: 12 }), fc.nat(), async (troubles, seed) => {
      const world = setUp(seed);
      const electors = ["one", "two", "three"].map((name) => world.elector(name));
      for (const elector of electors) elector.start();
      const check = (): void => expect(electors.filter(({ isLeading }) => isLeading).length).toBeLessThanOrEqual(1);
      for (const { who, what, forMs } of troubles) {
        world.api.intercept = (request) => {
          check();
          if (!from(who)(request)) return undefined;
          if (what === "fail") throw unavailable("server", "down");
          return what === "hang" ? "hang" : undefined;
        };
        world.api.afterWrite = (request) => (from(who)(request) && what === "lose" ? "hang" : undefined);
        for (let passed = 0; passed < forMs; passed += 500) {
          await world.time.advance(500);
          check();
        }
      }
      world.api.intercept = () => undefined;
      world.api.afterWrite = () => undefined;
      await world.time.advance(40_000);
      expect(electors.filter(({ isLeading }) => isLeading)).toHaveLength(1);
      await Promise.all(electors.map((elector) => elector.stop()));
      expect(world.time.pendingTimers).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test("a fenced client writes only while it may, and reads always", async () => {
  const ambient = virtualAmbient(1);
  const transport = scriptedTransport(() => ({ status: 200, body: { metadata: {} } }));
  let mayWrite = true;
  const client = new KubeClient({ transport: fenced(transport, () => mayWrite), ambient });
  const things = client.resource({ group: "", version: "v1", kind: "Thing", resource: "things", namespaced: true });
  const key = { namespace: "ns", name: "a" };
  await things.patch(key, "merge", {});
  mayWrite = false;
  await expect(things.patch(key, "merge", {})).rejects.toMatchObject({ kind: "cancelled" });
  await expect(things.delete(key)).rejects.toMatchObject({ kind: "cancelled" });
  await things.get(key);
  expect(transport.sent.map(({ method }) => method)).toEqual(["PATCH", "GET"]);
});
