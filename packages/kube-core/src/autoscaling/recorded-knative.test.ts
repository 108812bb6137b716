import { describe, expect, it } from "vitest";
import { replayKnative } from "./testing/knative-cases.ts";
import { readRecordedKnativeCases } from "./testing/recorded-knative.ts";

describe("recorded decisions of Knative 0.50", () => {
  it.each(readRecordedKnativeCases())("equal ours: $name", (recorded) => {
    expect(replayKnative(recorded)).toEqual(recorded.decisions);
  });
});
