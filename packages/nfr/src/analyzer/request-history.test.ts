import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addRequests, countRequests, type RequestCounts } from "./request-history.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The end of an hour. */
const END = 1_000_000 * HOUR;

/** One sample per step up to the end, with constant rates. */
function ratesOf(lengthMs: number, stepMs: number, rps: number, bad: number, endMs = END) {
  const count = lengthMs / stepMs;
  const times = Array.from({ length: count }, (_, index) => endMs - (count - 1 - index) * stepMs);
  return { requests: { times, values: times.map(() => rps) }, bad: { times, values: times.map(() => bad) }, stepMs };
}

describe("request history", () => {
  it("counts the requests of each window", () => {
    const counts = addRequests(undefined, ratesOf(72 * HOUR, 5 * MINUTE, 2, 0.5));
    expect(counts).toBeDefined();
    for (const windowMs of [30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 24 * HOUR, 72 * HOUR]) {
      const seconds = windowMs / 1000;
      expect(countRequests(counts as RequestCounts, END, windowMs)).toEqual({ total: 2 * seconds, bad: 0.5 * seconds });
    }
  });

  it("is bounded, whatever is added", () => {
    let counts: RequestCounts | undefined;
    for (let hour = 0; hour < 200; hour += 1) {
      counts = addRequests(counts, ratesOf(HOUR, 5 * MINUTE, 1, 0, END + hour * HOUR));
    }
    expect(counts?.fine.total.length).toBe(73);
    expect(counts?.coarse.total.length).toBe(73);
    expect(countRequests(counts as RequestCounts, END + 199 * HOUR, 72 * HOUR).total).toBe(72 * 3600);
  });

  it("counts overlapping ranges once", () => {
    const once = addRequests(undefined, ratesOf(10 * MINUTE, MINUTE / 2, 3, 1));
    expect(addRequests(once, ratesOf(10 * MINUTE, MINUTE / 2, 3, 1))).toBe(once);
    const later = addRequests(once, ratesOf(10 * MINUTE, MINUTE / 2, 3, 1, END + MINUTE / 2));
    expect(countRequests(later as RequestCounts, END + MINUTE / 2, HOUR)).toEqual({ total: 1890, bad: 630 });
  });

  it("is filled from older data afterwards", () => {
    const recent = addRequests(undefined, ratesOf(10 * MINUTE, MINUTE / 2, 3, 0));
    const filled = addRequests(recent, ratesOf(24 * HOUR, 5 * MINUTE, 1, 0));
    // Ten minutes with 3 per second, the rest of the day with 1 per second.
    expect(countRequests(filled as RequestCounts, END, 24 * HOUR).total).toBe(1800 + 24 * 3600 - 600);
    expect(addRequests(filled, ratesOf(24 * HOUR, 5 * MINUTE, 1, 0))).toBe(filled);
  });

  it("ignores steps without a sample of bad requests", () => {
    const rates = ratesOf(10 * MINUTE, MINUTE / 2, 3, 0);
    expect(addRequests(undefined, { ...rates, bad: { times: [], values: [] } })).toBeUndefined();
  });

  it("never counts more bad requests than requests", () => {
    const rate = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 4000 }), rate, rate), { maxLength: 30 }), (steps) => {
        let atMs = END - 72 * HOUR;
        const times: number[] = [];
        for (const [minutes] of steps) times.push((atMs += minutes * MINUTE));
        const requests = { times, values: steps.map(([, rps]) => rps) };
        const bad = { times, values: steps.map(([, , errors]) => errors) };
        const counts = addRequests(undefined, { requests, bad, stepMs: 5 * MINUTE });
        if (counts === undefined) return;
        for (const windowMs of [30 * MINUTE, 6 * HOUR, 72 * HOUR]) {
          const sums = countRequests(counts, atMs, windowMs);
          expect(sums.bad).toBeLessThanOrEqual(sums.total + 0.02 * 73);
          expect(sums.bad).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});
