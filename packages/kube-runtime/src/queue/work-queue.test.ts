import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DueHeap } from "./due-heap.ts";
import { FairQueue } from "./fair-queue.ts";
import { PRIORITY, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function setUp(options: Partial<WorkQueueOptions<string>> = {}, seed = 1) {
  const { time, clock, timers, random } = virtualAmbient(seed);
  const queue = new WorkQueue<string>({ clock, timers, random, ...options });
  const takeNow = async (): Promise<string | undefined> => {
    const state: { key?: string } = {};
    void queue.take().then((taken) => {
      if (taken) state.key = taken.key;
    });
    await time.advance(0);
    return state.key;
  };
  return { time, queue, takeNow };
}

describe("one key, one worker", () => {
  test("hands out a key once that was added several times", async () => {
    const { queue, takeNow } = setUp();
    queue.add("a");
    queue.add("a");
    queue.add("b");
    expect([await takeNow(), await takeNow()]).toEqual(["a", "b"]);
    expect(queue.length).toBe(0);
  });

  test("hands out a key again after done when it was added during work", async () => {
    const { queue } = setUp();
    queue.add("a");
    expect((await queue.take())?.key).toBe("a");
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    queue.done("a");
    expect((await queue.take())?.key).toBe("a");
    queue.done("a");
    expect(queue.length + queue.working).toBe(0);
  });

  test("hands a key to a waiting worker as soon as it is added", async () => {
    const { queue } = setUp();
    const taken = queue.take();
    queue.add("a", { priority: 3 });
    expect(await taken).toEqual({ key: "a", priority: 3, waitedMs: 0 });
  });
});

describe("order", () => {
  test("orders by priority; a raised key moves forward and is not handed out twice", async () => {
    const { queue, takeNow } = setUp();
    queue.add("resync", { priority: PRIORITY.low });
    queue.add("routine");
    queue.add("late", { priority: PRIORITY.low });
    queue.add("user", { priority: PRIORITY.high });
    queue.add("late", { priority: PRIORITY.high });
    expect([await takeNow(), await takeNow(), await takeNow(), await takeNow(), await takeNow()]).toEqual([
      "user",
      "late",
      "routine",
      "resync",
      undefined,
    ]);
  });

  test("serves namespaces round-robin", async () => {
    const { queue, takeNow } = setUp({ groupOf: (key) => key.split("/")[0]! });
    for (const key of ["big/1", "big/2", "big/3", "big/4", "small/1", "other/1"]) queue.add(key);
    const order = [];
    for (let i = 0; i < 6; i += 1) order.push(await takeNow());
    expect(order).toEqual(["big/1", "small/1", "other/1", "big/2", "big/3", "big/4"]);
  });
});

describe("delays", () => {
  test("delays a key; the earliest of several delays counts", async () => {
    const { queue, time, takeNow } = setUp();
    queue.add("a", { afterMs: 1000 });
    queue.add("a", { afterMs: 100 });
    queue.add("a", { afterMs: 500 });
    await time.advance(98);
    expect(queue.length).toBe(0);
    await time.advance(2);
    expect(await takeNow()).toBe("a");
    queue.done("a");
    await time.advance(2000);
    expect(queue.length).toBe(0);
  });

  test("does not hand out a key a third time for the delay when it was added during work", async () => {
    const { queue, time, takeNow } = setUp();
    queue.add("a");
    await takeNow();
    queue.add("a");
    queue.add("a", { afterMs: 1000 });
    queue.done("a");
    expect(await takeNow()).toBe("a");
    queue.done("a");
    await time.advance(5000);
    expect(queue.length + queue.delayed).toBe(0);
  });

  test("an immediate add cancels the pending delay", async () => {
    const { queue, time, takeNow } = setUp();
    queue.add("a", { afterMs: 1000 });
    queue.add("a");
    expect(await takeNow()).toBe("a");
    queue.done("a");
    await time.advance(5000);
    expect(queue.length + queue.delayed).toBe(0);
  });

  test("backs off retries of one key until it is forgotten", async () => {
    const { queue, time } = setUp({ backoff: { baseMs: 100, capMs: 1000, factor: 2, jitter: 0 } });
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const from = time.monotonic();
      queue.retry("a");
      while (queue.length === 0) await time.step();
      waits.push(time.monotonic() - from);
      await queue.take();
      queue.done("a");
    }
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(queue.retriesOf("a")).toBe(6);
    queue.forget("a");
    expect(queue.retriesOf("a")).toBe(0);
  });

  test("limits the retries of many keys by the overall rate", async () => {
    const { queue, time } = setUp({
      overallRate: { perSecond: 10, burst: 5 },
      backoff: { baseMs: 1, capMs: 1, factor: 1, jitter: 0 },
    });
    for (let i = 0; i < 25; i += 1) queue.retry(`k${i}`);
    await time.advance(50);
    expect(queue.length).toBe(5);
    await time.advance(1000);
    expect(queue.length).toBe(15);
    await time.advance(1000);
    expect(queue.length).toBe(25);
  });
});

describe("bounds", () => {
  test("rejects keys beyond the limit and calls back when it has room again", async () => {
    let room = 0;
    const { queue, time, takeNow } = setUp({ limit: 4, onRoom: () => (room += 1) });
    for (let i = 0; i < 10; i += 1) queue.add(`k${i}`);
    expect(queue.length).toBe(4);
    await takeNow();
    await time.advance(1);
    expect(room).toBe(0);
    await takeNow();
    await time.advance(1);
    expect(room).toBe(1);
  });
});

describe("memory", () => {
  test("keys that are delayed and recalled forever leave nothing behind", () => {
    const heap = new DueHeap<string>();
    for (let i = 0; i < 100_000; i += 1) {
      heap.set(`k${i % 10}`, 3_600_000 + i);
      heap.delete(`k${i % 10}`);
    }
    expect(heap.heldEntries).toBeLessThan(200);
    for (let i = 0; i < 100_000; i += 1) heap.set("k", 1_000_000 - i);
    expect(heap.heldEntries).toBeLessThan(200);
    expect(heap.takeDue(2_000_000)).toBe("k");
    expect(heap.takeDue(2_000_000)).toBeUndefined();
  });

  test("keys that are raised while higher ones never end leave nothing behind and are not lost", () => {
    const queue = new FairQueue<string>((key) => key);
    queue.add("patient", PRIORITY.low);
    for (let i = 0; i < 100_000; i += 1) {
      queue.add(`k${i % 10}`, PRIORITY.low);
      queue.add(`k${i % 10}`, PRIORITY.high);
      expect(queue.take()?.key).toBe(`k${i % 10}`);
    }
    expect(queue.heldTickets).toBeLessThan(3_000);
    expect(queue.take()?.key).toBe("patient");
    expect(queue.take()).toBeUndefined();
    expect(queue.heldTickets).toBe(0);
  });

  test("property: the heap returns keys by time after any sets, changes and deletes", () => {
    const step = fc.tuple(fc.nat(8), fc.nat(100), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const heap = new DueHeap<number>();
        const model = new Map<number, number>();
        for (const [key, dueAt, isDelete] of steps) {
          if (isDelete) {
            heap.delete(key);
            model.delete(key);
          } else {
            heap.set(key, dueAt);
            model.set(key, Math.min(dueAt, model.get(key) ?? dueAt));
          }
          expect(heap.nextDueAt()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
        }
        const out: number[] = [];
        for (let key = heap.takeDue(1000); key !== undefined; key = heap.takeDue(1000)) out.push(model.get(key)!);
        expect(out).toEqual([...model.values()].toSorted((a, b) => a - b));
      }),
    );
  });
});

describe("stopping", () => {
  test("does not call back after an overflow once stopped", async () => {
    let room = 0;
    const { queue, time } = setUp({ limit: 2, onRoom: () => (room += 1) });
    for (let i = 0; i < 5; i += 1) queue.add(`k${i}`);
    const first = await queue.take();
    queue.done(first!.key);
    const stopped = queue.stop();
    await time.advance(10);
    await stopped;
    expect([room, time.pendingTimers, queue.length]).toEqual([0, 0, 0]);
  });

  test("stop wakes waiting workers, waits for running work and hands out nothing more", async () => {
    const { queue, time } = setUp();
    queue.add("a");
    await queue.take();
    const idleWorker = queue.take();
    let stopped = false;
    const stop = queue.stop().then(() => (stopped = true));
    expect(await idleWorker).toBeUndefined();
    queue.add("b");
    await time.advance(10);
    expect(stopped).toBe(false);
    queue.done("a");
    await stop;
    expect(await queue.take()).toBeUndefined();
    expect(time.pendingTimers).toBe(0);
  });
});

test("property: never two workers on one key, and every added key is processed after its last add", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.nat(5), priority: fc.integer({ min: -2, max: 2 }) }),
    fc.record({ do: fc.constant("later" as const), key: fc.nat(5), afterMs: fc.nat(50) }),
    fc.record({ do: fc.constant("retry" as const), key: fc.nat(5) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("done" as const), pick: fc.nat(5) }),
    fc.record({ do: fc.constant("pass" as const), ms: fc.nat(40) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.nat(), async (steps, seed) => {
      const { queue, time } = setUp({ groupOf: (key) => String(Number(key.slice(1)) % 2) }, seed);
      const inHand: string[] = [];
      const owed = new Set<string>();
      const take = async (): Promise<boolean> => {
        if (queue.length === 0) return false;
        const { key } = (await queue.take())!;
        expect(inHand).not.toContain(key);
        inHand.push(key);
        owed.delete(key);
        return true;
      };
      for (const action of steps) {
        if (action.do === "take") await take();
        else if (action.do === "pass") await time.advance(action.ms);
        else if (action.do === "done") {
          const [key] = inHand.splice(action.pick % Math.max(1, inHand.length), 1);
          if (key !== undefined) queue.done(key);
        } else {
          const key = `k${action.key}`;
          owed.add(key);
          if (action.do === "add") queue.add(key, { priority: action.priority });
          else if (action.do === "later") queue.add(key, { afterMs: action.afterMs });
          else queue.retry(key);
        }
      }
      for (let round = 0; round < 200 && (owed.size > 0 || inHand.length > 0); round += 1) {
        for (const key of inHand.splice(0)) queue.done(key);
        while (await take());
        await time.advance(10_000);
      }
      expect([...owed]).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
