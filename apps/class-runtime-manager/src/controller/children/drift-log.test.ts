import { describe, expect, test } from "vitest";
import { driftText, MAX_DRIFT_RECORDS, type Correction } from "../../lifecycle/status/drift-record.ts";
import { DriftLog } from "./drift-log.ts";

const correction = (atMs: number, more: Partial<Correction> = {}): Correction => ({
  kind: "Deployment",
  name: "greet",
  fields: [{ path: ".spec.replicas", was: "1", now: "3" }],
  moreFields: 0,
  edit: { manager: "kubectl-edit", atMs: atMs - 1_500 },
  correctedAtMs: atMs,
  ...more,
});

describe("DriftLog", () => {
  test("adds a correction to the stored records, with who, what and how long", () => {
    const log = new DriftLog();
    log.add("uid", [correction(10_000)]);
    const records = log.merged("uid", undefined, 10_000);
    expect(records).toMatchObject([{ changed_by: "kubectl-edit", duration_ms: 1_500, count: 1 }]);
    expect(driftText(records![0]!)).toBe(
      "Deployment greet: .spec.replicas was 1, is 3 again. Changed by kubectl-edit. Corrected after 1.5 s.",
    );
    log.written("uid", records);
    expect(log.merged("uid", records, 99_000), "nothing is pending").toBe(records);
  });

  test("counts every repetition and changes the records once a minute at most", () => {
    const log = new DriftLog();
    log.add("uid", [correction(0)]);
    const first = log.merged("uid", undefined, 0);
    log.written("uid", first);
    for (let second = 1; second < 60; second += 1) {
      log.add("uid", [correction(second * 1_000)]);
      expect(log.merged("uid", first, second * 1_000)).toBe(first);
    }
    log.add("uid", [correction(60_000)]);
    const second = log.merged("uid", first, 60_000);
    expect(second).toMatchObject([{ count: 61, first_at: "1970-01-01T00:00:00.000Z" }]);
    expect(driftText(second![0]!)).toContain("Corrected 61 times since 1970-01-01");
  });

  test("keeps another correction apart, newest first, and at most five", () => {
    const log = new DriftLog();
    for (let index = 0; index < 20; index += 1) log.add("uid", [correction(index, { name: `child-${index}` })]);
    const names = log.merged("uid", undefined, 20)?.map(({ name }) => name);
    expect(names).toEqual(["child-19", "child-18", "child-17", "child-16", "child-15"]);
    expect(names).toHaveLength(MAX_DRIFT_RECORDS);
  });

  test("returns the stored records themselves when nothing happened", () => {
    const stored = [] as const;
    expect(new DriftLog().merged("uid", stored, 0)).toBe(stored);
  });
});
