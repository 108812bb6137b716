import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { outcomeText, readDecisionRecord, recompute, recordDecision, type DecisionRecord } from "./record.ts";
import { DEFAULT_POLICY } from "./settings.ts";
import { createInput } from "./testing/run-policy.ts";

function createRecord(current = 2): DecisionRecord {
  const input = createInput({ nowMs: 0, current, target: 9, urgency: { burnRate5m: 20, burnRate1h: 15 } });
  return recordDecision(input, DEFAULT_POLICY, decide(input, DEFAULT_POLICY), "sha256:samples");
}

const throughJson = (record: DecisionRecord): DecisionRecord => {
  const read = readDecisionRecord(JSON.parse(JSON.stringify(record)));
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
};

describe("a decision record", () => {
  test("is recomputed to the same decision after it was stored", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), (current) => {
        expect(recompute(throughJson(createRecord(current)))).toMatchObject({ isEqual: true, problems: [] });
      }),
    );
  });

  test("states the outcome", () => {
    expect(outcomeText(createRecord().outcome)).toBe("apply 2 to 6 (emergency lane)");
    expect(outcomeText(createRecord(9).outcome)).toBe("hold (within-tolerance)");
  });

  test("is not equal when any member was changed", () => {
    const record = createRecord();
    const forged = { ...record, input: { ...record.input, current: 3 } };
    const result = recompute(forged);
    expect(result.isEqual).toBe(false);
    expect(result.problems).toEqual([
      expect.stringMatching(
        /^the record was changed: its digest is sha256:[0-9a-f]{64}, recorded sha256:[0-9a-f]{64}$/u,
      ),
      "the policy decides apply 3 to 7 (emergency lane), recorded apply 2 to 6 (emergency lane)",
    ]);
    expect(recompute({ ...record, samplesDigest: "sha256:others" }).isEqual).toBe(false);
  });

  test("of another policy version is not recomputed", () => {
    const record = createRecord();
    const result = recompute({ ...record, settings: { ...record.settings, version: "0" } });
    expect(result.isEqual).toBe(false);
    expect(result.recomputed).toBeUndefined();
    expect(result.problems.at(-1)).toBe(
      "the record is of policy version 0, this program has 3; use the program that recorded it",
    );
  });

  test.each([
    { document: null, path: "$" },
    { document: "x", path: "$" },
    { document: [], path: "$.settings" },
    { document: { ...createRecord(), input: { nowMs: "1" } }, path: "$.input.nowMs" },
  ])("is rejected when it is $document", ({ document, path }) => {
    const read = readDecisionRecord(document);
    expect(read.ok ? [] : read.error.map((one) => one.path)).toContain(path);
  });
});
