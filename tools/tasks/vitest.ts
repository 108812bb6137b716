import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inherit } from "./command.ts";

/** Test counts. A file that cannot be loaded counts as one failure. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface JsonReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** Runs the given projects and reads the counts from the report of vitest. */
export async function runVitest(
  projects: readonly string[],
  env: Readonly<Record<string, string>>,
  filters: readonly string[] = [],
): Promise<TestCounts> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-report-"));
  const report = path.join(folder, "report.json");
  try {
    const exitCode = await inherit(
      "vitest",
      [
        "run",
        ...projects.map((project) => `--project=${project}`),
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
        "--passWithNoTests",
        ...filters,
      ],
      { env },
    );
    // A killed run leaves no report.
    return existsSync(report)
      ? countTests(readFileSync(report, "utf8"), exitCode)
      : { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The counts of a report. A run that failed for another reason, such as an unhandled error, adds one failure. */
export function countTests(json: string, exitCode: number): TestCounts {
  const report = JSON.parse(json) as JsonReport;
  const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  const failed = report.numFailedTests + broken.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
