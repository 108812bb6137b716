import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { replayKnative, type RecordedKnativeCase } from "./testing/knative-cases.ts";

const FILE = join(import.meta.dirname, "../../testdata/recorded/knative-autoscaler.json");
const CASES = JSON.parse(readFileSync(FILE, "utf8")) as RecordedKnativeCase[];

describe("recorded decisions of Knative 0.50", () => {
  it.each(CASES)("equal ours: $name", (recorded) => {
    expect(replayKnative(recorded)).toEqual(recorded.decisions);
  });
});
