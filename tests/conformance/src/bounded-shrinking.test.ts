import fc from "fast-check";
import { expect, it } from "vitest";
import { boundedShrinking } from "../fuzz/fuzz.ts";
import type { Sequence } from "../fuzz/operations.ts";

/** Long sequences with much to shrink. */
const sequences = fc.array(fc.nat(), { minLength: 30, maxLength: 60 }).map((numbers): Sequence => ({
  operations: numbers.map((number) => ({
    op: "get",
    kind: "configmaps",
    name: String(number),
    manager: "m1",
    body: null,
  })),
}));

/** Only the first fails, so every shrink attempt is in vain. */
async function runsUntilTold(limit: number): Promise<{ readonly runs: number; readonly failed: boolean }> {
  let runs = 0;
  const property = fc.asyncProperty(
    sequences,
    boundedShrinking(async () => {
      runs += 1;
      await Promise.resolve();
      if (runs === 1) throw new Error("differs");
    }, limit),
  );
  const { failed } = await fc.check(property, { seed: 1, numRuns: 10 });
  return { runs, failed };
}

it("limits the runs after a difference and still reports it", async () => {
  expect(await runsUntilTold(5)).toEqual({ runs: 6, failed: true });
  expect(await runsUntilTold(0)).toEqual({ runs: 1, failed: true });
});

it("does not limit runs without a difference", async () => {
  let runs = 0;
  const run = boundedShrinking(async () => {
    runs += 1;
    await Promise.resolve();
  }, 1);
  for (let index = 0; index < 5; index += 1) await run({ operations: [] });
  expect(runs).toBe(5);
});
