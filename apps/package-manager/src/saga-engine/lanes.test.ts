import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Lanes } from "./lanes.ts";
import { RetryBudget } from "./retry-budget.ts";

const never = new AbortController().signal;

describe("lanes", () => {
  test("bound the work on one target, in order, and let others pass", async () => {
    const lanes = new Lanes(2);
    const began: string[] = [];
    const ends: (() => void)[] = [];
    const work = (lane: string, name: string, signal = never) =>
      lanes.run(lane, signal, () => {
        began.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = [work("x", "1"), work("x", "2"), work("x", "3"), work("x", "4"), work("y", "5")];
    await setImmediate();
    expect(began).toEqual(["1", "2", "5"]);
    ends[0]?.();
    await all[0];
    await setImmediate();
    expect(began).toEqual(["1", "2", "5", "3"]);
    for (const end of ends) end();
    await all[2];
    await setImmediate();
    expect(began.at(-1)).toBe("4");
    ends.at(-1)?.();
    await Promise.all(all);
  });

  test("who gives up waiting takes no place, and one given in the same moment goes on to the next", async () => {
    const lanes = new Lanes(1);
    const first = Promise.withResolvers<void>();
    const held = lanes.run("x", never, () => first.promise);
    const patience = new AbortController();
    const quitter = lanes.run("x", patience.signal, async () => "never");
    const patient = lanes.run("x", never, async () => "served");
    first.resolve();
    patience.abort();
    await expect(quitter).rejects.toMatchObject({ kind: "cancelled" });
    await held;
    expect(await patient).toBe("served");
    expect(await lanes.run("x", never, async () => "free again")).toBe("free again");
  });
});

describe("the retry budget", () => {
  test("allows a burst, then a share of the work, per target", () => {
    const budget = new RetryBudget({ ratio: 0.5, burst: 2 });
    expect([1, 2, 3].map(() => budget.spend("a"))).toEqual([true, true, false]);
    expect(budget.spend("b")).toBe(true);
    budget.earn("a");
    expect(budget.spend("a")).toBe(false);
    budget.earn("a");
    expect(budget.spend("a")).toBe(true);
  });
});
