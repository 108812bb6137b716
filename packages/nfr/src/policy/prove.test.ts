import { sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { DEFAULT_GRID, LAWS, prove, proveInSteps, type ProofGrid } from "./prove.ts";
import { outcomeText } from "./record.ts";
import { DEFAULT_POLICY } from "./settings.ts";

const SMALL: ProofGrid = { tickMs: 60_000, loads: [1, 6], minReplicas: 1, maxReplicas: 6 };

describe("the default policy", () => {
  test("obeys every law on all states of a grid", { timeout: sweepSize(60_000, 1_800_000) }, () => {
    const proof = prove(DEFAULT_POLICY, sweepSize(0, 1) === 1 ? DEFAULT_GRID : SMALL);
    expect(proof.counterexample).toBeUndefined();
    expect(proof.holds).toBe(true);
    expect(proof.states).toBeGreaterThan(50_000);
  });

  test("reports progress that only grows", () => {
    const tiny: ProofGrid = { tickMs: 150_000, loads: [1, 3], minReplicas: 1, maxReplicas: 3 };
    const shares: number[] = [];
    const steps = proveInSteps(DEFAULT_POLICY, tiny);
    for (let step = steps.next(); !step.done; step = steps.next()) shares.push(step.value.share);
    expect(shares.length).toBeGreaterThan(10);
    expect(shares.toSorted((a, b) => a - b)).toEqual(shares);
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  });
});

test("a policy that breaks a law has a counterexample whose decision can be repeated", () => {
  const settings = { ...DEFAULT_POLICY, downTolerance: -0.5, upTolerance: -0.5 };
  const { holds, counterexample } = prove(settings, SMALL);
  expect(holds).toBe(false);
  if (!counterexample) throw new Error("no counterexample");
  expect(LAWS).toContain(counterexample.law);
  expect(counterexample.trace.at(-1)?.decision).toBe(outcomeText(decide(counterexample.input, settings)));
});
