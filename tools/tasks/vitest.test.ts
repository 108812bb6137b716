import { expect, test } from "vitest";
import { countTests } from "./vitest.ts";

const report = (over: object): string =>
  JSON.stringify({
    numPassedTests: 5,
    numFailedTests: 0,
    numPendingTests: 2,
    numTodoTests: 1,
    testResults: [],
    ...over,
  });

test.each([
  { name: "all well", json: report({}), exitCode: 0, counts: { passed: 5, failed: 0, skipped: 3 } },
  {
    name: "failed tests",
    json: report({ numFailedTests: 2 }),
    exitCode: 1,
    counts: { passed: 5, failed: 2, skipped: 3 },
  },
  {
    name: "a file that does not load is a failure",
    json: report({ testResults: [{ status: "failed", assertionResults: [] }] }),
    exitCode: 1,
    counts: { passed: 5, failed: 1, skipped: 3 },
  },
  { name: "an error outside any test", json: report({}), exitCode: 1, counts: { passed: 5, failed: 1, skipped: 3 } },
])("$name", ({ json, exitCode, counts }) => {
  expect(countTests(json, exitCode)).toEqual(counts);
});
