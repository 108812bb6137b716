import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cancelled } from "../faults/fault.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { Semaphore } from "./semaphore.ts";

async function flushMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe("semaphore", () => {
  test("grants permits in order, rejects when the queue is full, and skips aborted callers", async () => {
    const semaphore = new Semaphore({ name: "edge", permits: 1, maxWaiting: 2 });
    const release = await semaphore.acquire();
    const aborting = new AbortController();
    const order: string[] = [];
    const first = semaphore.acquire(aborting.signal).catch(() => order.push("aborted"));
    const second = semaphore.acquire().then((done) => {
      order.push("second");
      return done;
    });
    await expect(semaphore.acquire()).rejects.toMatchObject({
      detail: { kind: "resource-exhausted", limit: "edge" },
      message: "too many calls to edge: 1 are running and 2 are waiting",
    });
    aborting.abort(cancelled());
    await first;
    release();
    release();
    (await second)();
    expect(order).toEqual(["aborted", "second"]);
    expect([semaphore.running, semaphore.waiting]).toEqual([0, 0]);
  });

  test("rejects an aborted signal although a permit is free", async () => {
    const semaphore = new Semaphore({ name: "edge", permits: 1 });
    await expect(semaphore.run(AbortSignal.abort(), async () => "never")).rejects.toMatchObject({ kind: "cancelled" });
    expect(semaphore.running).toBe(0);
  });

  test("releases the permit of failed work", async () => {
    const semaphore = new Semaphore({ name: "edge", permits: 1 });
    await expect(semaphore.run(undefined, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await semaphore.run(undefined, async () => "next")).toBe("next");
  });

  test("never exceeds its permits and never loses one, for any order of acquire, release and abort", async () => {
    const steps = fc.array(fc.record({ act: fc.constantFrom("acquire", "release", "abort"), pick: fc.nat(20) }));
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (acts, permits) => {
        const semaphore = new Semaphore({ name: "edge", permits, maxWaiting: 100 });
        const held: (() => void)[] = [];
        const callers: AbortController[] = [];
        for (const { act, pick } of acts) {
          if (act === "acquire") {
            const caller = new AbortController();
            callers.push(caller);
            void semaphore.acquire(caller.signal).then(
              (release) => held.push(release),
              () => undefined,
            );
          } else if (act === "release") held.splice(pick % Math.max(1, held.length), 1)[0]?.();
          else callers[pick % Math.max(1, callers.length)]?.abort(cancelled());
          await flushMicrotasks();
          expect(held.length).toBeLessThanOrEqual(permits);
        }
        for (const caller of callers) caller.abort(cancelled());
        await flushMicrotasks();
        for (const release of held.splice(0)) release();
        for (let n = 0; n < permits; n += 1) await semaphore.acquire();
      }),
    );
  });
});

describe("keyed queue", () => {
  test("runs the work of one key in order, other keys at once, and keeps no state", async () => {
    const queue = new KeyedQueue();
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = queue.run("a", undefined, async () => {
      await gate.promise;
      order.push("a1");
      throw new Error("broken");
    });
    const second = queue.run("a", undefined, async () => void order.push("a2"));
    await queue.run("b", undefined, async () => void order.push("b1"));
    gate.resolve();
    await expect(first).rejects.toThrow("broken");
    await second;
    expect(order).toEqual(["b1", "a1", "a2"]);
    expect(queue.size).toBe(0);
  });

  test("limits the work per key to its permits", async () => {
    const queue = new KeyedQueue(2);
    const started: string[] = [];
    const finish: (() => void)[] = [];
    const start = (key: string, name: string) =>
      queue.run(key, undefined, () => {
        started.push(name);
        return new Promise<void>((resolve) => void finish.push(resolve));
      });
    const all = [start("x", "1"), start("x", "2"), start("x", "3"), start("x", "4"), start("y", "5")];
    await flushMicrotasks();
    expect(started).toEqual(["1", "2", "5"]);
    finish[0]?.();
    await all[0];
    await flushMicrotasks();
    expect(started).toEqual(["1", "2", "5", "3"]);
    for (const end of finish) end();
    await all[2];
    await flushMicrotasks();
    expect(started.at(-1)).toBe("4");
    finish.at(-1)?.();
    await Promise.all(all);
  });

  test("an aborted caller leaves the queue; later callers still wait for earlier ones", async () => {
    const queue = new KeyedQueue();
    const gate = Promise.withResolvers<void>();
    const aborting = new AbortController();
    const order: string[] = [];
    const first = queue.run("a", undefined, async () => {
      await gate.promise;
      order.push("first");
    });
    const aborted = queue.run("a", aborting.signal, async () => void order.push("never"));
    const last = queue.run("a", undefined, async () => void order.push("last"));
    aborting.abort(cancelled());
    await expect(aborted).rejects.toMatchObject({ kind: "cancelled" });
    expect(order).toEqual([]);
    gate.resolve();
    await Promise.all([first, last]);
    expect(order).toEqual(["first", "last"]);
  });

  test("passes a permit on when its next owner aborts at the same moment", async () => {
    const queue = new KeyedQueue();
    const gate = Promise.withResolvers<void>();
    const first = queue.run("x", undefined, () => gate.promise);
    const aborting = new AbortController();
    const aborted = queue.run("x", aborting.signal, async () => "never");
    const next = queue.run("x", undefined, async () => "served");
    gate.resolve();
    aborting.abort();
    await expect(aborted).rejects.toMatchObject({ kind: "cancelled" });
    await first;
    expect(await next).toBe("served");
    expect(queue.size).toBe(0);
  });
});
