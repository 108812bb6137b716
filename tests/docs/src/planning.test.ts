import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { quorumAvailability } from "../../../apps/package-manager/src/planner/quorum.ts";
import { sizeReplicas } from "../../../apps/package-manager/src/planner/replicas.ts";
import { ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

const PAGE = readFileSync(path.join(ROOT, "docs", "how-it-works", "planning.md"), "utf8");
const numbers = (cell: string): number[] => cell.split(",").map(Number);

describe("the numbers on the page about planning", () => {
  const examples = tableRows(PAGE, ["Target", "Consistency", "Clusters", "Replicas", "Reached"]);

  test("there are examples", () => expect(examples.length).toBeGreaterThan(5));

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
          mayLeaveOut: false,
        },
      );
      expect(sizes[0]?.replicas).toBe(Number.parseInt(n, 10));
      expect(sizes[0]?.availability).toBeCloseTo(Number(reached), 9);
    },
  );

  test.each(tableRows(PAGE, ["Replicas so far", "0 up", "1 up", "2 up", "3 up"]).slice(1))(
    "how many of %s are up",
    (replicas, ...cells) => {
      const told = cells.filter((cell) => cell !== "").map(Number);
      expect(told).toHaveLength(numbers(replicas).length + 1);
      for (const [up, share] of told.entries()) expect(share).toBeCloseTo(exactly(numbers(replicas), up), 12);
      const majority = Math.floor(numbers(replicas).length / 2) + 1;
      const reached = told.slice(majority).reduce((sum, share) => sum + share, 0);
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

/** The probability that exactly so many are up, over all combinations: nothing in common with the recurrence. */
function exactly(replicas: readonly number[], up: number): number {
  const [first, ...rest] = replicas;
  if (first === undefined) return up === 0 ? 1 : 0;
  return first * (up === 0 ? 0 : exactly(rest, up - 1)) + (1 - first) * exactly(rest, up);
}
