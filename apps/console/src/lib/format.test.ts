import { expect, test } from "vitest";
import { bytes, downtimeMs, inline, measured, money, percent } from "./format.ts";

test.each([
  [1, "100 %"],
  [0.999, "99.9 %"],
  [0.9999, "99.99 %"],
  [0.95, "95 %"],
  [0.999441, "99.944 %"],
  [0, "0 %"],
])("%d is %s", (ratio, text) => expect(percent(ratio)).toBe(text));

test("three nines allow 43 minutes of downtime in 30 days", () => {
  expect(Math.round(downtimeMs(0.999) / 60_000)).toBe(43);
});

test("formats sizes, prices and measurements", () => {
  expect([bytes(50_331_648), bytes(12), money(147.456, "EUR")]).toEqual(["48 MiB", "12 B", "147.46 EUR"]);
  expect([measured(0.5, "ratio"), measured(12.345, "rps"), measured(88, "ms")]).toEqual([
    "50 %",
    "12.3 req/s",
    "88 ms",
  ]);
});

test("shortens long values", () => {
  expect(inline({ a: "x".repeat(300) }, 20)).toHaveLength(20);
});
