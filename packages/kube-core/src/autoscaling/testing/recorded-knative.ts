import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedKnativeCase } from "./knative-cases.ts";

const FILE = join(import.meta.dirname, "../../../testdata/recorded/knative-autoscaler.json");

/** Inputs and what Knative's autoscaler decided on them, one case per line. */
export function readRecordedKnativeCases(): RecordedKnativeCase[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as RecordedKnativeCase[];
}

export function writeRecordedKnativeCases(cases: readonly RecordedKnativeCase[]): void {
  writeFileSync(FILE, `[\n${cases.map((recorded) => JSON.stringify(recorded)).join(",\n")}\n]\n`);
}
