import { describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";

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
});
