import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { quorumAvailability } from "../../../apps/package-manager/src/planner/sizing/quorum.ts";
import { sizeReplicas } from "../../../apps/package-manager/src/planner/sizing/replicas.ts";
import {
  clustersOf,
  expectPlan,
  stateOf,
  STRONG_STATE,
} from "../../../apps/package-manager/src/planner/testing/plan-inputs.ts";
import { StateShape } from "@oaas/models";
import { ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

const PAGE = readFileSync(path.join(ROOT, "docs", "how-it-works", "planning.md"), "utf8");
/** The page without line breaks. */
const TEXT = PAGE.replaceAll(/\s+/g, " ");
const numbers = (cell: string): number[] => cell.split(",").map(Number);

describe("the numbers on the page about planning", () => {
  const examples = tableRows(PAGE, ["Target", "Consistency", "Clusters", "Replicas", "Planned"]);

  test("finds examples", () => expect(examples.length).toBeGreaterThan(5));

  test.each(examples)(
    "a target of %s, consistency %s, clusters %s: %s, %s",
    (target, consistency, clusters, n, reached) => {
      const demand = { subject: "class", target: Number(target), strong: consistency === "STRONG", atLeast: 1 };
      const { sizes } = sizeReplicas(
        numbers(clusters).toSorted((a, b) => a - b),
        {
          demands: [demand],
          maxReplicas: 50,
          algorithm: "quorum",
          canExclude: false,
        },
      );
      expect(sizes[0]?.replicas).toBe(Number.parseInt(n, 10));
      expect(sizes[0]?.availability).toBeCloseTo(Number(reached), 9);
    },
  );

  test.each(tableRows(PAGE, ["Replicas so far", "0 up", "1 up", "2 up", "3 up"]).slice(1))(
    "how many of %s are up",
    (replicas, ...cells) => {
      const documented = cells.filter((cell) => cell !== "").map(Number);
      expect(documented).toHaveLength(numbers(replicas).length + 1);
      for (const [up, share] of documented.entries()) expect(share).toBeCloseTo(exactly(numbers(replicas), up), 12);
      const majority = Math.floor(numbers(replicas).length / 2) + 1;
      const reached = documented.slice(majority).reduce((sum, share) => sum + share, 0);
      expect(reached).toBeCloseTo(quorumAvailability(numbers(replicas)), 12);
    },
  );

  test("even counts are weak", () => {
    const [majority = [], reached = []] = tableRows(PAGE, ["Replicas", "1", "2", "3", "4", "5"]).map(([, ...cells]) =>
      cells.map(Number),
    );
    expect(reached).toHaveLength(5);
    for (const [index, share] of reached.entries()) {
      const count = index + 1;
      expect(majority[index]).toBe(Math.floor(count / 2) + 1);
      expect(share).toBeCloseTo(quorumAvailability(Array.from({ length: count }, () => 0.9)), 12);
    }
  });
});

describe("numbers in the text", () => {
  test("more replicas are not always better", () => {
    const [one, two, three] = [1, 2, 3].map((count) => {
      const reached = quorumAvailability(Array.from({ length: count }, () => 0.99));
      return Number(reached.toFixed(12));
    });
    expect(TEXT).toContain(`two replicas at 0.99 reach ${two}, one alone ${one}, three ${three}.`);
  });

  test("a plan reports what its own placement reaches", () => {
    const plan = expectPlan({
      clusters: clustersOf([0.95, 0.99, 0.999]),
      definition: { stateSpec: STRONG_STATE },
      deployment: { nfr: { availability: 0.99999 } },
    });
    expect(plan.replicas).toBe(7);
    const documented = /are placed on the best clusters and reach ([\d.]+)\./.exec(TEXT)?.[1] ?? "";
    expect(documented).toHaveLength("0.".length + 9);
    // Truncated instead of rounded, so that the number is never too high.
    expect(plan.achievedAvailability.toFixed(15)).toMatch(new RegExp(`^${documented}`));
  });

  const partitions = (minThroughputRps: number | undefined, shape: StateShape) =>
    expectPlan({
      definition: { stateSpec: stateOf({ shape }) },
      deployment: { nfr: minThroughputRps === undefined ? {} : { minThroughputRps } },
    }).odgm?.partitionCount;

  test.each(["how-it-works/planning.md", "guides/state.md"])("partitions, on %s", (name) => {
    const page = readFileSync(path.join(ROOT, "docs", name), "utf8")
      .replaceAll(/(\d),(\d{3})/g, "$1$2")
      .replaceAll(/\s+/g, " ");
    const documented =
      /up to 1000(?: requests per second|:) 1, 5000: 4, 20000: 8, (?:above|beyond|more): 16; 4 when none is stated; (?:at least 4 for a collection|a collection at least 4)/;
    expect(page).toMatch(documented);
    const { data, singleton, collection } = StateShape;
    const counted = [1000, 1001, 5000, 5001, 20_000, 20_001, undefined].map((rps) => partitions(rps, data));
    expect(counted).toEqual([1, 4, 4, 8, 8, 16, 4]);
    expect([partitions(30_000, singleton), partitions(1, collection)]).toEqual([1, 4]);
  });
});

/** The probability that exactly `up` replicas are up, summed over all combinations, independent of the recurrence. */
function exactly(replicas: readonly number[], up: number): number {
  const [first, ...rest] = replicas;
  if (first === undefined) return up === 0 ? 1 : 0;
  return first * (up === 0 ? 0 : exactly(rest, up - 1)) + (1 - first) * exactly(rest, up);
}
