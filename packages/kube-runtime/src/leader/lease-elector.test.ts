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
  elector(identity: string, options?: Pick<ElectorOptions, "pollIntervalMs">): LeaseElector;
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

const from = (candidate: string) => (request: HttpRequest) => request.headers["user-agent"] === candidate;

describe("taking over", () => {
  test("the first creates the lease and leads; the second follows and knows the leader", async () => {
    const fixture = setUp();
    const [one, two] = [fixture.elector("one"), fixture.elector("two")];
    one.start();
    await fixture.time.advance(100);
    two.start();
    await fixture.time.advance(60_000);
    expect([one.isLeading, two.isLeading, two.leader]).toEqual([true, false, "one"]);
    expect(fixture.lease()).toMatchObject({ holderIdentity: "one", leaseDurationSeconds: 15, leaseTransitions: 0 });
    await Promise.all([one.stop(), two.stop()]);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("takes a stale lease only after its whole duration by the local clock, whatever its timestamps", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    one.start();
    await fixture.time.advance(100);
    fixture.api.intercept = (request) => (from("one")(request) ? "hang" : undefined);
    // By the wall clock the lease has long expired when the second first observes it.
    await fixture.time.advance(3_600_000);
    const two = fixture.elector("two");
    two.start();
    const seenAt = fixture.time.monotonic();
    await fixture.time.advance(15_000);
    expect(two.isLeading).toBe(false);
    await fixture.time.advance(2_500);
    expect(two.isLeading).toBe(true);
    expect(fixture.time.monotonic() - seenAt).toBeGreaterThan(15_000);
    expect(fixture.lease()).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
    fixture.api.intercept = () => undefined;
    await Promise.all([one.stop(), two.stop()]);
  });

  test("takes a released lease at the next poll", async () => {
    const fixture = setUp();
    const [one, two] = [fixture.elector("one"), fixture.elector("two")];
    one.start();
    await fixture.time.advance(100);
    two.start();
    await fixture.time.advance(10_000);
    await one.stop();
    expect(fixture.lease()).toMatchObject({ holderIdentity: "", leaseTransitions: 0 });
    await fixture.time.advance(2_000);
    expect(two.isLeading).toBe(true);
    expect(fixture.lease()).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
    await two.stop();
  });

  test("a shorter poll interval takes the lease sooner without renewing or retrying more often", async () => {
    const fixture = setUp();
    const [one, two] = [fixture.elector("one"), fixture.elector("two", { pollIntervalMs: 500 })];
    const requests = { polls: 0, renewals: 0 };
    let fails = false;
    fixture.api.intercept = (request) => {
      if (from("two")(request)) requests[request.method === "GET" ? "polls" : "renewals"] += 1;
      if (fails) throw unavailable("API server", "down");
      return undefined;
    };
    one.start();
    await fixture.time.advance(100);
    two.start();
    await fixture.time.advance(10_000);
    expect(requests.polls).toBeGreaterThanOrEqual(20);
    await one.stop();
    await fixture.time.advance(600);
    expect(two.isLeading).toBe(true);
    requests.renewals = 0;
    await fixture.time.advance(9_000);
    expect(requests.renewals).toBeLessThanOrEqual(5);
    fails = true;
    await fixture.time.advance(20_000);
    expect(two.isLeading).toBe(false);
    requests.polls = 0;
    await fixture.time.advance(10_000);
    expect(requests.polls).toBeLessThanOrEqual(20);
    fails = false;
    await two.stop();
  });

  test("one of two leads when both find no lease", async () => {
    const fixture = setUp();
    const electors = ["one", "two", "three"].map((name) => fixture.elector(name));
    for (const elector of electors) elector.start();
    await fixture.time.advance(5_000);
    expect(electors.filter(({ isLeading }) => isLeading)).toHaveLength(1);
    await Promise.all(electors.map((elector) => elector.stop()));
  });
});

describe("losing the lease", () => {
  test("ends the term before another candidate may lead when renewals fail or hang", async () => {
    for (const failure of ["hang", "fail"] as const) {
      const fixture = setUp();
      const one = fixture.elector("one");
      one.start();
      await fixture.time.advance(100);
      const term = await one.leading();
      let endedAt = 0;
      term.addEventListener("abort", () => (endedAt = fixture.time.monotonic()));
      fixture.api.intercept = () => {
        if (failure === "hang") return "hang";
        throw unavailable("server", "down");
      };
      const cutAt = fixture.time.monotonic();
      await fixture.time.advance(60_000);
      expect(endedAt - cutAt).toBeLessThanOrEqual(10_000);
      expect(endedAt - cutAt).toBeGreaterThan(7_000);
      fixture.api.intercept = () => undefined;
      await fixture.time.advance(10_000);
      expect(one.isLeading).toBe(true);
      await one.stop();
      expect(fixture.time.pendingTimers).toBe(0);
    }
  });

  test("does not extend the term by a renewal whose response was lost", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    one.start();
    await fixture.time.advance(100);
    const term = await one.leading();
    fixture.api.afterWrite = () => "hang";
    await fixture.time.advance(10_000);
    expect([term.aborted, one.isLeading]).toEqual([true, false]);
    fixture.api.afterWrite = () => undefined;
    await one.stop();
  });

  test("ends the term at the next poll when a user takes the lease", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    one.start();
    await fixture.time.advance(100);
    const [[path, lease]] = [...fixture.api.objects] as [[string, Lease]];
    const metadata = { ...lease.metadata, resourceVersion: "99" };
    fixture.api.objects.set(path, { ...lease, metadata, spec: { ...lease.spec, holderIdentity: "kubectl" } } as never);
    await fixture.time.advance(2_000);
    expect([one.isLeading, one.leader]).toEqual([false, "kubectl"]);
    await one.stop();
  });

  test("keeps the term when the lease changes without a new holder", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    one.start();
    await fixture.time.advance(100);
    const term = await one.leading();
    let touched = false;
    fixture.api.intercept = (request) => {
      if (request.method !== "PUT" || touched) return undefined;
      touched = true;
      const [[path, lease]] = [...fixture.api.objects] as [[string, Lease]];
      const metadata = { ...lease.metadata, resourceVersion: "99", labels: { touched: "yes" } };
      fixture.api.objects.set(path, { ...lease, metadata } as never);
      return undefined;
    };
    await fixture.time.advance(3_000);
    expect([touched, term.aborted, one.isLeading]).toEqual([true, false, true]);
    expect(fixture.api.ofKind("Lease")[0]?.metadata.labels).toEqual({ touched: "yes" });
    await one.stop();
  });

  test("ignores jumps of the wall clock", async () => {
    const fixture = setUp();
    const [one, two] = [fixture.elector("one"), fixture.elector("two")];
    one.start();
    await fixture.time.advance(100);
    two.start();
    const term = await one.leading();
    for (const jump of [86_400_000, -7 * 86_400_000, 20_000, -20_000]) {
      fixture.time.jump(jump);
      await fixture.time.advance(30_000);
      expect([one.isLeading, term.aborted, two.isLeading]).toEqual([true, false, false]);
    }
    await Promise.all([one.stop(), two.stop()]);
  });
});

test("detects an expired term by the clock after a freeze, before any timer fires", async () => {
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

describe("waiting for leadership", () => {
  test("ends when the caller aborts or the elector stops, and leaves no listeners", async () => {
    const fixture = setUp();
    fixture.api.intercept = () => "hang";
    const one = fixture.elector("one");
    one.start();
    const caller = new AbortController();
    const result = expect(one.leading(caller.signal)).rejects.toThrow("enough");
    const waiting = expect(one.leading()).rejects.toMatchObject({ kind: "cancelled" });
    await fixture.time.advance(100);
    caller.abort(new Fault({ kind: "cancelled" }, "enough"));
    await result;
    const stopping = one.stop();
    await fixture.time.advance(5_000);
    await stopping;
    await waiting;
    await expect(one.leading()).rejects.toMatchObject({ kind: "cancelled" });
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("stop ends the term before it releases the lease, also when called twice or never started", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    one.start();
    await fixture.time.advance(100);
    const term = await one.leading();
    const order: string[] = [];
    term.addEventListener("abort", () => order.push("term ended"));
    fixture.api.afterWrite = () => void order.push(`holder "${fixture.lease()?.holderIdentity}"`);
    await Promise.all([one.stop(), one.stop()]);
    expect(order).toEqual(["term ended", 'holder ""']);
    await fixture.elector("never").stop();
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("releases a lease acquired during stop", async () => {
    const fixture = setUp();
    const one = fixture.elector("one");
    let stopping: Promise<void> | undefined;
    fixture.api.afterWrite = () => {
      stopping ??= one.stop();
      return undefined;
    };
    one.start();
    await fixture.time.advance(5_000);
    await stopping;
    expect(fixture.lease()?.holderIdentity).toBe("");
  });
});

test.each([
  [{ leaseMs: 1500 }, "whole seconds"],
  [{ leaseMs: 0 }, "whole seconds"],
  [{ leaseMs: 10_000, renewWithinMs: 10_000 }, "smaller"],
])("rejects inconsistent durations: %j", (durations, message) => {
  const ambient = virtualAmbient(1);
  const client = new KubeClient({ transport: memoryApi().transport, ambient });
  expect(() => new LeaseElector({ client, ambient, lease: LEASE, identity: "x", ...durations })).toThrow(message);
});

test("property: two never lead at once and one leads in the end, whatever calls hang, fail or lose their responses", async () => {
  const failure = fc.record({
    candidate: fc.constantFrom("one", "two", "three"),
    what: fc.constantFrom("hang" as const, "fail" as const, "lose" as const, "fine" as const),
    forMs: fc.integer({ min: 100, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(failure, { maxLength: 12 }), fc.nat(), async (failures, seed) => {
      const fixture = setUp(seed);
      const electors = ["one", "two", "three"].map((name) => fixture.elector(name));
      for (const elector of electors) elector.start();
      const check = (): void => expect(electors.filter(({ isLeading }) => isLeading).length).toBeLessThanOrEqual(1);
      for (const { candidate, what, forMs } of failures) {
        fixture.api.intercept = (request) => {
          check();
          if (!from(candidate)(request)) return undefined;
          if (what === "fail") throw unavailable("server", "down");
          return what === "hang" ? "hang" : undefined;
        };
        fixture.api.afterWrite = (request) => (from(candidate)(request) && what === "lose" ? "hang" : undefined);
        for (let passed = 0; passed < forMs; passed += 500) {
          await fixture.time.advance(500);
          check();
        }
      }
      fixture.api.intercept = () => undefined;
      fixture.api.afterWrite = () => undefined;
      await fixture.time.advance(40_000);
      expect(electors.filter(({ isLeading }) => isLeading)).toHaveLength(1);
      await Promise.all(electors.map((elector) => elector.stop()));
      expect(fixture.time.pendingTimers).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test("a fenced client writes only while it leads, and always reads", async () => {
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
