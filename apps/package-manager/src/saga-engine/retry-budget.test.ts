import { describe, expect, test } from "vitest";
import { RetryBudget } from "./retry-budget.ts";

describe("the retry budget", () => {
  test("allows a burst, then a share of the first attempts, per target", () => {
    const budget = new RetryBudget({ ratio: 0.5, burst: 2 });
    expect([1, 2, 3].map(() => budget.spend("a"))).toEqual([true, true, false]);
    expect(budget.spend("b")).toBe(true);
    budget.earn("a");
    expect(budget.spend("a")).toBe(false);
    budget.earn("a");
    expect(budget.spend("a")).toBe(true);
  });
});
