import { describe, expect, test } from "vitest";
import { loadAt, readLoad } from "./stated-load.ts";

const MINUTE_MS = 60_000;

describe("readLoad", () => {
  test.each([
    { text: "50", load: { least: 50, most: 50 } },
    { text: " 0.5 ", load: { least: 0.5, most: 0.5 } },
    { text: "20..300/10m", load: { least: 20, most: 300, periodMs: 10 * MINUTE_MS } },
    { text: "0..1/30s", load: { least: 0, most: 1, periodMs: 30_000 } },
    { text: "900000", load: { least: 100_000, most: 100_000 } },
    { text: "20..900000/1h", load: { least: 20, most: 100_000, periodMs: 60 * MINUTE_MS } },
  ])("reads $text", ({ text, load }) => {
    expect(readLoad(text)).toEqual(load);
  });

  test.each([
    undefined,
    "",
    "  ",
    "many",
    "-1",
    "1e9",
    "NaN",
    "Infinity",
    "300..20/10m",
    "20..300",
    "20..300/0m",
    "1/m",
  ])("ignores %s", (text) => {
    expect(readLoad(text)).toBeUndefined();
  });
});

describe("loadAt", () => {
  test.each([
    { minutes: 0, load: 20 },
    { minutes: 2.5, load: 160 },
    { minutes: 5, load: 300 },
    { minutes: 7.5, load: 160 },
    { minutes: 10, load: 20 },
    { minutes: 605, load: 300 },
  ])("follows the wave: $load after $minutes minutes", ({ minutes, load }) => {
    expect(loadAt({ least: 20, most: 300, periodMs: 10 * MINUTE_MS }, minutes * MINUTE_MS)).toBeCloseTo(load, 6);
  });

  test("keeps a constant", () => {
    expect(loadAt({ least: 7, most: 7 }, 12_345)).toBe(7);
  });
});
