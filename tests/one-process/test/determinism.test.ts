import { sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";
import { runSeed } from "../src/one-process-cluster.ts";

describe("server, client and informers in one process", () => {
  test("the same seed gives the same trace, byte for byte; another seed another", async () => {
    const traces = new Set<string>();
    const seeds = sweepSize(100, 1000);
    for (let seed = 1; seed <= seeds; seed += 1) {
      const trace = await runSeed(seed);
      expect(await runSeed(seed), `seed ${seed}`).toBe(trace);
      traces.add(trace);
    }
    expect(traces.size).toBe(seeds);
  });
});
