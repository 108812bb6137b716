import { describeWith, sweepSize } from "@oaas/testkit";
import { expect, it } from "vitest";
import { runConformance } from "../src/conformance.ts";

const IS_FULL = sweepSize(0, 1) === 1;
/** A new seed for each sweep; a failure prints it. */
const SEED = IS_FULL ? Math.floor(Math.random() * 2 ** 31) : 20_261_115;

describeWith(["kubernetes", "etcd", "kwok"], "the embedded API server", () => {
  it("matches the real one except for the differences in docs/apiserver-differences.md", async () => {
    const report = await runConformance({
      // kubectl and the controllers take minutes on the real server: they run there in a sweep and in npm run
      // conformance, otherwise against the recording.
      isReal: ({ subject, needs }) => IS_FULL || (needs === "api" && subject !== "kubectl"),
      sequences: sweepSize(64, 2_400),
      seed: SEED,
    });
    expect(report.problems).toEqual([]);
    expect(report.subjects.filter(({ cases, real }) => cases !== real)).toEqual([]);
  }, 1_800_000);
});
