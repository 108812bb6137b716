import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffDelay, DEFAULT_BACKOFF, retry } from "./backoff.ts";
import { notFound, unavailable } from "../faults/fault.ts";
import { seededRandom, virtualAmbient } from "../virtual/index.ts";

test("keeps the delay within the jitter range and below the cap", () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(), (attempt, seed) => {
      const delay = backoffDelay(DEFAULT_BACKOFF, attempt, seededRandom(seed));
      const full = Math.min(DEFAULT_BACKOFF.capMs, DEFAULT_BACKOFF.baseMs * 2 ** Math.min(attempt, 64));
      return delay <= full && delay >= full * (1 - DEFAULT_BACKOFF.jitter);
    }),
  );
});

describe("retry", () => {
  test("repeats a retryable fault until it succeeds", async () => {
    const { time, timers, random } = virtualAmbient(7);
    const waits: number[] = [];
    const work = retry({ timers, random, retries: 5, onRetry: (_f, _a, delay) => waits.push(delay) }, (attempt) =>
      attempt < 3 ? Promise.reject(unavailable("crm", "down")) : Promise.resolve(attempt),
    );
    while (await time.step());
    expect(await work).toBe(3);
    expect(waits).toHaveLength(3);
  });

  test("throws a fault that is not retryable immediately", async () => {
    const { time, timers, random } = virtualAmbient(7);
    let tries = 0;
    await expect(
      retry({ timers, random, retries: 5 }, () => {
        tries += 1;
        return Promise.reject(notFound("package", "a"));
      }),
    ).rejects.toMatchObject({ kind: "not-found" });
    expect(tries).toBe(1);
    expect(time.pendingTimers).toBe(0);
  });

  test("throws the last fault after the last attempt", async () => {
    const { time, timers, random } = virtualAmbient(7);
    let tries = 0;
    const work = expect(
      retry({ timers, random, retries: 2 }, () => {
        tries += 1;
        return Promise.reject(unavailable("crm", `try ${tries}`));
      }),
    ).rejects.toThrow("try 3");
    while (await time.step());
    await work;
  });

  test("waits at least the requested retryAfterMs", async () => {
    const { time, timers, random } = virtualAmbient(7);
    const waits: number[] = [];
    const work = retry({ timers, random, retries: 1, onRetry: (_f, _a, delay) => waits.push(delay) }, (attempt) =>
      attempt === 0 ? Promise.reject(unavailable("crm", "busy", { retryAfterMs: 5000 })) : Promise.resolve("ok"),
    );
    while (await time.step());
    await work;
    expect(waits).toEqual([5000]);
  });

  test("stops waiting on abort", async () => {
    const { time, timers, random } = virtualAmbient(7);
    const caller = new AbortController();
    const work = expect(
      retry({ timers, random, retries: 9, signal: caller.signal }, () => Promise.reject(unavailable("crm", "down"))),
    ).rejects.toThrow();
    await time.advance(10);
    caller.abort(unavailable("caller", "gone"));
    await work;
    expect(time.pendingTimers).toBe(0);
  });
});
