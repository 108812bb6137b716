import { describe, expect, it } from "vitest";
import { compareWithVpa } from "./testing/compare-vpa.ts";
import { readRecordedVpaCases } from "./testing/recorded-vpa.ts";

describe("recorded recommendations of VPA 1.8.1", () => {
  it.each(readRecordedVpaCases())("equal ours: $name", (recorded) => {
    const { compared, differences } = compareWithVpa(recorded);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(10);
  });
});
