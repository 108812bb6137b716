import { describe, expect, test } from "vitest";
import { sleep, timestamp } from "../time/time.ts";
import { randomInt } from "../time/ambient.ts";
import { virtualAmbient, VirtualTime } from "./index.ts";

describe("VirtualTime", () => {
  test("fires in order of due time, ties in the order of scheduling", async () => {
    const time = new VirtualTime(0);
    const fired: string[] = [];
    time.after(20, () => fired.push(`b@${time.now()}`));
    time.after(10, () => fired.push(`a@${time.now()}`));
    time.after(20, () => fired.push(`c@${time.now()}`));
    await time.advance(15);
    expect(fired).toEqual(["a@10"]);
    await time.advance(5);
    expect(fired).toEqual(["a@10", "b@20", "c@20"]);
  });

  test("fires a due timer that another timer scheduled in the same advance", async () => {
    const time = new VirtualTime(0);
    const fired: number[] = [];
    const tick = (): void => {
      fired.push(time.monotonic());
      if (fired.length < 3) time.after(10, tick);
    };
    time.after(10, tick);
    await time.advance(100);
    expect(fired).toEqual([10, 20, 30]);
    expect(time.monotonic()).toBe(100);
  });

  test("promises settled by one timer run before the next fires", async () => {
    const time = new VirtualTime(0);
    const fired: string[] = [];
    void sleep(time, 10).then(() => fired.push("woken"));
    time.after(11, () => fired.push("timer"));
    await time.advance(20);
    expect(fired).toEqual(["woken", "timer"]);
  });

  test("runs a chain of promises to its end before the next timer fires", async () => {
    const time = new VirtualTime(0);
    const fired: string[] = [];
    const chain = async (): Promise<void> => {
      for (let turn = 0; turn < 10_000; turn += 1) await Promise.resolve();
      fired.push(`chain@${time.monotonic()}`);
    };
    time.after(10, () => void chain());
    time.after(11, () => fired.push("timer"));
    await time.advance(10);
    expect(fired).toEqual(["chain@10"]);
    await time.step();
    expect(fired).toEqual(["chain@10", "timer"]);
  });

  test("runs pending promises before time advances", async () => {
    const time = new VirtualTime(0);
    let at = -1;
    void (async () => {
      for (let turn = 0; turn < 1_000; turn += 1) await Promise.resolve();
      at = time.monotonic();
    })();
    time.after(0, () => undefined);
    await time.advance(100);
    expect(at).toBe(0);
  });

  test("rejects a timer without delay that schedules itself forever", async () => {
    const time = new VirtualTime(0);
    const again = (): void => void time.after(0, again);
    time.after(5, again);
    await expect(time.advance(10)).rejects.toThrow(/timers fired at 5 ms.*schedules itself forever/);
  });

  test("accepts many timers at one instant", async () => {
    const time = new VirtualTime(0);
    let fired = 0;
    for (let index = 0; index < 2_000; index += 1) time.after(5, () => void (fired += 1));
    await time.advance(10);
    expect(fired).toBe(2_000);
  });

  test("a jump of the wall clock does not affect the monotonic clock and the timers", async () => {
    const time = new VirtualTime(0);
    let fired = false;
    time.after(10, () => (fired = true));
    time.jump(1_000_000);
    await time.advance(9);
    expect(fired).toBe(false);
    expect(time.now()).toBe(1_000_009);
    expect(timestamp(time.now())).toBe("1970-01-01T00:16:40.009Z");
  });

  test("sleep rejects with the signal's reason and cancels its timer", async () => {
    const time = new VirtualTime(0);
    const caller = new AbortController();
    const nap = expect(sleep(time, 100, caller.signal)).rejects.toThrow("enough");
    caller.abort(new Error("enough"));
    await nap;
    await expect(sleep(time, 100, caller.signal)).rejects.toThrow("enough");
    expect(time.pendingTimers).toBe(0);
  });
});

describe("seeded ambient", () => {
  test("repeats a run with the same seed only", () => {
    const draw = (seed: number): string => {
      const { random, ids } = virtualAmbient(seed);
      return [random.next(), random.next(), randomInt(random, 1000), ids.uuid(), ids.uuid()].join();
    };
    expect(draw(42)).toBe(draw(42));
    expect(draw(42)).not.toBe(draw(43));
  });

  test("ids are unique UUIDs of version 4", () => {
    const { ids } = virtualAmbient(1);
    const made = Array.from({ length: 1000 }, () => ids.uuid());
    expect(new Set(made).size).toBe(1000);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("random numbers are uniform", () => {
    const { random } = virtualAmbient(3);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i += 1) buckets[randomInt(random, 10)]! += 1;
    for (const count of buckets) expect(count).toBeGreaterThan(850);
  });
});
