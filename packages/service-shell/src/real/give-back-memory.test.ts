import { VirtualTime } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { giveBackMemory, ownMemory } from "./give-back-memory.ts";

const MIB = 2 ** 20;

/** Looks as often as there are shares of time in which the process was busy, and answers when memory was given back. */
async function givenBackAt(shares: readonly number[], heapMib = 20): Promise<number[]> {
  const time = new VirtualTime();
  const left = [...shares];
  const at: number[] = [];
  giveBackMemory({
    timers: time,
    busy: () => left.shift() ?? 1,
    heapBytes: () => heapMib * MIB,
    collect: () => void at.push(time.monotonic()),
  });
  await time.advance(60_000);
  return at;
}

test.each([
  { shares: [0.1, 0.1, 0.1], at: [2_000], why: "once, however quiet it stays" },
  { shares: [0.9, 0.5, 0.05], at: [6_000], why: "not while there is work" },
  { shares: [1, 1, 1], at: [], why: "never under load" },
])("memory is given back $why", async ({ shares, at }) => {
  expect(await givenBackAt(shares)).toEqual(at);
});

test("a heap that is in use is left alone", async () => {
  expect(await givenBackAt([0, 0], 200)).toEqual([]);
});

test("what nobody holds any more is collected in this process", () => {
  const own = ownMemory(new VirtualTime());
  const gone = new WeakRef(Array.from({ length: 1_000 }, (_, index) => ({ index })));
  own.collect();
  return new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
    own.collect();
    expect(gone.deref()).toBeUndefined();
    expect("gc" in globalThis).toBe(false);
    expect(own.busy()).toBeLessThanOrEqual(1);
    expect(own.heapBytes()).toBeGreaterThan(0);
  });
});
