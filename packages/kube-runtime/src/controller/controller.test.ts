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

test("adds the fields of the key's owner to every log line", async () => {
  const { log: logger, records } = createRecordingLogger();
  const fixture = setUp(() => Promise.reject(failedPrecondition("x", "no")), {
    logger,
    logFields: ({ name }) => ({ cause: `c-${name}` }),
  });
  fixture.controller.start();
  fixture.change(key("a"));
  await fixture.time.advance(10);
  expect(records.filter(({ fields }) => fields["key"] === "ns/a").map(({ fields }) => fields["cause"])).toEqual([
    "c-a",
  ]);
  await fixture.controller.stop();
});

describe("outcomes", () => {
  test("waits for a change after settled and wait-for-change, and requeues check-again at routine priority", async () => {
    const urgencies: number[] = [];
    let runs = 0;
    const fixture = setUp(async ({ name }) => {
      runs += 1;
      if (name === "settled") return settled();
      if (name === "waiting") return waitForChange("the other");
      return runs < 10 ? checkAgain(1000, "poll") : settled();
    });
    fixture.controller.start();
    for (const name of ["settled", "waiting", "polled"]) fixture.change(key(name), PRIORITY.high);
    await fixture.time.advance(100);
    expect(fixture.reconciled).toHaveLength(3);
    await fixture.time.advance(2_000);
    expect(fixture.reconciled.slice(3)).toEqual(["ns/polled", "ns/polled"]);
    expect(fixture.results("check-again")).toBe(3);
    expect(urgencies).toEqual([]);
    await fixture.controller.stop();
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("queues a due check behind routine work, whatever the priority of the run that requested it", async () => {
    const fixture = setUp(async ({ name }) => (name === "polled" ? checkAgain(100, "poll") : settled()), {
      concurrency: 1,
    });
    fixture.controller.start();
    fixture.change(key("polled"), PRIORITY.high);
    await fixture.time.advance(50);
    fixture.reconciled.length = 0;
    // A slow key holds the only worker while both become due.
    fixture.controller.enqueue(key("first"), { afterMs: 60 });
    await fixture.time.advance(49);
    fixture.change(key("routine"));
    await fixture.time.advance(100);
    expect(fixture.reconciled.slice(0, 2)).toEqual(["ns/routine", "ns/polled"]);
    await fixture.controller.stop();
  });
});

describe("faults", () => {
  test.each([
    { fault: unavailable("server", "down"), retried: true },
    { fault: conflict("thing", "a"), retried: true },
    { fault: new TypeError("a bug of ours"), retried: true },
    { fault: failedPrecondition("spec", "will never work"), retried: false },
    { fault: cancelled(), retried: false },
  ])("$fault.message: retried $retried", async ({ fault, retried }) => {
    let failures = 3;
    const seen: number[] = [];
    const fixture = setUp(async (_key, { retries }) => {
      seen.push(retries);
      if ((failures -= 1) >= 0) throw fault;
      return settled();
    });
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(10_000);
    expect(seen).toEqual(retried ? [0, 1, 2, 3] : [0]);
    expect([fixture.results("retried"), fixture.results("failed"), fixture.results("settled")]).toEqual(
      retried ? [3, 0, 1] : [0, 1, 0],
    );
    await fixture.controller.stop();
  });

  test("reconciles again after a terminal fault when the object changes", async () => {
    let broken = true;
    const fixture = setUp(async () => {
      if (broken) throw failedPrecondition("spec", "wrong");
      return settled();
    });
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(600_000);
    broken = false;
    fixture.change(key("a"));
    await fixture.time.advance(10);
    expect(fixture.reconciled).toHaveLength(2);
    await fixture.controller.stop();
  });

  test("honours the retry delay of a server", async () => {
    const at: number[] = [];
    const fixture = setUp(async () => {
      at.push(fixture.time.monotonic());
      if (at.length === 1) throw unavailable("server", "busy", { retryAfterMs: 30_000 });
      return settled();
    });
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(60_000);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(30_000);
    await fixture.controller.stop();
  });

  test("aborts and retries a reconcile that exceeds its deadline, whatever its library throws", async () => {
    const reasons: Fault[] = [];
    const fixture = setUp(
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
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(6_000);
    expect(reasons.map(({ kind }) => kind)).toEqual(["deadline-exceeded"]);
    expect(fixture.results("retried")).toBe(1);
    expect(fixture.reconciled).toHaveLength(2);
  });
});

test("reconciles different keys concurrently and one key serially", async () => {
  const inHand = new Set<string>();
  let most = 0;
  const fixture = setUp(
    async (each) => {
      expect(inHand.has(each.name)).toBe(false);
      inHand.add(each.name);
      most = Math.max(most, inHand.size);
      await sleep(fixture.timers, 100);
      inHand.delete(each.name);
      return settled();
    },
    { concurrency: 3 },
  );
  fixture.controller.start();
  for (let round = 0; round < 20; round += 1) {
    for (let i = 0; i < 5; i += 1) fixture.change(key(`k${i}`));
    await fixture.time.advance(30);
  }
  await fixture.time.advance(1_000);
  expect(most).toBe(3);
  expect(fixture.results("retried")).toBe(0);
  expect(new Set(fixture.reconciled).size).toBe(5);
  await fixture.controller.stop();
});

describe("with a queue smaller than the number of objects", () => {
  const setUpSmall = (count: number) => {
    const fixture: ReturnType<typeof setUp> = setUp(
      async () => {
        await sleep(fixture.timers, 1);
        return settled();
      },
      { concurrency: 1, queue: { limit: 10 } },
    );
    for (let i = 0; i < count; i += 1) fixture.existing.push(key(`k${i}`));
    return fixture;
  };

  test("fills the queue in batches until every object was reconciled about once", async () => {
    const fixture = setUpSmall(35);
    fixture.controller.start();
    await fixture.time.advance(1_000);
    expect(new Set(fixture.reconciled).size).toBe(35);
    expect(fixture.reconciled.length).toBeLessThan(40);
    expect(fixture.subscribers.size).toBe(1);
    await fixture.controller.stop();
    expect(fixture.subscribers.size).toBe(0);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("reconciles a change again that the full queue rejected, also of an object already reconciled", async () => {
    const fixture = setUpSmall(35);
    fixture.controller.start();
    await fixture.time.advance(3);
    const before = fixture.reconciled.filter((each) => each === "ns/k0").length;
    expect([before, fixture.controller.queueLength]).toEqual([1, expect.any(Number)]);
    // The queue is full again at the moment of this change.
    for (let i = 20; i < 35; i += 1) fixture.change(key(`k${i}`));
    fixture.change(key("k0"));
    await fixture.time.advance(1_000);
    expect(fixture.reconciled.filter((each) => each === "ns/k0").length).toBeGreaterThan(1);
    expect(new Set(fixture.reconciled).size).toBe(35);
    await fixture.controller.stop();
  });
});

describe("stopping", () => {
  const slow =
    (ms: number) =>
    (fixture: { timers: Parameters<typeof sleep>[0] }) =>
    async (_: ObjectKey, c: { signal: AbortSignal }) => {
      await sleep(fixture.timers, ms, c.signal);
      return settled();
    };

  test("waits for running work, accepts no more, and leaves nothing behind", async () => {
    const fixture: ReturnType<typeof setUp> = setUp((k, c) => slow(500)(fixture)(k, c), { concurrency: 1 });
    fixture.controller.start();
    fixture.change(key("a"));
    fixture.change(key("b"));
    await fixture.time.advance(100);
    const stopped = fixture.controller.stop(1_000);
    expect(fixture.subscribers.size).toBe(0);
    fixture.controller.enqueue(key("c"));
    await fixture.time.advance(500);
    await stopped;
    expect(fixture.reconciled).toEqual(["ns/a"]);
    expect(fixture.results("settled")).toBe(1);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test.each([
    { graceMs: 1_000, case: "after the grace period" },
    { graceMs: 0, case: "at once without a grace period" },
  ])("aborts running work $case and counts it as cancelled", async ({ graceMs }) => {
    const fixture: ReturnType<typeof setUp> = setUp((k, c) => slow(30_000)(fixture)(k, c));
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(100);
    const from = fixture.time.monotonic();
    const stopped = fixture.controller.stop(graceMs).then(() => fixture.time.monotonic() - from);
    await fixture.time.advance(graceMs);
    expect(await stopped).toBe(graceMs);
    expect([fixture.results("cancelled"), fixture.results("failed"), fixture.results("retried")]).toEqual([1, 0, 0]);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("stays stopped, and stops without having started", async () => {
    const fixture = setUp(async () => settled());
    await fixture.controller.stop();
    fixture.controller.start();
    fixture.change(key("a"));
    await fixture.time.advance(100);
    expect([fixture.reconciled, fixture.subscribers.size]).toEqual([[], 0]);
  });
});

test("starts two controllers on one meter at zero", () => {
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
