import { sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";
import { MUTANTS } from "../src/mutants.ts";
import { runScenario, type Outcome } from "../src/scenario.ts";

const SEEDS = sweepSize(2_000, 50_000);
/** Seeds in which the property finds each defect; most are found within ten. */
const MUTANT_SEEDS = 300;
/** Lines of the trace of a failed scenario. */
const SHOWN_LINES = 80;

function assertKept({ seed, losses, stuck, trace }: Outcome): void {
  if (losses.length === 0 && stuck === undefined) return;
  const what = losses.map(
    ({ object, acknowledged, found }) => `${object}: acknowledged ${acknowledged}, found ${found}`,
  );
  const problem = stuck === undefined ? `lost ${what.join("; ")}` : `does not come to rest: ${stuck}`;
  const lines = trace.slice(-SHOWN_LINES).join("\n");
  throw new Error(
    `seed ${seed} ${problem}\n${lines}\nAll of it: node tests/state-safety/src/programs/run-seed.ts ${seed}`,
  );
}

describe("no object that was acknowledged is missing afterwards", () => {
  test(`in ${SEEDS} scenarios of changes, restarts and faults`, async () => {
    const total = { objects: 0, restarts: 0, releases: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await runScenario(seed);
      assertKept(outcome);
      total.objects += outcome.objects;
      total.restarts += outcome.restarts;
      total.releases += outcome.releases;
    }
    // The scenarios do restart stores, and most acknowledged objects are owed at the end.
    expect(total.objects).toBeGreaterThan(2 * SEEDS);
    expect(total.restarts).toBeGreaterThan(SEEDS);
    expect(total.releases).toBeLessThan(SEEDS / 2);
  });

  test("and the same seed gives the same run", async () => {
    const [one, other] = [await runScenario(7), await runScenario(7)];
    expect(one.trace).toEqual(other.trace);
  });

  test.each(Object.entries(MUTANTS))("except when %s", async (_, mutant) => {
    for (let seed = 1; seed <= MUTANT_SEEDS; seed += 1) {
      const { losses } = await runScenario(seed, mutant);
      if (losses.length > 0) return;
    }
    expect.fail(`no loss is found in ${MUTANT_SEEDS} scenarios`);
  });
});
