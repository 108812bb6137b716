import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { componentFile, describeWith, runCommand } from "@oaas/testkit";
import { expect, it } from "vitest";
import { randomHpaCase, replayHpa, type HpaCase, type HpaResult } from "../src/autoscaling/testing/hpa-cases.ts";

/** What the controller computes for the first seeds; unit tests compare it. */
const FILE = join(import.meta.dirname, "../testdata/recorded/hpa-replicas.json");

/** `RECORD_HPA=1` records the results instead of comparing them. */
const isRecording = process.env["RECORD_HPA"] === "1";

const randomCases = (count: number): HpaCase[] => Array.from({ length: count }, (_, seed) => randomHpaCase(seed + 1));

async function calculateWithKubernetes(cases: readonly HpaCase[]): Promise<HpaResult[]> {
  const stdin = JSON.stringify({ cases });
  const { stdout, stderr, exitCode } = await runCommand(componentFile("hpa-replicas"), [], { stdin });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return (JSON.parse(stdout) as { cases: HpaResult[] }).cases;
}

describeWith(["hpa"], "the replica calculator of kube-controller-manager", () => {
  it("computes what is recorded", async () => {
    const results = await calculateWithKubernetes(randomCases(500));
    if (isRecording) writeFileSync(FILE, `[\n${results.map((result) => JSON.stringify(result)).join(",\n")}\n]\n`);
    expect(results).toEqual(JSON.parse(readFileSync(FILE, "utf8")));
  });

  it("computes the same as ours for random pods", async () => {
    const cases = randomCases(20_000);
    const results = await calculateWithKubernetes(cases);
    const differences = cases.flatMap((input, index) => {
      const ours = replayHpa(input);
      return JSON.stringify(ours) === JSON.stringify(results[index])
        ? []
        : [{ seed: index + 1, ours, real: results[index] }];
    });
    expect(differences.slice(0, 5)).toEqual([]);
    expect(new Set(results.map(({ replicas }) => replicas)).size).toBeGreaterThan(20);
  });
});
