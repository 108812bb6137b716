import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { componentFile, describeWith, runCommand } from "@oaas/testkit";
import { describe, expect, it } from "vitest";
import { compareWithVpa, type RecordedVpaCase } from "../src/resources/testing/compare-vpa.ts";
import { namedVpaCases, randomVpaCase, type VpaCase } from "../src/resources/testing/vpa-cases.ts";

/** Inputs and what VPA recommended for them, one case per line; unit tests replay them. */
const FILE = join(import.meta.dirname, "../testdata/recorded/vpa-recommendations.json");

/** `RECORD_VPA=1` records the recommendations instead of comparing them. */
const isRecording = process.env["RECORD_VPA"] === "1";

/** Go and JavaScript may round differently where the processor has other instructions; here the numbers are equal. */
const TOLERANCE = 1e-6;

const randomCases = (count: number, maxSamplesPerRound: number): VpaCase[] =>
  Array.from({ length: count }, (_, seed) => randomVpaCase(seed + 1, maxSamplesPerRound));

async function recommendWithVpa(cases: readonly VpaCase[]): Promise<RecordedVpaCase[]> {
  const stdin = JSON.stringify({ cases });
  const { stdout, stderr, exitCode } = await runCommand(componentFile("vpa-recommend"), [], { stdin });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  const results = (JSON.parse(stdout) as { cases: RecordedVpaCase[] }).cases;
  return cases.map((input, index) => ({ ...input, recommendations: results[index]?.recommendations ?? [] }));
}

describeWith(["vpa"], "VPA's own recommender", () => {
  it("recommends what is recorded", async () => {
    const cases = await recommendWithVpa([...namedVpaCases(), ...randomCases(24, 8)]);
    if (isRecording) writeFileSync(FILE, `[\n${cases.map((recorded) => JSON.stringify(recorded)).join(",\n")}\n]\n`);
    expect(cases).toEqual(JSON.parse(readFileSync(FILE, "utf8")));
  });

  describe.each([
    { title: "short histories", cases: () => randomCases(2000, 20), numbers: 150_000 },
    { title: "long histories", cases: () => randomCases(100, 1000), numbers: 10_000 },
  ])("$title", ({ cases, numbers }) => {
    it("recommends the same as our model, bucket by bucket", async () => {
      const results = (await recommendWithVpa(cases())).map(compareWithVpa);
      const differences = results.flatMap((result) => result.differences);
      expect(differences.filter(({ relative }) => !(relative <= TOLERANCE))).toEqual([]);
      expect(results.reduce((sum, { compared }) => sum + compared, 0)).toBeGreaterThan(numbers);
    });
  });
});
