import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { componentFile, describeWith, runCommand } from "@oaas/testkit";
import { expect, it } from "vitest";
import {
  randomKnativeCase,
  replayKnative,
  type KnativeCase,
  type RecordedKnativeCase,
} from "../src/autoscaling/testing/knative-cases.ts";

/** Inputs and what Knative's autoscaler decided on them, one case per line; unit tests replay them. */
const FILE = join(import.meta.dirname, "../testdata/recorded/knative-autoscaler.json");

/** `RECORD_KNATIVE=1` records the decisions instead of comparing them. */
const isRecording = process.env["RECORD_KNATIVE"] === "1";

const randomCases = (count: number, ticks: number): KnativeCase[] =>
  Array.from({ length: count }, (_, seed) => randomKnativeCase(seed + 1, ticks));

async function decideWithKnative(cases: readonly KnativeCase[]): Promise<RecordedKnativeCase[]> {
  const stdin = JSON.stringify({ cases });
  const { stdout, stderr, exitCode } = await runCommand(componentFile("kpa-scale"), [], { stdin });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  // Go prints negative zeros.
  const parsed: unknown = JSON.parse(stdout, (_, value: unknown) => (value === 0 ? 0 : value));
  const results = (parsed as { cases: RecordedKnativeCase[] }).cases;
  return cases.map((input, index) => ({ ...input, decisions: results[index]?.decisions ?? [] }));
}

describeWith(["kpa"], "Knative's own autoscaler", () => {
  it("decides what is recorded", async () => {
    const cases = await decideWithKnative(randomCases(12, 50));
    if (isRecording) writeFileSync(FILE, `[\n${cases.map((recorded) => JSON.stringify(recorded)).join(",\n")}\n]\n`);
    expect(cases).toEqual(JSON.parse(readFileSync(FILE, "utf8")));
  });

  it("decides the same as ours on random load", async () => {
    const cases = await decideWithKnative(randomCases(500, 400));
    expect(cases.reduce((sum, { decisions }) => sum + decisions.length, 0)).toBeGreaterThan(100_000);
    for (const recorded of cases) expect(replayKnative(recorded), recorded.name).toEqual(recorded.decisions);
  });
});
