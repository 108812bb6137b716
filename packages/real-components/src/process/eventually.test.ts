import { describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";

describe("eventually", () => {
  it("returns the first answer that is not false", async () => {
    let calls = 0;
    expect(await eventually(() => (calls += 1) >= 3 && calls)).toBe(3);
  });

  it("takes a probe that throws as not yet, so that assertions can be probes", async () => {
    let calls = 0;
    await eventually(() => {
      calls += 1;
      expect(calls).toBe(3);
    });
    expect(calls).toBe(3);
  });

  it("tries at least once, then says what did not come about and why", async () => {
    const hopeless = eventually(() => Promise.reject(new Error("still 2 pods")), { timeoutMs: 0, what: "three pods" });
    await expect(hopeless).rejects.toThrow(/three pods did not come about within 0 ms; last: still 2 pods/);
    await expect(eventually(() => true, { timeoutMs: 0 })).resolves.toBe(true);
  });
});
