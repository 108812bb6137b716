import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedVpaCase } from "./compare-vpa.ts";

const FILE = join(import.meta.dirname, "../../../testdata/recorded/vpa-recommendations.json");

/** Inputs and what VPA recommended for them, one case per line. */
export function readRecordedVpaCases(): RecordedVpaCase[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as RecordedVpaCase[];
}

export function writeRecordedVpaCases(cases: readonly RecordedVpaCase[]): void {
  writeFileSync(FILE, `[\n${cases.map((recorded) => JSON.stringify(recorded)).join(",\n")}\n]\n`);
}
