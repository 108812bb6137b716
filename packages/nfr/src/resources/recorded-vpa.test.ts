import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compareWithVpa, type RecordedVpaCase } from "./testing/compare-vpa.ts";

const FILE = join(import.meta.dirname, "../../testdata/recorded/vpa-recommendations.json");
const CASES = JSON.parse(readFileSync(FILE, "utf8")) as RecordedVpaCase[];

describe("recorded recommendations of VPA 1.8.1", () => {
  it.each(CASES)("equal ours: $name", (recorded) => {
    const { compared, differences } = compareWithVpa(recorded);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(10);
  });
});
