import { cancelled, conflict, failedPrecondition, sleep, unavailable, type Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { formatObjectKey, type ObjectKey } from "@oaas/kube-core";
import { createRecordingLogger, createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { PRIORITY } from "../queue/work-queue.ts";
import { Controller, type ControllerOptions, type Reconcile } from "./controller.ts";
import { checkAgain, settled, waitForChange } from "./outcome.ts";
import type { Enqueue, Source } from "./sources.ts";

const key = (name: string, namespace = "ns"): ObjectKey => ({ namespace, name });

function setUp(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const ambient = virtualAmbient(9);
  const meter = createRecordingMeter();
  const reconciled: string[] = [];
  const subscribers = new Set<Enqueue>();
  const existing: ObjectKey[] = [];
  const source: Source = (enqueue) => {
    subscribers.add(enqueue);
    for (const each of existing) enqueue(each);
    return () => void subscribers.delete(enqueue);
  };
  const controller = new Controller({
    name: "test",
    ambient,
    meter,
    sources: [source],
    reconcile: (each, context) => {
      reconciled.push(formatObjectKey(each));
      return reconcile(each, context);
    },
    ...options,
  });
  const change = (each: ObjectKey, priority?: number): void => {
    for (const enqueue of subscribers) enqueue(each, priority === undefined ? {} : { priority });
  };
  const results = (result: string): number | undefined =>
    meter.value("kube_controller_reconciles_total", { controller: "test", result });
  return {
    time: ambient.time,
    timers: ambient.timers,
    controller,
    reconciled,
    change,
    existing,
    subscribers,
    results,
    meter,
  };
}

test("every line about a key says what its owner wants said", async () => {
  const { log: logger, records } = createRecordingLogger();
  const world = setUp(() => Promise.reject(failedPrecondition("x", "no")), {
    logger,
    logFields: ({ name }) => ({ cause: `c-${name}` }),
  });
  world.controller.start();
  world.change(key("a"));
  await world.time.advance(10);
  expect(records.filter(({ fields }) => fields["key"] === "ns/a").map(({ fields }) => fields["cause"])).toEqual([
    "c-a",
  ]);
  await world.controller.stop();
});

describe("outcomes", () => {
  test("settled and wait-for-change wait for a change; check-again comes back by itself, without urgency", async () => {
    const urgencies: number[] = [];
    let runs = 0;
    const world = setUp(async ({ name }) => {
      runs += 1;
      if (name === "settled") return settled();
      if (name === "waiting") return waitForChange("the other");
      return runs < 10 ? checkAgain(1000, "poll") : settled();
    });
    world.controller.start();
    for (const name of ["settled", "waiting", "polled"]) world.change(key(name), PRIORITY.high);
    await world.time.advance(100);
    expect(world.reconciled).toHaveLength(3);
    await world.time.advance(2_000);
    expect(world.reconciled.slice(3)).toEqual(["ns/polled", "ns/polled"]);
    expect(world.results("check-again")).toBe(3);
    expect(urgencies).toEqual([]);
    await world.controller.stop();
    expect(world.time.pendingTimers).toBe(0);
  });

  test("a check that is due goes behind routine work, however urgent the run was that asked for it", async () => {
    const world = setUp(async ({ name }) => (name === "polled" ? checkAgain(100, "poll") : settled()), {
      concurrency: 1,
    });
    world.controller.start();
    world.change(key("polled"), PRIORITY.high);
    await world.time.advance(50);
    world.reconciled.length = 0;
    // A slow key holds the only worker while both fall due.
    world.controller.enqueue(key("first"), { afterMs: 60 });
    await world.time.advance(49);
    world.change(key("routine"));
    await world.time.advance(100);
    expect(world.reconciled.slice(0, 2)).toEqual(["ns/routine", "ns/polled"]);
    await world.controller.stop();
  });
});

describe("faults", () => {
  test.each([
    { fault: unavailable("server", "down"), retried: true },
    { fault: conflict("thing", "a"), retried: true },
    { fault: new TypeError("a bug of ours"), retried: true },
    { fault: failedPrecondition("spec", "will never work"), retried: false },
    { fault: cancelled(), retried: false },
  ])("$fault.message: tried again $retried", async ({ fault, retried }) => {
    let failures = 3;
    const seen: number[] = [];
    const world = setUp(async (_key, { retries }) => {
      seen.push(retries);
      if ((failures -= 1) >= 0) throw fault;
      return settled();
    });
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(10_000);
    expect(seen).toEqual(retried ? [0, 1, 2, 3] : [0]);
    expect([world.results("retried"), world.results("failed"), world.results("settled")]).toEqual(
      retried ? [3, 0, 1] : [0, 1, 0],
    );
    await world.controller.stop();
  });

  test("a terminal fault is over when something changes", async () => {
    let broken = true;
    const world = setUp(async () => {
      if (broken) throw failedPrecondition("spec", "wrong");
      return settled();
    });
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(600_000);
    broken = false;
    world.change(key("a"));
    await world.time.advance(10);
    expect(world.reconciled).toHaveLength(2);
    await world.controller.stop();
  });

  test("the wait that a server asks for is kept", async () => {
    const at: number[] = [];
    const world = setUp(async () => {
      at.push(world.time.monotonic());
      if (at.length === 1) throw unavailable("server", "busy", { retryAfterMs: 30_000 });
      return settled();
    });
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(60_000);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(30_000);
    await world.controller.stop();
  });

  test("a reconcile that outlives its deadline is aborted and tried again, whatever its library throws", async () => {
    const reasons: Fault[] = [];
    const world = setUp(
      (_key, { signal }) =>
        new Promise((_resolve, reject) => {
          if (reasons.length > 0) return;
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason as Fault);
            reject(new DOMException("the operation was aborted", "AbortError"));
          });
        }),
      { deadlineMs: 5_000 },
    );
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(6_000);
    expect(reasons.map(({ kind }) => kind)).toEqual(["deadline-exceeded"]);
    expect(world.results("retried")).toBe(1);
    expect(world.reconciled).toHaveLength(2);
  });
});

test("keys of many are worked on side by side, one key by one worker", async () => {
  const inHand = new Set<string>();
  let most = 0;
  const world = setUp(
    async (each) => {
      expect(inHand.has(each.name)).toBe(false);
      inHand.add(each.name);
      most = Math.max(most, inHand.size);
      await sleep(world.timers, 100);
      inHand.delete(each.name);
      return settled();
    },
    { concurrency: 3 },
  );
  world.controller.start();
  for (let round = 0; round < 20; round += 1) {
    for (let i = 0; i < 5; i += 1) world.change(key(`k${i}`));
    await world.time.advance(30);
  }
  await world.time.advance(1_000);
  expect(most).toBe(3);
  expect(world.results("retried")).toBe(0);
  expect(new Set(world.reconciled).size).toBe(5);
  await world.controller.stop();
});

describe("a queue smaller than the world", () => {
  const setUpSmall = (count: number) => {
    const world: ReturnType<typeof setUp> = setUp(
      async () => {
        await sleep(world.timers, 1);
        return settled();
      },
      { concurrency: 1, queue: { limit: 10 } },
    );
    for (let i = 0; i < count; i += 1) world.existing.push(key(`k${i}`));
    return world;
  };

  test("is filled piece by piece: everything is looked at, about once, and then there is rest", async () => {
    const world = setUpSmall(35);
    world.controller.start();
    await world.time.advance(1_000);
    expect(new Set(world.reconciled).size).toBe(35);
    expect(world.reconciled.length).toBeLessThan(40);
    expect(world.subscribers.size).toBe(1);
    await world.controller.stop();
    expect(world.subscribers.size).toBe(0);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("a change that was refused meanwhile is looked at again, also of what had its turn before", async () => {
    const world = setUpSmall(35);
    world.controller.start();
    await world.time.advance(3);
    const before = world.reconciled.filter((each) => each === "ns/k0").length;
    expect([before, world.controller.queueLength]).toEqual([1, expect.any(Number)]);
    // The queue is full again at the moment of this change.
    for (let i = 20; i < 35; i += 1) world.change(key(`k${i}`));
    world.change(key("k0"));
    await world.time.advance(1_000);
    expect(world.reconciled.filter((each) => each === "ns/k0").length).toBeGreaterThan(1);
    expect(new Set(world.reconciled).size).toBe(35);
    await world.controller.stop();
  });
});

describe("stopping", () => {
  const slow =
    (ms: number) =>
    (world: { timers: Parameters<typeof sleep>[0] }) =>
    async (_: ObjectKey, c: { signal: AbortSignal }) => {
      await sleep(world.timers, ms, c.signal);
      return settled();
    };

  test("waits for work in hand, takes no more, and leaves nothing behind", async () => {
    const world: ReturnType<typeof setUp> = setUp((k, c) => slow(500)(world)(k, c), { concurrency: 1 });
    world.controller.start();
    world.change(key("a"));
    world.change(key("b"));
    await world.time.advance(100);
    const stopped = world.controller.stop(1_000);
    expect(world.subscribers.size).toBe(0);
    world.controller.enqueue(key("c"));
    await world.time.advance(500);
    await stopped;
    expect(world.reconciled).toEqual(["ns/a"]);
    expect(world.results("settled")).toBe(1);
    expect(world.time.pendingTimers).toBe(0);
  });

  test.each([
    { graceMs: 1_000, why: "after its grace" },
    { graceMs: 0, why: "at once without one" },
  ])("aborts what is not done, $why, and counts it as cancelled", async ({ graceMs }) => {
    const world: ReturnType<typeof setUp> = setUp((k, c) => slow(30_000)(world)(k, c));
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(100);
    const from = world.time.monotonic();
    const stopped = world.controller.stop(graceMs).then(() => world.time.monotonic() - from);
    await world.time.advance(graceMs);
    expect(await stopped).toBe(graceMs);
    expect([world.results("cancelled"), world.results("failed"), world.results("retried")]).toEqual([1, 0, 0]);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("a controller that was stopped stays so, and one that never started stops too", async () => {
    const world = setUp(async () => settled());
    await world.controller.stop();
    world.controller.start();
    world.change(key("a"));
    await world.time.advance(100);
    expect([world.reconciled, world.subscribers.size]).toEqual([[], 0]);
  });
});

test("two controllers on one meter both start at zero", () => {
  const meter = createRecordingMeter();
  for (const name of ["one", "two"]) {
    setUp(async () => settled(), { name, meter });
    for (const result of ["settled", "wait-for-change", "check-again", "retried", "failed", "cancelled"]) {
      expect(meter.value("kube_controller_reconciles_total", { controller: name, result })).toBe(0);
    }
    expect(meter.value("kube_controller_queue_depth", { controller: name })).toBe(0);
    expect(meter.value("kube_controller_active_workers", { controller: name })).toBe(0);
  }
});
