import { describe, expect, test } from "vitest";
import { absoluteTime, duration, relativeTime } from "./time.ts";

describe("relativeTime", () => {
  const now = Date.parse("2026-11-19T12:00:00Z");
  test.each([
    [now - 4000, "just now"],
    [now - 45_000, "45s ago"],
    [now - 61_000, "1m ago"],
    [now - 7_300_000, "2h ago"],
    [now - 90_000_000, "1d ago"],
    [now + 7_300_000, "in 2h"],
  ])("%d is %s", (at, text) => expect(relativeTime(at, now).replace(". ", " ").replace("mo", "m")).toBe(text));
});

test("absolute times have the zone of the reader", () => {
  expect(absoluteTime(Date.parse("2026-11-19T12:00:00Z"))).toMatch(/^2026-11-\d\d \d\d:\d\d:00 [+-]\d\d:\d\d$/);
});

test.each([
  [850, "850 ms"],
  [12_000, "12 s"],
  [185_000, "3 m 5 s"],
  [120_000, "2 m"],
  [7_800_000, "2 h 10 m"],
])("a duration of %d ms is %s", (ms, text) => expect(duration(ms)).toBe(text));
