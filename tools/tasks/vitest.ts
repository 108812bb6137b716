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

/** The report of one run of vitest. */
export interface JsonReport {
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  /** The path of the file. */
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** More failed files than this are no chance failures, and are not run again. */
const MOST_RUN_AGAIN = 8;

/** Runs the given projects and reads the counts from the report of vitest. */
export async function runVitest(
  projects: readonly string[],
  env: Readonly<Record<string, string>>,
  filters: readonly string[] = [],
): Promise<TestCounts> {
  const { report, exitCode } = await runOnce(projects, env, filters);
  return report === undefined ? KILLED : countTests(report, exitCode);
}

/**
 * Like `runVitest`, and runs files that failed again, alone: on two cores a suite that waits for real components can
 * fail because of its neighbours. Files that pass then are printed as flaky.
 */
export async function runVitestTolerantly(
  projects: readonly string[],
  env: Readonly<Record<string, string>>,
  filters: readonly string[],
): Promise<TestCounts> {
  const first = await runOnce(projects, env, filters);
  if (first.report === undefined) return KILLED;
  const failed = failedFiles(first.report);
  if (failed.length === 0 || failed.length > MOST_RUN_AGAIN) return countTests(first.report, first.exitCode);
  console.log(`\n── Failed files, again and alone ──\n${failed.join("\n")}`);
  const second = await runOnce(projects, env, [...failed, "--no-file-parallelism"]);
  if (second.report === undefined) return countTests(first.report, first.exitCode);
  const flaky = failed.filter((file) => !failedFiles(second.report ?? { testResults: [] }).includes(file));
  if (flaky.length > 0)
    console.log(`Flaky, failed once and passed alone (fix with priority):\n  ${flaky.join("\n  ")}`);
  return countTests(withLaterResults(first.report, second.report), second.exitCode);
}

/** A killed run leaves no report. */
const KILLED: TestCounts = { passed: 0, failed: 1, skipped: 0 };

async function runOnce(
  projects: readonly string[],
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<{ readonly report: JsonReport | undefined; readonly exitCode: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-report-"));
  const file = path.join(folder, "report.json");
  try {
    const exitCode = await inherit(
      "vitest",
      [
        "run",
        ...projects.map((project) => `--project=${project}`),
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${file}`,
        "--passWithNoTests",
        ...args,
      ],
      { env },
    );
    const report = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as JsonReport) : undefined;
    return { report, exitCode };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The counts of a report. A run that failed for another reason, such as an unhandled error, adds one failure. */
export function countTests(report: JsonReport, exitCode: number): TestCounts {
  const statuses = report.testResults.flatMap((file) => file.assertionResults.map(({ status }) => status));
  const passed = statuses.filter((status) => status === "passed").length;
  const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  const failed = statuses.filter((status) => status === "failed").length + broken.length;
  return {
    passed,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: statuses.filter((status) => status !== "passed" && status !== "failed").length,
  };
}

/** The files with a failed test, and those that cannot be loaded. */
export function failedFiles({ testResults }: JsonReport): string[] {
  return testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
}

/** The results of a run, replaced by those of a later run of some of its files. */
export function withLaterResults(first: JsonReport, later: JsonReport): JsonReport {
  const again = new Set(later.testResults.map(({ name }) => name));
  return { testResults: [...first.testResults.filter(({ name }) => !again.has(name)), ...later.testResults] };
}
