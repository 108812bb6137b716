import { expect, test } from "vitest";
import { quorumAvailability, quorumSteps } from "./quorum.ts";

test("computes the availability of a majority", () => {
  expect(quorumAvailability([0.9])).toBeCloseTo(0.9, 12);
  expect(quorumAvailability([0.9, 0.9, 0.9])).toBeCloseTo(0.972, 12);
  expect(quorumAvailability([0.9, 0.9])).toBeCloseTo(0.81, 12);
});

test("agrees with the plan of the package manager", () => {
  // POST /api/v1/plans answers 7 replicas for 0.9999 in clusters of 0.95 and 0.999, and that 5 would meet 0.999860621.
  const steps = quorumSteps([0.999, 0.95], 7, 0.9999);
  expect(steps.filter(({ meets }) => meets).map(({ replicas, majority }) => `${majority} of ${replicas}`)).toEqual([
    "4 of 7",
  ]);
  expect(steps[4]?.availability).toBeCloseTo(0.999860621, 8);
});
