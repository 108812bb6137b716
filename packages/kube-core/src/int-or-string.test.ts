import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isIntOrString, scaledCount } from "./int-or-string.ts";

test.each([
  { value: 1, is: true },
  { value: "25%", is: true },
  { value: "http", is: true },
  { value: 1.5, is: false },
  { value: 2 ** 31, is: false },
  { value: Number.NaN, is: false },
  { value: null, is: false },
  { value: undefined, is: false },
])("$value: $is", ({ value, is }) => {
  expect(isIntOrString(value)).toBe(is);
});

describe("scaling", () => {
  test.each([
    { value: 3, total: 10, up: 3, down: 3, case: "number" },
    { value: "25%", total: 10, up: 3, down: 2, case: "percentage is rounded" },
    { value: "30%", total: 10, up: 3, down: 3, case: "whole result is not rounded" },
    { value: "0%", total: 10, up: 0, down: 0, case: "zero" },
    { value: "100%", total: 3, up: 3, down: 3, case: "the total" },
    { value: "150%", total: 3, up: 5, down: 4, case: "more than 100 %" },
    { value: "7%", total: 100, up: 7, down: 7, case: "no floating-point error" },
    { value: "1%", total: 0, up: 0, down: 0, case: "percentage of zero" },
  ])("$value of $total: $case", ({ value, total, up, down }) => {
    expect(scaledCount(value, total, "up")).toEqual({ ok: true, value: up });
    expect(scaledCount(value, total, "down")).toEqual({ ok: true, value: down });
  });

  test.each(["", "%", "25", "-5%", "2.5%", "25%%", " 25%", "25 %", "x%", 1.5])("refuses %j", (value) => {
    expect(scaledCount(value, 10, "up")).toMatchObject({
      ok: false,
      error: { path: "$", message: expect.stringContaining(String(value)) },
    });
  });

  test("rounds up to the smallest count not below the share, down to the largest not above it", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(100_000), (percent, total) => {
        const up = scaledCount(`${percent}%`, total, "up");
        const down = scaledCount(`${percent}%`, total, "down");
        if (!up.ok || !down.ok) throw new Error("refused");
        expect(up.value * 100).toBeGreaterThanOrEqual(percent * total);
        expect((up.value - 1) * 100).toBeLessThan(percent * total);
        expect(down.value * 100).toBeLessThanOrEqual(percent * total);
        expect((down.value + 1) * 100).toBeGreaterThan(percent * total);
      }),
    );
  });
});
