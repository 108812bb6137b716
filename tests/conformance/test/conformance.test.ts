import { describeWith, sweepSize } from "@oaas/testkit";
import { expect, it } from "vitest";
import { runConformance } from "../src/conformance.ts";

const IS_FULL = sweepSize(0, 1) === 1;
/** A new seed with each sweep; what it finds is told with it. */
const SEED = IS_FULL ? Math.floor(Math.random() * 2 ** 31) : 20_261_115;

describeWith(["kubernetes", "etcd", "kwok"], "the embedded API server", () => {
  it("does as the real one does, but for what docs/apiserver-differences.md lists", async () => {
    const report = await runConformance({
      // kubectl and the controllers take the real ones minutes: on both in a sweep and in npm run conformance, else by what is recorded.
      isReal: ({ subject, needs }) => IS_FULL || (needs === "api" && subject !== "kubectl"),
      sequences: sweepSize(64, 2_400),
      seed: SEED,
    });
    expect(report.problems).toEqual([]);
    expect(report.subjects.filter(({ cases, real }) => cases !== real)).toEqual([]);
  }, 1_800_000);
});
