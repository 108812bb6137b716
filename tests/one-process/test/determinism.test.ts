import { sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";
import { tellStory } from "../src/seeded-story.ts";

describe("server, workloads, client, informers and class runtime manager in one process, on virtual time", () => {
  const seeds = sweepSize(100, 1000);

  test(
    "the same seed gives the same trace, byte for byte, another seed another; in the end all that is asked for is available",
    async () => {
      const traces = new Set<string>();
      for (let seed = 1; seed <= seeds; seed += 1) {
        const { trace, phases, asked } = await tellStory(seed);
        expect((await tellStory(seed)).trace === trace, `seed ${seed} tells the same twice`).toBe(true);
        expect(phases, `seed ${seed}`).toEqual(Object.fromEntries(asked.map((name) => [name, "available"])));
        traces.add(trace);
      }
      expect(traces.size).toBe(seeds);
    },
    sweepSize(600_000, 3_600_000),
  );
});
