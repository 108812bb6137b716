import { describe, expect, test } from "vitest";
import { countTests, failedFiles, withLaterResults } from "./vitest.ts";

const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes("failed") || statuses.length === 0 ? "failed" : "passed",
  assertionResults: statuses.map((status) => ({ status })),
});

const WELL = { testResults: [file("a", "passed", "passed", "skipped"), file("b", "passed", "todo")] };
const PARTLY = { testResults: [file("a", "passed", "failed"), file("b", "passed"), file("c")] };

test.each([
  { name: "all well", report: WELL, exitCode: 0, counts: { passed: 3, failed: 0, skipped: 2 } },
  {
    name: "a failed test, and a file that does not load",
    report: PARTLY,
    exitCode: 1,
    counts: { passed: 2, failed: 2, skipped: 0 },
  },
  { name: "an error outside any test", report: WELL, exitCode: 1, counts: { passed: 3, failed: 1, skipped: 2 } },
])("$name", ({ report, exitCode, counts }) => {
  expect(countTests(report, exitCode)).toEqual(counts);
});

describe("a later run of failed files", () => {
  test("names the files that failed", () => {
    expect(failedFiles(PARTLY)).toEqual(["a", "c"]);
  });

  test("replaces the results of these files only", () => {
    const later = { testResults: [file("a", "passed", "passed"), file("c", "passed", "failed")] };
    const report = withLaterResults(PARTLY, later);
    expect(countTests(report, 1)).toEqual({ passed: 4, failed: 1, skipped: 0 });
    expect(failedFiles(report)).toEqual(["c"]);
  });
});
