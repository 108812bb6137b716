import { describe, expect, it } from "vitest";
import { eventually, pauseAfter } from "./eventually.ts";

describe("eventually", () => {
  it("returns the first result that is not false", async () => {
    let calls = 0;
    expect(await eventually(() => (calls += 1) >= 3 && calls)).toBe(3);
  });

  it("retries a probe that throws", async () => {
    let calls = 0;
    await eventually(() => {
      calls += 1;
      expect(calls).toBe(3);
    });
    expect(calls).toBe(3);
  });

  it("tries at least once, then fails with the last error", async () => {
    const timedOut = eventually(() => Promise.reject(new Error("still 2 pods")), { timeoutMs: 0, what: "three pods" });
    await expect(timedOut).rejects.toThrow(/three pods was not reached within 0 ms; last: still 2 pods/);
    await expect(eventually(() => true, { timeoutMs: 0 })).resolves.toBe(true);
  });

  it.each([
    { why: "a cheap attempt at the start", attemptMs: 1, waitedMs: 1, pauseMs: 20 },
    { why: "an attempt that starts a process", attemptMs: 100, waitedMs: 100, pauseMs: 200 },
    { why: "a long wait", attemptMs: 1, waitedMs: 1_500, pauseMs: 150 },
    { why: "the upper limit", attemptMs: 30_000, waitedMs: 60_000, pauseMs: 250 },
  ])("pauses $pauseMs ms after $why", ({ attemptMs, waitedMs, pauseMs }) => {
    expect(pauseAfter({ attemptMs, waitedMs })).toBe(pauseMs);
  });
});
