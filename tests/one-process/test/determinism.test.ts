import { sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";
import { runScenario } from "../src/seeded-scenario.ts";

describe("a cluster in one process on virtual time", () => {
  const seeds = sweepSize(100, 1000);

  test(
    "produces the same trace for the same seed and converges",
    async () => {
      const traces = new Set<string>();
      for (let seed = 1; seed <= seeds; seed += 1) {
        const { trace, phases, expected } = await runScenario(seed);
        expect((await runScenario(seed)).trace === trace, `seed ${seed} is deterministic`).toBe(true);
        expect(phases, `seed ${seed}`).toEqual(Object.fromEntries(expected.map((name) => [name, "available"])));
        traces.add(trace);
      }
      expect(traces.size).toBe(seeds);
    },
    sweepSize(600_000, 3_600_000),
  );
});
